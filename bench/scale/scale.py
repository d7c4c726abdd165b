#!/usr/bin/env python3
"""From a CSV file to results at s1 … b8: wall time, time per iteration, peak memory, and whether they grow linearly."""
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

ITERATIONS = 20
# Sets of one shape, answers per worker growing mildly: s4 is left out, as its tables are far larger per answer (K = 10,
# 50 answers per worker) and cost a cache miss each.
LADDER = ["s2", "s3", "b8"]
STEEPEST = 1.10  # largest slope of log cost against log answers that passes for linear


def slope(points):
    """Least-squares slope of log y against log x."""
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in points))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def accuracy(labels, gold):
    """Share of right labels, by task name; both files in any order."""
    truth = {}
    with open(gold, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            task, label = line.rstrip("\n").split(",")[:2]
            truth[task] = label
    right = 0
    with open(labels, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            task, label = line.split(",", 2)[:2]
            right += truth[task] == label
    return right / len(truth)


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--sets", default="s1,s2,s3,s4,b8", help="which sets, by comma")
    parser.add_argument("--repeat", type=int, default=3, help="runs per set, of which the quickest counts (b8: one)")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    names = arguments.sets.split(",")
    for name in names:
        if name not in harness.SIZES:
            harness.stop(f"there is no set {name}: choose from {', '.join(harness.SIZES)}")

    figures, rows = {"iterations": ITERATIONS, "sets": {}}, []
    for name in names:
        size = harness.SIZES[name]
        data = harness.dataset(name, arguments)
        with tempfile.TemporaryDirectory(dir=arguments.cache) as folder:
            out = Path(folder) / "out"
            harness.progress(f"aggregating {name}")
            measured, record = harness.best_of(
                1 if name == "b8" else arguments.repeat,
                lambda: harness.aggregate(arguments, data / "answers.csv", out,
                                          {"max_iterations": ITERATIONS, "tolerance": 0}))
            if name != "b8":  # ten million lines in Python dictionaries would tell nothing new
                share = accuracy(out / "labels.csv", data / "gold.csv")
                if share < 0.5:
                    harness.stop(f"{name}: accuracy {share:.3f} on simulated truth; not timing wrong answers")
            else:
                share = None
        timings = record["timings"]
        csv_bytes = (data / "answers.csv").stat().st_size
        figures["sets"][name] = {
            **vars(size), "answers": size.answers, "csv_bytes": csv_bytes, "seconds": measured.seconds,
            "peak_bytes": measured.peak_bytes, "iterations": record["iterations"], "timings": timings, "accuracy": share,
            "status": record["status"],
        }
        rows.append([name, f"{size.answers:,}", harness.bytes_text(csv_bytes), harness.seconds_text(measured.seconds),
                     harness.seconds_text(timings["per_iteration"]),
                     f"{size.answers / timings['per_iteration'] / 1e6:.0f} M/s", harness.bytes_text(measured.peak_bytes),
                     "–" if share is None else f"{share:.4f}"])
    text = harness.table(
        ["set", "answers", "CSV", f"CSV to results, {ITERATIONS} iterations", "one iteration", "answers/s", "peak memory",
         "accuracy"], rows)

    verdict = True
    present = [name for name in LADDER if name in figures["sets"]]
    if len(present) >= 2:
        for what in ("seconds", "peak_bytes"):
            points = [(figures["sets"][name]["answers"], figures["sets"][name][what]) for name in present]
            figures[f"slope_{what}"] = slope(points)
            good = figures[f"slope_{what}"] <= STEEPEST
            verdict = verdict and good
            text += (f"\n\n{what}, {present[0]} to {present[-1]}: grows as answers^{figures[f'slope_{what}']:.2f}"
                     f" ({'linear or less' if good else 'NOT linear'})")
    harness.deliver(arguments, figures, text)
    return 0 if verdict else 1


if __name__ == "__main__":
    sys.exit(main())
