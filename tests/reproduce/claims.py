"""What the reproductions share: running the program, crowds on Gaussian features, intervals, and claims that can fail."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, stdev

SKIPPED = 77  # ctest takes this exit code for a test that was skipped
# 99.5 % points of Student's t by degrees of freedom, for two-sided intervals of 99 %.
STUDENT = [63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861]


def data_folder(*parts):
    """A folder of the collection of data sets; without it the experiment is skipped."""
    beside = Path(__file__).resolve().parents[2] / "../shared/data"
    folder = Path(os.environ.get("WISECROWD_DATA", beside)).joinpath(*parts)
    if not folder.is_dir():
        print(f"there is no {folder}: set WISECROWD_DATA to the folder of the data sets")
        sys.exit(SKIPPED)
    return folder


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed with {done.returncode}: {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def settings(pairs):
    return [word for pair in pairs for word in ("--set", pair)]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def simulate(program, kind, out, *words):
    run(program, "simulate", kind, *words, "--out", out, "--quiet")
    return out


def join_test_answers(crowd):
    """Answers to the test tasks beside the others: nobody learns from them, but they are there for the forecast."""
    with open(crowd / "answers.csv", "a", encoding="utf-8") as file:
        file.writelines((crowd / "answers_test.csv").read_text().splitlines(keepends=True)[1:])
    return crowd


def learn(program, out, method, answers, features, tasks, gold, *words):
    """Runs a learner. Accuracy on the test rows in percent, by the classifier alone (d) and with the answers to them (dc), where there are
    any; and the run's record."""
    run(program, "learn", answers, "--features", features, *(["--tasks", tasks] if tasks else []), "--gold", gold, "--method", method,
        "--threads", 1, "--quiet", "--out", out, *words)
    record = json.loads((out / "run.json").read_text())
    found = {"d": 100 * record["evaluation"]["test_rows"]["chosen_epoch"]["accuracy"]["value"], "record": record}
    truth = {row["task"]: row["label"] for row in rows_of(gold)}
    if tasks:
        test = {row["task"] for row in rows_of(tasks) if row["split"] == "test"}
        right = [row["label"] == truth[row["task"]] for row in rows_of(out / "labels.csv") if row["task"] in test]
        if right:
            found["dc"] = 100 * sum(right) / len(right)
    return found


def interval(values):
    """Mean and half the width of its 99 % interval."""
    if len(values) < 2:
        return values[0], math.inf
    return mean(values), STUDENT[min(len(values) - 2, len(STUDENT) - 1)] * stdev(values) / math.sqrt(len(values))


def differences(some, others):
    return [a - b for a, b in zip(some, others, strict=True)]


def shown(values, digits=1):
    return f"{mean(values):.{digits}f} ± {stdev(values):.{digits}f}" if len(values) > 1 else f"{values[0]:.{digits}f}"


def table(headers, rows):
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in [headers, ["---"] * len(headers), *rows])


class Claims:
    """Prints each claim with what was found, and remembers those that do not hold."""

    def __init__(self):
        self.missed = []

    def check(self, claim, found, holds):
        print(f"{'holds ' if holds else 'MISSED'} {claim}: {found}", flush=True)
        if not holds:
            self.missed.append(claim)

    def least(self, claim, value, bound, digits=3):
        self.check(claim, f"{value:.{digits}f}, at least {bound:g}", value >= bound)

    def most(self, claim, value, bound, digits=3):
        self.check(claim, f"{value:.{digits}f}, at most {bound:g}", value <= bound)

    def code(self):
        print(f"missed: {'; '.join(self.missed)}" if self.missed else "all claims hold", flush=True)
        return 1 if self.missed else 0


def run_parts(usage, parts):
    """The main of a script: PROGRAM and, if not all are wanted, names of `parts`; each gets the program, a folder and the claims."""
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(parts):
        sys.exit(usage)
    claims = Claims()
    for name in sys.argv[2:] or parts:
        print(f"\n## {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            parts[name](sys.argv[1], Path(folder), claims)
    return claims.code()
