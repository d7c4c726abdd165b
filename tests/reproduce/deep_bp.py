#!/usr/bin/env python3
"""deepBP (Kim, Cho, Kim, Ok, AISTATS 2022) on real answers: ages of faces, "older than 16?" (figures 4, 5 and 6b, answers alone).

    deep_bp.py PROGRAM

The images are not public, so there are no networks here: the vote (MV), mean field (MF, ibcc with one coin) and belief propagation (BP).
800 faces of children and older, each worker with at most 4 answers drawn by chance, 50 draws. Prints the tables of docs/REPRODUCTIONS.md and
fails when a claim there does not hold. Intervals are of 99 %, over the same draws.
"""
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from claims import Claims, data_folder, differences, interval, rows_of, run, settings, table

DRAWS = 50
FACES = 800
PRIORS = {"Beta(1, .5)": (1, 0.5), "Beta(2, 1.3)": (2, 1.3)}


def faces():
    """Of the 800 oldest faces: whether they are older than 16, and who said so."""
    folder = data_folder("regression", "age")
    ages = {row["task"]: float(row["label"]) for row in rows_of(folder / "gold.csv")}
    kept = sorted(ages, key=lambda task: (-ages[task], task))[:FACES]
    truth = {task: int(ages[task] > 16) for task in kept}
    answers = [(row["task"], row["worker"], int(float(row["label"]) > 16)) for row in rows_of(folder / "labels.csv") if row["task"] in truth]
    return truth, answers


def accuracy(program, folder, answers, truth, method, given):
    """Share of right labels, of the tasks that have answers."""
    path = folder / "answers.csv"
    path.write_text("task,worker,label\n" + "".join(f"{task},{worker},{label}\n" for task, worker, label in answers))
    (folder / "gold.csv").write_text("task,label\n" + "".join(f"{task},{label}\n" for task, label in truth.items()))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        out = Path(scratch) / "out"
        run(program, "aggregate", path, "--method", method, "--classes", "0,1", "--threads", 1, "--quiet", "--out", out, *settings(given))
        labels = rows_of(out / "labels.csv")
    return sum(int(row["label"]) == truth[row["task"]] for row in labels) / len(labels)


def contest(program, folder, answers, truth, right, wrong):
    return {"MV": accuracy(program, folder, answers, truth, "majority_vote", []),
            "MF": accuracy(program, folder, answers, truth, "ibcc", ["coins=one_coin", f"diagonal_prior={right}", f"off_diagonal_prior={wrong}",
                                                                     "class_prior=uniform"]),
            "BP": accuracy(program, folder, answers, truth, "bp", [f"right={right}", f"wrong={wrong}"])}


def drawn_by_worker(answers, chance, most):
    """At most so many answers of each worker."""
    by_worker = defaultdict(list)
    for answer in answers:
        by_worker[answer[1]].append(answer)
    return [answer for worker in sorted(by_worker) for answer in chance.sample(by_worker[worker], min(most, len(by_worker[worker])))]


def drawn_by_task(answers, chance, per_task, budget):
    """So many answers to each of budget / per_task tasks."""
    by_task = defaultdict(list)
    for answer in answers:
        by_task[answer[0]].append(answer)
    tasks = chance.sample(sorted(task for task in by_task if len(by_task[task]) >= per_task), budget // per_task)
    return [answer for task in tasks for answer in chance.sample(by_task[task], per_task)]


def row_of(name, runs):
    found = {method: interval([one[method] for one in runs]) for method in ("MV", "MF", "BP")}
    pairs = {pair: interval(differences([one[pair[0]] for one in runs], [one[pair[1]] for one in runs]))
             for pair in (("BP", "MF"), ("BP", "MV"))}
    return pairs, [name, *[f"{found[method][0]:.3f}" for method in found], *[f"{gap:+.3f} ± {half:.3f}" for gap, half in pairs.values()]]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program, claims = sys.argv[1], Claims()
    truth, answers = faces()
    of_worker = defaultdict(list)
    for task, worker, label in answers:
        of_worker[worker].append(label == truth[task])
    rates = [sum(right) / len(right) for right in of_worker.values()]
    steps = [0, .5, .6, .7, .8, .9, 1.01]
    print("Workers by how often they are right (figure 4):", ", ".join(
        f"{low:.1f} to {min(high, 1):.1f}: {sum(low <= rate < high for rate in rates)}" for low, high in zip(steps, steps[1:])),
        f"; mean {sum(rates) / len(rates):.3f}, {len(rates)} workers, {len(answers)} answers")
    claims.least("figure 4: the mean worker is better than chance", sum(rates) / len(rates), 0.7)
    headers = ["setting", "MV", "MF", "BP", "BP − MF", "BP − MV"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rows = []
        for name, prior in PRIORS.items():
            chance = random.Random(1)
            pairs, row = row_of(f"5: at most 4 answers per worker, {name}",
                                [contest(program, folder, drawn_by_worker(answers, chance, 4), truth, *prior) for _ in range(DRAWS)])
            rows.append(row)
            claims.least(f"figure 5, {name}: BP above MF, the worse end", pairs["BP", "MF"][0] - pairs["BP", "MF"][1], 0)
            claims.most(f"figure 5, {name}: BP is not above the vote here", pairs["BP", "MV"][0] - pairs["BP", "MV"][1], 0)
            claims.least(f"figure 5, {name}: BP at most a point below the vote", pairs["BP", "MV"][0], -0.01)
        by_count = {}
        for per_task in (2, 4, 8):
            chance = random.Random(2)
            runs = [contest(program, folder, drawn_by_task(answers, chance, per_task, 1000), truth, 2, 1.3) for _ in range(DRAWS)]
            pairs, row = row_of(f"6b: 1000 answers, {per_task} per task, Beta(2, 1.3)", runs)
            rows.append(row)
            by_count[per_task] = [one["BP"] for one in runs]
            claims.least(f"figure 6b, {per_task} answers per task: BP level with MF", pairs["BP", "MF"][0], -0.003)
            claims.least(f"figure 6b, {per_task} answers per task: BP at most two points below the vote", pairs["BP", "MV"][0], -0.02)
        claims.least("figure 6b: labels get better with answers per task, as there are fewer tasks",
                     interval(by_count[8])[0] - interval(by_count[2])[0], 0)
        print(table(headers, rows))
    return claims.code()


if __name__ == "__main__":
    sys.exit(main())
