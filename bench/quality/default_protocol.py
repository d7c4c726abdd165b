#!/usr/bin/env python3
"""How good the plain command is, and whether its pool of families is worth it: paired with `pool=false` on the same crowds.

DATA holds folders with labels.csv and gold.csv, one or several levels deep. Gold is used to score only. Four parts:
  real     every set as it is; the sets in the order of their names are split into two halves that are reported apart
  thinned  half of the answers, drawn at random, of every set; with --repeats draws
  planted  workers who always say one class, added until they give 30, 60 and 90 % of the answers
  drawn    simulated crowds whose truth is known, with --repeats seeds
ECE minus null: the expected calibration error less what a perfectly calibrated predictor with the same probabilities
shows on as many tasks. Intervals are 95 % by a bootstrap over sets of the paired difference.
"""
import csv
import json
import math
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

BINS = 15
DRAWN = {
    "spammers": ["hammer_spammer", "--tasks", 1000, "--workers", 50, "--classes", 2, "--answers-per-task", 5],
    "one coin": ["one_coin_beta", "--tasks", 1000, "--workers", 50, "--classes", 3, "--answers-per-task", 5],
    "tables": ["dawid_skene", "--tasks", 1000, "--workers", 50, "--classes", 3, "--answers-per-task", 5],
    "diagonal tables": ["dawid_skene", "--tasks", 1000, "--workers", 50, "--classes", 4, "--answers-per-task", 5,
                        "--set", "tables=diagonal_dominant", "--set", "gamma=0.5"],
    "wild tables": ["dawid_skene", "--tasks", 1000, "--workers", 50, "--classes", 4, "--answers-per-task", 7],
    "naive majority": ["naive_majority"],
    "groups": ["hidden_groups", "--tasks", 1000, "--workers", 40],
    "copies": ["copies", "--tasks", 500, "--workers", 50, "--answers-per-task", 20],
    "colluders": ["colluders", "--tasks", 1000, "--workers", 60, "--answers-per-task", 12],
}


def ece(confidence, right):
    bins = [[0.0, 0.0] for _ in range(BINS)]
    for c, r in zip(confidence, right):
        at = min(max(math.ceil(c * BINS) - 1, 0), BINS - 1)
        bins[at][0] += c
        bins[at][1] += r
    return sum(abs(c - r) for c, r in bins) / max(len(confidence), 1)


def score(arguments, answers, gold, pool):
    """Accuracy, log-loss, ECE and its null of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        harness.run([arguments.program, "aggregate", answers, "--gold", gold, "--gold-for", "evaluation", "--threads", arguments.threads,
                     "--out", out, "--quiet", "--set", f"pool={'true' if pool else 'false'}"])
        evaluation = json.loads((out / "run.json").read_text())["evaluation"]
        with open(gold, newline="") as file:
            known = {row["task"] for row in csv.DictReader(file)}
        with open(out / "labels.csv", newline="") as file:
            confidence = [float(row["probability"]) for row in csv.DictReader(file) if row["task"] in known]
    rng = random.Random(0)
    null = sum(ece(confidence, [rng.random() < c for c in confidence]) for _ in range(20)) / 20
    value = {name: evaluation[name]["value"] for name in ("accuracy", "log_loss", "ece")}
    return value["accuracy"], value["log_loss"], value["ece"], null


def interval(differences):
    rng = random.Random(1)
    n = len(differences)
    means = sorted(sum(rng.choice(differences) for _ in range(n)) / n for _ in range(2000))
    return means[50], means[1949]


def compared(arguments, crowds):
    """Rows of a table from (name, answers, gold), and what belongs to each name."""
    found = {}
    for name, answers, gold in crowds:
        harness.progress(name)
        found.setdefault(name, []).append((score(arguments, answers, gold, False), score(arguments, answers, gold, True)))
    return {name: [[sum(run[side][i] for run in runs) / len(runs) for i in range(4)] for side in (0, 1)] for name, runs in found.items()}


def shown(name, one, pool):
    return [name, f"{one[0]:.4f}", f"{pool[0]:.4f}", f"{one[1]:.3f}", f"{pool[1]:.3f}", f"{one[2] - one[3]:.3f}", f"{pool[2] - pool[3]:.3f}", f"{pool[3]:.3f}"]


def table(title, results, groups):
    rows = [shown(name, *sides) for name, sides in results.items()]
    lines = [f"## {title}", ""]
    for group, names in groups.items():
        sides = [[sum(results[n][side][i] for n in names) / len(names) for i in range(4)] for side in (0, 1)]
        rows.append(shown(f"*mean, {group}*", *sides))
        for what, i in (("accuracy", 0), ("log-loss", 1)):
            differences = [results[n][1][i] - results[n][0][i] for n in names]
            low, high = interval(differences)
            lines.append(f"- {group}: {what} of the pool less that of one model {sum(differences) / len(names):+.4f} [{low:+.4f}, {high:+.4f}]")
    head = ["crowd", "accuracy, one model", "pool", "log-loss, one model", "pool", "ECE − null, one model", "pool", "null"]
    return "\n".join([*lines, "", harness.table(head, rows), ""])


def halves(names):
    names = sorted(names)
    return {"all": names, "odd half": names[0::2], "even half": names[1::2]}


def rewritten(folder, name, rows):
    path = Path(folder) / f"{name}.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "worker", "label"])
        writer.writerows(rows)
    return path


def rows_of(folder):
    with open(folder / "labels.csv", newline="") as file:
        return [(row["task"], row["worker"], row["label"]) for row in csv.DictReader(file)]


def thinned(sets, repeats, scratch):
    for repeat in range(repeats):
        for folder in sets:
            rng = random.Random(repeat)
            kept = [row for row in rows_of(folder) if rng.random() < 0.5]
            yield folder.name, rewritten(scratch, f"{folder.name}_{repeat}", kept), folder / "gold.csv"


def planted(sets, scratch):
    for folder in sets:
        rows = rows_of(folder)
        tasks, classes = sorted({row[0] for row in rows}), sorted({row[2] for row in rows})
        for percent in (0, 30, 60, 90):
            rng = random.Random(percent)
            wanted, extra, worker = len(rows) * percent / (100 - percent), [], 0
            while len(extra) < wanted:
                said = rng.choice(classes)
                extra += [(task, f"constant{worker}", said) for task in rng.sample(tasks, min(len(tasks), 200))]
                worker += 1
            yield f"{folder.name} + {percent} %", rewritten(scratch, f"{folder.name}_{percent}", rows + extra), folder / "gold.csv"


def drawn(arguments, scratch):
    for name, command in DRAWN.items():
        for seed in range(arguments.repeats):
            folder = Path(scratch) / f"{name}_{seed}".replace(" ", "_")
            harness.run([arguments.program, "simulate", *command, "--seed", seed, "--out", folder, "--quiet"])
            yield name, folder / "answers.csv", folder / "gold.csv"


def main():
    parser = harness.parser(__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--parts", default="real,thinned,planted,drawn")
    parser.add_argument("--repeats", type=int, default=3, help="draws of thinned sets, seeds of drawn crowds")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    sets = sorted((path.parent for path in arguments.data.rglob("labels.csv") if (path.parent / "gold.csv").is_file()), key=lambda p: p.name)
    parts, text = arguments.parts.split(","), []
    with tempfile.TemporaryDirectory() as scratch:
        if "real" in parts:
            results = compared(arguments, [(folder.name, folder / "labels.csv", folder / "gold.csv") for folder in sets])
            text.append(table("Real crowds", results, halves(results)))
        if "thinned" in parts:
            results = compared(arguments, thinned(sets, arguments.repeats, scratch))
            text.append(table("Half of the answers", results, halves(results)))
        if "planted" in parts:
            chosen = [folder for folder in sets if folder.name in ("rte", "dog", "sentiment_polarity")]
            text.append(table("Constant workers added", compared(arguments, planted(chosen, scratch)), {}))
        if "drawn" in parts:
            text.append(table("Drawn crowds", compared(arguments, drawn(arguments, scratch)), {}))
    print("\n".join(text))
    if arguments.markdown:
        arguments.markdown.write_text("\n".join(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
