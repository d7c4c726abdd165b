#!/usr/bin/env python3
"""crowd-kit's BradleyTerry and NoisyBradleyTerry beside ours, per iteration, on a table of comparisons.

    PYTHON_WITH_CROWD_KIT bench/compare/comparisons.py ANSWERS.csv [--program build/release/wisecrowd]

ANSWERS has the columns worker, left, right and label (the winner's name). Ties, which crowd-kit does not know, go to the left and to the
right item in turn. Both take the same small steps; Newton's method, our default, needs a handful where these need hundreds. The time of
crowd-kit's iteration is the difference of a long and a short run, divided by the iterations between.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from crowdkit.aggregation import BradleyTerry, NoisyBradleyTerry


def seconds_of(make, frame, few, many):
    def timed(iterations):
        model = make(iterations)
        started = time.perf_counter()
        model.fit(frame)
        return time.perf_counter() - started

    short = min(timed(few) for _ in range(2))
    return max(min(timed(many) for _ in range(2)) - short, 1e-9) / (many - few)


def ours(program, path, method, settings):
    best = None
    words = [word for setting in settings for word in ("--set", setting)]
    for _ in range(3):
        done = subprocess.run([program, "aggregate", path, "--answers", "comparisons", "--method", method, *words, "--json", "--quiet"], check=True,
                              capture_output=True, text=True)
        record = json.loads(done.stdout)
        seconds = record["timings"]["per_iteration"]
        best = seconds if best is None else min(best, seconds)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--program", default=str(Path(__file__).resolve().parents[2] / "build/release/wisecrowd"))
    arguments = parser.parse_args()
    frame = pd.read_csv(arguments.answers)
    tie = (frame.label != frame.left) & (frame.label != frame.right)
    frame["label"] = frame.label.where(~tie, frame.left.where(tie.cumsum() % 2 == 0, frame.right))
    print(f"{len(frame)} comparisons of {pd.concat([frame.left, frame.right]).nunique()} items by {frame.worker.nunique()} workers")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        frame.to_csv(path, index=False)
        for name, method, settings, make, few, many in (
            ("BradleyTerry", "bradley_terry", ["algorithm=minorisation", "max_iterations=500", "tolerance=0"],
             lambda n: BradleyTerry(n_iter=n, tol=0), 5, 205),
            ("NoisyBradleyTerry", "noisy_bradley_terry", [], lambda n: NoisyBradleyTerry(n_iter=n, random_state=0), 1, 4),
        ):
            theirs, own = seconds_of(make, frame, few, many), ours(arguments.program, str(path), method, settings)
            print(f"{name}: crowd-kit {theirs * 1e3:.3f} ms per iteration, {method} {own * 1e3:.3f} ms: {theirs / own:.0f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
