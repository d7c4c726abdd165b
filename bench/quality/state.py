#!/usr/bin/env python3
"""How far a state is from the batch fit when nobody refits it: the answers of real crowds in random order, absorbed
in twenty batches, from nothing or on top of a fit to the first half; then the refit."""
import csv
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

SETS = "dog,faces,possent,product,rte,sentiment_polarity,trec,weather,zencrowd_all"
BATCHES = 20
UPDATES = ("incremental", "stochastic")


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["task", "worker", "label"], *rows])
    return path


def accuracy(program, state, gold, folder):
    harness.run([program, "state", "export", state, "--out", folder / "out", "--quiet"])
    scored = harness.run([program, "evaluate", folder / "out/labels.csv", gold, "--json"])
    return json.loads(scored.output)["accuracy"]["value"]


def live(program, rows, first, update, gold, folder):
    """Accuracy before and after the refit, and how stale the state says it is before."""
    state = folder / "state"
    state.unlink(missing_ok=True)
    start = [write(folder / "part.csv", rows[:first])] if first else []
    harness.run([program, "state", "init", state, *start, "--set", f"update={update}", "--quiet"])
    step = -(-(len(rows) - first) // BATCHES)
    for i in range(first, len(rows), step):
        part = write(folder / "part.csv", rows[i:i + step])
        harness.run([program, "state", "add", state, part, "--refit", "never", "--quiet"])
    before = accuracy(program, state, gold, folder)
    stale = json.loads(harness.run([program, "state", "show", state, "--json"]).output)["staleness"]
    harness.run([program, "state", "refit", state, "--quiet"])
    return {"absorbed": before, "refitted": accuracy(program, state, gold, folder), "mean_shift": stale["mean_shift"]}


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder per set: labels.csv, gold.csv")
    parser.add_argument("--sets", default=SETS, help="which sets, by comma")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    figures, table = {}, []
    for name in arguments.sets.split(","):
        gold = arguments.data / name / "gold.csv"
        with open(arguments.data / name / "labels.csv", newline="", encoding="utf-8") as file:
            rows = [[row["task"], row["worker"], row["label"]] for row in csv.DictReader(file)]
        random.Random(1).shuffle(rows)
        cells = [name]
        with tempfile.TemporaryDirectory() as folder:
            for first in (0, len(rows) // 2):
                for update in UPDATES:
                    found = live(arguments.program, rows, first, update, gold, Path(folder))
                    figures.setdefault(name, {})[f"{update} from {first}"] = found
                    cells += [f"{found['absorbed']:.4f}", f"{found['mean_shift']:.3f}"]
        table.append([*cells, f"{found['refitted']:.4f}"])
        harness.progress(" ".join(table[-1]))
    headers = ["set"]
    for first in ("nothing", "half"):
        for update in UPDATES:
            headers += [f"{update}, from {first}", "shift"]
    harness.deliver(arguments, figures, harness.table([*headers, "refit"], table))


if __name__ == "__main__":
    main()
