#!/usr/bin/env python3
"""crowd-kit's BradleyTerry and NoisyBradleyTerry beside ours on a table of comparisons: the same answer, then time.

    PYTHON_WITH_CROWD_KIT bench/compare/comparisons.py ANSWERS.csv [--program build/release/wisecrowd] [--runs 15]

ANSWERS has the columns worker, left, right and label (the winner's name). Ties, which crowd-kit does not know, go to the left and to the
right item in turn. Times are user CPU time of one thread; runs of both are interleaved, and medians are shown, so that other work on the
machine disturbs both alike. The time of an iteration is the difference of a long and a short run, divided by the iterations between; a
tolerance of 0 makes both go through all of them (crowd-kit's BradleyTerry compares an array with itself and ends after two iterations else).

End to end is what a user waits for: crowd-kit from the table in memory to scores after 100 iterations, wisecrowd from the file to
converged scores, intervals, ranks and labels of pairs (Newton's method, the default).
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from crowdkit.aggregation import BradleyTerry, NoisyBradleyTerry


def user_seconds(work, who):
    before = resource.getrusage(who).ru_utime
    work()
    return resource.getrusage(who).ru_utime - before


def ours(program, path, method, *settings, out=None):
    words = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([program, "aggregate", path, "--answers", "comparisons", "--method", method, *words, "--threads", "1", "--quiet",
                    *(["--out", out] if out else [])], check=True, capture_output=True)


def largest_difference(frame, program, path, folder, steps):
    """Of log strengths after so many steps from the same start, each counted from the mean of its component."""
    theirs = np.log(BradleyTerry(n_iter=steps, tol=0).fit(frame).scores_)
    ours(program, path, "bradley_terry", "algorithm=minorisation", f"max_iterations={steps}", "tolerance=0", out=str(folder / "out"))
    own = pd.read_csv(folder / "out/ranking.csv").set_index("item").score
    component = {item: item for item in theirs.index}

    def root(item):
        while component[item] != item:
            component[item] = component[component[item]]
            item = component[item]
        return item

    for left, right in zip(frame.left, frame.right):
        component[root(left)] = root(right)
    roots = pd.Series({item: root(item) for item in theirs.index})
    centred = [scores - scores.groupby(roots).transform("mean") for scores in (theirs, own.reindex(theirs.index))]
    return float((centred[0] - centred[1]).abs().max())


def medians(runs, *pairs):
    """The median of each (work, whose time); all are run in turn."""
    times = [[user_seconds(work, who) for work, who in pairs] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*times)]


def per_iteration(runs, theirs, own, few, many, own_many):
    """Seconds of an iteration, crowd-kit's and ours, and the factor between them: median, least and most of all rounds."""
    rounds = []
    for _ in range(runs):
        short, long = (user_seconds(lambda n=n: theirs(n), resource.RUSAGE_SELF) for n in (few, many))
        own_short, own_long = (user_seconds(lambda n=n: own(n), resource.RUSAGE_CHILDREN) for n in (1, own_many))
        rounds.append(((long - short) / (many - few), (own_long - own_short) / (own_many - 1)))
    factors = sorted(a / b for a, b in rounds)
    return *(statistics.median(column) for column in zip(*rounds)), statistics.median(factors), factors[0], factors[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--program", default=str(Path(__file__).resolve().parents[2] / "build/release/wisecrowd"))
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    frame = pd.read_csv(arguments.answers)
    tie = (frame.label != frame.left) & (frame.label != frame.right)
    frame["label"] = frame.label.where(~tie, frame.left.where(tie.cumsum() % 2 == 0, frame.right))
    print(f"{len(frame)} comparisons of {pd.concat([frame.left, frame.right]).nunique()} items by {frame.worker.nunique()} workers")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "answers.csv")
        frame.to_csv(path, index=False)
        difference = largest_difference(frame, arguments.program, path, Path(folder), 100)
        print(f"BradleyTerry, 100 steps: log strengths differ by {difference:.1e} at most")
        if not difference < 1e-5:  # files have six digits
            print("these are not the same steps")
            return 1
        program = arguments.program
        table = (
            ("BradleyTerry", lambda n: BradleyTerry(n_iter=n, tol=0).fit(frame),
             lambda n: ours(program, path, "bradley_terry", "algorithm=minorisation", f"max_iterations={n}", "tolerance=0"), 5, 105, 20001),
            ("NoisyBradleyTerry", lambda n: NoisyBradleyTerry(n_iter=n, random_state=0).fit(frame),
             lambda n: ours(program, path, "noisy_bradley_terry", f"max_iterations={n}", "tolerance=0"), 1, 2, 41),
        )
        for name, theirs, own, few, many, own_many in table:
            theirs_each, own_each, factor, least, most = per_iteration(arguments.runs, theirs, own, few, many, own_many)
            print(f"{name}: {theirs_each * 1e3:.3f} ms per iteration, ours {own_each * 1e3:.4f} ms: {factor:.0f} times "
                  f"({least:.0f} to {most:.0f} in {arguments.runs} rounds)")
        whole = medians(arguments.runs, (lambda: BradleyTerry(n_iter=100, tol=0).fit(frame), resource.RUSAGE_SELF),
                        (lambda: ours(program, path, "bradley_terry"), resource.RUSAGE_CHILDREN))
        print(f"end to end: BradleyTerry, 100 iterations, {whole[0] * 1e3:.0f} ms; bradley_terry, converged, {whole[1] * 1e3:.0f} ms: "
              f"{whole[0] / whole[1]:.1f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
