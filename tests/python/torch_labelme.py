"""LabelMe by the engine's own network and by the same network in torch: accuracy on the test images, over seeds.

    torch_labelme.py [seeds [method …]]

Exits with 77 (skipped) without the real data (WISECROWD_DATA) or without torch.
"""
import sys

import numpy as np
import pandas as pd

import wisecrowd
from frames import real_data_folder

METHODS = ("max_mig", "crowd_layer", "ccem", "aggnet", "dalc")


def make_head(columns):
    import torch

    return lambda outputs: torch.nn.Sequential(torch.nn.Linear(columns, 128), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(128, outputs))


def main():
    folder = real_data_folder()
    try:
        import torch
    except ImportError:
        print("skipped: there is no torch (Debian: python3-torch)")
        return 77
    if folder is None or not (folder / "learn/labelme").is_dir():
        print("skipped: there are no real data (WISECROWD_DATA)")
        return 77
    from wisecrowd.torch import fit

    torch.set_num_threads(1)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    folder = folder / "learn/labelme"
    tasks = pd.read_csv(folder / "tasks.csv", dtype=str)
    gold = pd.read_csv(folder / "gold.csv", dtype=str).set_index("task")["label"]
    answers = pd.read_csv(folder / "labels.csv", dtype=str)
    X = np.load(folder / "features.npy").astype(np.float32)[tasks["row"].astype(int)]
    train, test = (tasks["split"] == "train").to_numpy(), (tasks["split"] == "test").to_numpy()
    seen = X[train]
    scale = np.where(seen.std(axis=0) > 0, seen.std(axis=0), 1)
    Z = (X - seen.mean(axis=0)) / scale  # as the engine does by itself
    truth = gold[tasks["task"][test]].to_numpy()
    answers = answers[answers["task"].isin(tasks["task"][train])]
    names = tasks["task"][train].to_numpy()
    failed = []
    print("accuracy on", test.sum(), "test images,", seeds, "seeds: mean (standard error)")
    for method in sys.argv[2:] or METHODS:
        ours, theirs = [], []
        for seed in range(seeds):
            learner = wisecrowd.estimator(method, seed=seed, threads=1).fit(pd.DataFrame(seen, index=names), answers)
            ours.append(learner.score(X[test], truth))
            trained = fit(make_head(X.shape[1]), torch.from_numpy(Z[train]), answers, method, tasks=names, seed=seed, threads=1)
            theirs.append(trained.score(torch.from_numpy(Z[test]), truth))
        ours, theirs = np.array(ours), np.array(theirs)
        error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / seeds)  # of the difference of the means
        difference = theirs.mean() - ours.mean()
        holds = abs(difference) <= error
        print(f"{method:12} engine {ours.mean():.4f} ({ours.std(ddof=1) / seeds ** .5:.4f})  torch {theirs.mean():.4f} "
              f"({theirs.std(ddof=1) / seeds ** .5:.4f})  difference {difference:+.4f}, its standard error {error:.4f}"
              + ("" if holds else "  MORE THAN ONE"), flush=True)
        if abs(difference) > 2 * error:  # one standard error is exceeded by chance in one of three comparisons
            failed.append(method)
    if failed:
        print("differ by more than two standard errors:", ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
