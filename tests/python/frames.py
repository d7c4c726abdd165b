"""Crowds that the tests share."""
import os
from pathlib import Path

import numpy as np
import pandas as pd


def shuffled_answers(seed=1, tasks=40, workers=8, classes=("a", "b", "c"), per_task=5, accuracy=0.75):
    """Answers in no order, and the truth."""
    rng = np.random.default_rng(seed)
    truth = {f"t{i:02d}": classes[rng.integers(len(classes))] for i in range(tasks)}
    rows = []
    for task, true in truth.items():
        for worker in rng.permutation(workers)[:per_task]:
            said = true if rng.random() < accuracy else classes[rng.integers(len(classes))]
            rows.append((task, f"w{worker}", said))
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"]).sample(frac=1, random_state=seed).reset_index(drop=True)
    return frame, pd.Series(truth, name="true_label").rename_axis("task")


def needs_of(cls, frame):
    """What a method asks for besides answers, as arguments of fit: the order of classes, and every task joined to the next."""
    more = {"ordered": True} if cls._info["uses_order"] else {}
    if cls._info["uses_task_graph"]:
        tasks = sorted(set(frame["task"])) if len(frame) else []
        more["graph"] = list(zip(tasks, tasks[1:]))
    return more


def real_data_folder():
    """Where the public data sets are, or None."""
    folder = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
    return folder if (folder / "aggregate").is_dir() else None


def real_set(name):
    folder = real_data_folder() / "aggregate" / name
    answers = pd.read_csv(folder / "labels.csv", dtype={"task": str, "worker": str})
    gold = pd.read_csv(folder / "gold.csv", dtype={"task": str}).set_index("task")["label"].rename("true_label")
    return answers, gold
