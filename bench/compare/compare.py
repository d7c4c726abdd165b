#!/usr/bin/env python3
"""wisecrowd beside its peers on the same data in the same run: crowd-kit, models on scipy.sparse, and pandas for reading.

Every comparison first checks that both sides give the same answer; only then do its times count. Both sides get the same
number of runs and the quickest run counts, with the mean over its iterations.
"""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from checks import SAME_LABELS, SAME_OBJECTIVE, agreement, comparison, ours_best, require  # noqa: E402


def enter_environment(arguments):
    """Runs this script again inside an environment that has the peers, made on first use."""
    requirements = Path(__file__).with_name("requirements.txt")
    folder = (arguments.cache / "venv").absolute()
    done = folder / "installed.txt"
    if Path(sys.prefix) == folder:
        return
    python = folder / "bin/python3"
    if not done.is_file() or done.read_text() != requirements.read_text():
        harness.progress(f"installing the peers into {folder}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run([sys.executable, "-m", "venv", "--clear", folder]).returncode != 0:
            harness.stop("no virtual environment could be made: apt-get install python3-venv (or scripts/install dev)")
        if subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements]).returncode != 0:
            harness.stop("the peers could not be installed; is PyPI within reach?")
        done.write_text(requirements.read_text())
    os.execv(python, [str(python), *sys.argv])


def compare_dawid_skene(name, arguments, folder):
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    few, many = 1, 6
    data = harness.dataset(name, arguments)
    frame = pd.read_csv(data / "answers.csv")
    harness.progress(f"crowd-kit on {name}")

    def timed(iterations):
        started = time.perf_counter()
        # The tolerance keeps it from stopping early.
        model = DawidSkene(n_iter=iterations, tol=-1e300).fit(frame)
        return time.perf_counter() - started, model

    timed(few)  # warm up
    short = min(timed(few)[0] for _ in range(arguments.repeat))
    long, model = min((timed(many) for _ in range(arguments.repeat)), key=lambda pair: pair[0])
    per_iteration = (long - short) / (many - few)

    # crowd-kit has no pseudo-counts but keeps probabilities off 0 by 1e-10.
    out = folder / f"crowd_kit_{name}"
    settings = {"max_iterations": many, "tolerance": 0, "pseudo_count": 1e-10}
    measured, record = ours_best(arguments, data, out, settings)
    same = agreement(out / "labels.csv", model.labels_.index, model.labels_.to_numpy())
    require(same >= SAME_LABELS, name, f"only {same:.5f} of the labels agree with crowd-kit's")
    return comparison(f"Dawid–Skene, one iteration, {name}", "crowd-kit", per_iteration,
                      record["timings"]["per_iteration"], same_labels=same, end_to_end_peer=long,
                      end_to_end=measured.seconds)


def compare_sparse(name, arguments, folder, indexed):
    import numpy as np
    import sparse_em

    iterations, pseudo_count = 10, 0.01
    tasks, workers, labels, task_names, class_names = indexed
    data, out = harness.dataset(name, arguments), folder / f"sparse_{name}"
    settings = {"max_iterations": iterations, "tolerance": 0, "pseudo_count": pseudo_count}
    measured, record = ours_best(arguments, data, out, settings)
    for peer, title in ((sparse_em.straightforward, "scipy.sparse EM"), (sparse_em.tuned, "scipy.sparse EM, tuned")):
        harness.progress(f"{title} on {name}")
        fit = min((peer(tasks, workers, labels, len(class_names), iterations, pseudo_count)
                   for _ in range(arguments.repeat)), key=lambda one: sum(one.iteration_seconds))
        same = agreement(out / "labels.csv", task_names, class_names[np.argmax(fit.posterior, axis=1)])
        require(same >= SAME_LABELS, name, f"only {same:.5f} of the labels agree with those of {title}")
        gap = abs(record["log_likelihood"] - fit.log_likelihood) / abs(fit.log_likelihood)
        require(gap <= SAME_OBJECTIVE, name, f"log-likelihood {record['log_likelihood']} against {fit.log_likelihood}")
        yield comparison(f"Dawid–Skene, one iteration, {name}", title, sum(fit.iteration_seconds) / iterations,
                         record["timings"]["per_iteration"], same_labels=same, log_likelihood_gap=gap)


def compare_ibcc(name, arguments, folder, indexed):
    import numpy as np
    import sparse_ibcc

    iterations = 10
    tasks, workers, labels, task_names, class_names = indexed
    data, out = harness.dataset(name, arguments), folder / f"ibcc_{name}"
    _, record = ours_best(arguments, data, out, {"max_iterations": iterations, "tolerance": 0}, "ibcc")
    harness.progress(f"IBCC on scipy.sparse, {name}")
    fit = min((sparse_ibcc.straightforward(tasks, workers, labels, len(class_names), iterations)
               for _ in range(arguments.repeat)), key=lambda one: sum(one.iteration_seconds))
    same = agreement(out / "labels.csv", task_names, class_names[np.argmax(fit.posterior, axis=1)])
    require(same >= SAME_LABELS, name, f"only {same:.5f} of the labels agree with those of IBCC on scipy.sparse")
    gap = abs(record["trace"][-1] - fit.bound) / abs(fit.bound)
    require(gap <= SAME_OBJECTIVE, name, f"evidence lower bound {record['trace'][-1]} against {fit.bound}")
    return comparison(f"IBCC, one iteration, {name}", "IBCC on scipy.sparse", sum(fit.iteration_seconds) / iterations,
                      record["timings"]["per_iteration"], same_labels=same, bound_gap=gap)


def read_with_pandas(path):
    import pandas as pd

    started = time.perf_counter()
    frame = pd.read_csv(path)
    tasks, task_names = frame["task"].factorize()
    workers, worker_names = frame["worker"].factorize()
    labels, class_names = frame["label"].factorize(sort=True)
    seconds = time.perf_counter() - started
    return seconds, (tasks, workers, labels, task_names, class_names.to_numpy()), worker_names


def compare_reading(name, arguments, folder, pandas_seconds, indexed, worker_names):
    import numpy as np
    import pandas as pd

    data, out = harness.dataset(name, arguments), folder / f"read_{name}"
    _, record = ours_best(arguments, data, out, {"max_iterations": 1})
    theirs = pd.Series(np.bincount(indexed[1]), index=worker_names)
    ours = pd.read_csv(out / "workers.csv", usecols=["worker", "answers"]).set_index("worker")["answers"]
    require(bool((ours.reindex(theirs.index) == theirs).all()) and len(ours) == len(theirs), name,
            "answers per worker differ from what pandas read")
    return comparison(f"CSV to indexed answers, {name}", "pandas read_csv + factorize", pandas_seconds,
                      record["timings"]["read"])


def main():
    parser = harness.parser(__doc__.splitlines()[0])
    parser.add_argument("--crowd-kit", default="s2", help="sets for crowd-kit's Dawid–Skene, by comma; none: leave it out")
    parser.add_argument("--mace", default="s2", help="sets for crowd-kit's MACE")
    parser.add_argument("--kos", default="s2", help="sets for crowd-kit's KOS, as one question of two sides")
    parser.add_argument("--glad", default="s1", help="sets for crowd-kit's GLAD; s2 takes it several minutes per iteration")
    parser.add_argument("--relevance", default="majority,dawid_skene", help="bases of crowd-kit's BinaryRelevance, on simulated sets of classes")
    parser.add_argument("--sparse", default="s2,s3,s4", help="sets for the scipy.sparse EM, by comma")
    parser.add_argument("--ibcc", default="s3,s4", help="sets for IBCC on scipy.sparse, by comma")
    parser.add_argument("--pandas", default="s3", help="sets for reading, by comma")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each side, of which the quickest counts")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    enter_environment(arguments)

    import crowd_kit_methods
    import sets as set_methods

    def sets(text):
        return [name for name in text.split(",") if name and name != "none"]

    found = []
    arguments.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.cache) as folder:
        folder = Path(folder)
        for name in sets(arguments.crowd_kit):
            found.append(compare_dawid_skene(name, arguments, folder))
        for method in ("mace", "kos", "glad"):
            for name in sets(getattr(arguments, method)):
                found.append(getattr(crowd_kit_methods, f"compare_{method}")(name, arguments, folder))
        for base in sets(arguments.relevance):
            found.append(set_methods.compare_binary_relevance(base, arguments, folder))
        for name in sorted({*sets(arguments.sparse), *sets(arguments.ibcc), *sets(arguments.pandas)}):
            path = harness.dataset(name, arguments) / "answers.csv"
            harness.progress(f"pandas on {name}")
            seconds, indexed, worker_names = min((read_with_pandas(path) for _ in range(arguments.repeat)),
                                                 key=lambda r: r[0])
            if name in sets(arguments.pandas):
                found.append(compare_reading(name, arguments, folder, seconds, indexed, worker_names))
            if name in sets(arguments.sparse):
                found.extend(compare_sparse(name, arguments, folder, indexed))
            if name in sets(arguments.ibcc):
                found.append(compare_ibcc(name, arguments, folder, indexed))
    rows = [[c["what"], c["peer"], harness.seconds_text(c["peer_seconds"]), harness.seconds_text(c["seconds"]),
             f"{c['ratio']:.0f}×" if c["ratio"] >= 10 else f"{c['ratio']:.1f}×"] for c in found]
    harness.deliver(arguments, {"threads": arguments.threads, "comparisons": found},
                    harness.table(["what", "peer", "peer's time", "wisecrowd's time", "ratio"], rows))


if __name__ == "__main__":
    main()
