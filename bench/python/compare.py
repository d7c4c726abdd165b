#!/usr/bin/env python3
"""crowd-kit and wisecrowd in one process: DawidSkene().fit_predict(df), pandas strings in, Series out.

    PYTHONPATH=build/release/python PYTHON bench/python/compare.py [s2 s3]

PYTHON has crowd-kit (pip install -r bench/compare/requirements.txt) and numpy of the major version that wisecrowd was built for.
Answers are checked before anything is timed: the same number of iterations without smoothing must give the same labels. Of
crowd-kit, an iteration is the difference of a long and a short run, without what it does before and after; of wisecrowd, it is
everything, conversion and Series included, divided by the iterations of the default fit.
"""
import gc
import resource
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

SAME_LABELS = 0.9999


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(action):
    """Wall seconds, CPU seconds and the result."""
    gc.collect()
    wall, used = time.perf_counter(), cpu()
    result = action()
    return time.perf_counter() - wall, cpu() - used, result


def best(times, action):
    return min((timed(action) for _ in range(times)), key=lambda one: one[0])


def one_size(name, arguments):
    import crowdkit.aggregation as crowd_kit
    import pandas as pd

    import wisecrowd
    from wisecrowd._columns import read

    frame = pd.read_csv(harness.dataset(name, arguments) / "answers.csv", dtype=str)
    never = -1e300
    few, many = 1, 1 + arguments.iterations
    harness.progress(f"{name}: crowd-kit, {few} and {many} iterations")
    short_wall, short_cpu, _ = timed(lambda: crowd_kit.DawidSkene(few, never).fit_predict(frame))
    long_wall, long_cpu, theirs = timed(lambda: crowd_kit.DawidSkene(many, never).fit_predict(frame))

    harness.progress(f"{name}: wisecrowd")
    ours = wisecrowd.DawidSkene(many, 0, pseudo_count=0, threads=arguments.threads).fit_predict(frame)
    same = float((theirs.sort_index() == ours).mean())
    if same < SAME_LABELS or len(theirs) != len(ours):
        harness.stop(f"{name}: only {same:.5f} of the labels are those of crowd-kit; nothing was timed")

    def whole():
        """By a new estimator, which has nothing to forget."""
        model = wisecrowd.DawidSkene(threads=arguments.threads)
        return model, model.fit_predict(frame)

    wall, used, (model, _) = best(arguments.repeat, whole)
    conversion_wall, conversion_cpu, _ = best(arguments.repeat, lambda: read(frame, threads=arguments.threads))
    iterations = model.n_iter_
    figures = {
        "set": name, "same_labels": same, "iterations": iterations,
        "crowd_kit": {"iteration": (long_wall - short_wall) / (many - few), "iteration_cpu": (long_cpu - short_cpu) / (many - few),
                      "total": long_wall, "total_iterations": many},
        "wisecrowd": {"total": wall, "total_cpu": used, "conversion": conversion_wall, "conversion_cpu": conversion_cpu,
                      "per_iteration": wall / iterations, "per_iteration_cpu": used / iterations},
    }
    figures["ratio"] = figures["crowd_kit"]["iteration"] / figures["wisecrowd"]["per_iteration"]
    figures["ratio_cpu"] = figures["crowd_kit"]["iteration_cpu"] / figures["wisecrowd"]["per_iteration_cpu"]
    figures["conversion_share"] = conversion_wall / wall
    return figures


def main():
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("sizes", nargs="*", default=["s2", "s3"], choices=[*harness.SIZES], help="data sets")
    parser.add_argument("--iterations", type=int, default=3, help="of crowd-kit, between its short and its long run")
    parser.add_argument("--repeat", type=int, default=5, help="runs of wisecrowd, of which the shortest counts")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)
    results = [one_size(name, arguments) for name in arguments.sizes]
    text = harness.table(
        ["set", "crowd-kit, an iteration", "wisecrowd, everything", "iterations", "everything / iterations", "ratio", "ratio of CPU time",
         "conversion", "its share"],
        [[f["set"], harness.seconds_text(f["crowd_kit"]["iteration"]), harness.seconds_text(f["wisecrowd"]["total"]), f["iterations"],
          harness.seconds_text(f["wisecrowd"]["per_iteration"]), f"{f['ratio']:.0f}", f"{f['ratio_cpu']:.0f}",
          harness.seconds_text(f["wisecrowd"]["conversion"]), f"{f['conversion_share']:.0%}"] for f in results])
    harness.deliver(arguments, {"results": results}, text)


if __name__ == "__main__":
    main()
