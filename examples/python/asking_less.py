#!/usr/bin/env python3
"""Asking less: answers are bought a few at a time, each from whom it tells most, and the buying ends when enough is known.

The crowd is a simulated one, so that the example runs anywhere and the truth is known; in a project, `ask` sends questions to people.
"""
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import wisecrowd

TASKS, FIRST, ROUND, WANTED = 300, 1, 30, 0.97
crowd = wisecrowd.simulate("hammer_spammer", tasks=TASKS, workers=25, classes=3, answers_per_task=2, seed=2)
truth = crowd.gold


def ask(pairs, chance):
    """What people say: each worker answers by its own table, a column of crowd.errors per true label."""
    said = [chance.choice(crowd.priors.index, p=crowd.errors.loc[worker][truth[task]]) for task, worker in zip(pairs.task, pairs.worker)]
    return pd.DataFrame({"task": pairs.task, "worker": pairs.worker, "label": said})


def buy(policy, path):
    """Buys answers by a policy until WANTED of the labels are right, which only a simulation can know; accuracy by answers bought."""
    chance = np.random.default_rng(7)
    everybody = pd.MultiIndex.from_product([truth.index, crowd.workers.index], names=["task", "worker"]).to_frame(index=False)
    first = everybody.groupby("task").sample(FIRST, random_state=7)  # nothing is known yet: whoever comes
    curve = []
    with wisecrowd.CrowdState.create(path, ask(first, chance)) as state:
        while True:
            result = state.result()
            accuracy = (result.labels_ == truth[result.labels_.index]).mean()
            curve.append((state.summary().answers, accuracy))
            if accuracy >= WANTED or curve[-1][0] >= 12 * TASKS:
                return pd.Series(dict(curve), name=policy), state.workers
            state.add(ask(wisecrowd.select(state, ROUND, workers=list(crowd.workers.index), policy=policy), chance))


with tempfile.TemporaryDirectory() as name:
    by_chance, _ = buy("random", Path(name) / "chance.state")
    by_gain, workers = buy("expected_information", Path(name) / "gain.state")

print(f"{TASKS} tasks, {len(crowd.workers)} workers of whom {(crowd.workers.kind == 'spammer').sum()} only guess; answers per task to begin with: {FIRST}\n")
print("answers   at random   most telling first")
for answers in sorted({*by_chance.index[::4], by_gain.index[-1], by_chance.index[-1]}):
    cells = [f"{curve[answers]:.1%}" if answers in curve.index else "" for curve in (by_chance, by_gain)]
    print(f"{answers:7d}{cells[0]:>12}{cells[1]:>21}")
needed = by_gain.index[-1] / by_chance.index[-1]
print(f"\n{WANTED:.0%} right labels took {by_chance.index[-1]} answers at random, and {by_gain.index[-1]} where they tell most: {1 - needed:.0%} saved")

asked = workers.join(crowd.workers.kind).groupby("kind").answers.mean().round(1)
print(f"answers per worker, most telling first: {asked.to_dict()}")

# The same question to answers that were recorded: what would have been saved?
recorded = wisecrowd.simulate("hammer_spammer", tasks=150, workers=25, classes=3, answers_per_task=8, seed=3)
print("\nA replay of recorded answers:", wisecrowd.replay(recorded.answers, recorded.gold, seeds=3, answers_per_round=100).words)

assert by_gain.index[-1] < by_chance.index[-1]
