#!/usr/bin/env python3
"""How far labels agree with those of crowd-kit on real data, all parameters at their defaults on both sides.

    WISECROWD_DATA=DATA PYTHONPATH=build/release/python PYTHON bench/python/agreement.py [SET…]

DATA holds aggregate/SET/labels.csv and gold.csv; PYTHON has crowd-kit. GLAD, which takes crowd-kit minutes, is run on the smallest
set alone.
"""
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

NINE = ("MajorityVote", "Wawa", "DawidSkene", "OneCoinDawidSkene", "ZeroBasedSkill", "MACE", "MMSR", "KOS", "GLAD")
SETS = ("bluebird", "rte", "dog", "weather_amt", "possent")
SLOW = {"GLAD": 5_000, "MMSR": 10_000}  # at most so many answers


def their_labels(name, answers):
    import crowdkit.aggregation as crowd_kit

    fitted = getattr(crowd_kit, name)().fit(answers)
    if name in ("Wawa", "ZeroBasedSkill"):  # their predict fails with scikit-learn 1.6 and later; it is this vote
        fitted = crowd_kit.MajorityVote().fit(answers, fitted.skills_)
    return (fitted.predict(answers) if name == "MMSR" else fitted.labels_).sort_index()


def main():
    import pandas as pd

    import wisecrowd

    warnings.simplefilter("ignore")
    folder = Path(os.environ.get("WISECROWD_DATA", harness.ROOT.parent / "shared/data")) / "aggregate"
    if not folder.is_dir():
        harness.stop(f"there is no {folder}: name the folder of the data sets by WISECROWD_DATA")
    rows = []
    for name in sys.argv[1:] or SETS:
        answers = pd.read_csv(folder / name / "labels.csv", dtype={"task": str, "worker": str})
        gold = pd.read_csv(folder / name / "gold.csv", dtype={"task": str}).set_index("task")["label"]
        for method in NINE:
            if len(answers) > SLOW.get(method, len(answers)) or (method == "KOS" and answers.label.nunique() > 2):
                continue
            ours = getattr(wisecrowd, method)().fit_predict(answers)
            try:
                theirs = their_labels(method, answers)
            except Exception as error:  # noqa: BLE001
                rows.append([name, method, "", f"crowd-kit fails: {type(error).__name__}", f"{(ours[gold.index] == gold).mean():.4f}"])
                continue
            rows.append([name, method, f"{(ours == theirs).mean():.4f}", f"{(theirs[gold.index] == gold).mean():.4f}",
                         f"{(ours[gold.index] == gold).mean():.4f}"])
            harness.progress(" ".join(rows[-1]))
    print(harness.table(["set", "method", "same labels", "accuracy of crowd-kit", "of wisecrowd"], rows))


if __name__ == "__main__":
    main()
