#!/usr/bin/env python3
"""Experiments of the tutorial on learning from crowdsourced noisy labels (Ibrahim, Traganitis, Fu, Giannakis).

    tutorial.py PROGRAM [PART…]

machines: GeoCrowdNet with machine annotators who are right in 15 to 85 % of images. coinnet: COINNet on CIFAR-10N, and which images it takes for
outliers. dog: active curves on the answers of Dog. Prints the tables of docs/REPRODUCTIONS.md and fails when a claim there does not hold.
Needs numpy for the features of images. Nothing is chosen by gold.
"""
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/quality"))
from claims import data_folder, differences, interval, learn, rows_of, run, run_parts, settings, shown, simulate, table  # noqa: E402
from max_mig_cases import prepare  # noqa: E402

CROWDS = range(1, 4)
MACHINE_CROWDS = range(1, 7)
NETWORKS = {"truth": ("two_stage", ["targets=truth"]), "majority_vote": ("two_stage", ["aggregator=majority_vote"]),
            "dawid_skene": ("two_stage", ["aggregator=dawid_skene"])}


def images(name, folder, train):
    return prepare(SimpleNamespace(sets=data_folder("learn"), model="mlp", train=train, cache=folder), name)


def learned(program, folder, name, answers, source, seed, *more):
    """Test accuracy in percent, and the outlier score of each task where there is one."""
    method, given = NETWORKS.get(name, (name, []))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        out = Path(scratch) / "out"
        found = learn(program, out, method, answers, source / "features.npy", source / "tasks.csv", source / "gold.csv", "--seed", seed,
                      *settings([*given, *more]), *(["--gold-for", "inference"] if name == "truth" else []))
        scores = {row["task"]: float(row["outlier"]) for row in rows_of(out / "labels.csv") if row.get("outlier")}
    return found["d"], scores


def machines(program, folder, claims):
    """Each machine labels a tenth of the images, so two or three answers per image."""
    source, names = images("fashion", folder, 3000), ["truth", "majority_vote", "dawid_skene", "crowd_layer", "trace_reg", "geocrowdnet_f", "geocrowdnet_w"]
    found, least, most, right = {name: [] for name in names}, [], [], []
    for seed in MACHINE_CROWDS:
        crowd = simulate(program, "machines", folder / f"machines{seed}", *settings(["training_tasks=2", "most_training_tasks=1500", "keep=0.1"]),
                         "--workers", 25, "--gold", source / "gold.csv", "--tasks-file", source / "tasks.csv", "--features",
                         source / "features.npy", "--seed", seed)
        rates = [100 * float(row["accuracy"]) for row in rows_of(crowd / "workers.csv")]
        least.append(min(rates))
        most.append(max(rates))
        right.append(mean(rates))
        for name in names:
            found[name].append(learned(program, folder, name, crowd / "answers.csv", source, seed, "epochs=20")[0])
    print(f"machines are right in {mean(least):.0f} to {mean(most):.0f} % of the images, {mean(right):.0f} % in the mean")
    print(table(["network trained on", "test"], [[name, shown(found[name])] for name in names]))
    claims.most("machines: the weakest is right in (%)", mean(least), 25, 1)
    claims.least("machines: the best is right in (%)", mean(most), 75, 1)
    for name in ("geocrowdnet_f", "geocrowdnet_w"):
        gap, half = interval(differences(found[name], found["dawid_skene"]))
        claims.least(f"machines: {name} above dawid_skene ({gap:+.1f} ± {half:.1f} points), the worse end", gap - half, 0, 1)
        gap, half = interval(differences(found[name], found["majority_vote"]))
        claims.least(f"machines: {name} above the vote (± {half:.1f} points)", gap, 0, 1)


def coinnet(program, folder, claims):
    """Three answers per image; which images have a wrong answer that no worker's table explains?"""
    source, answers = images("cifar10n", folder, 3000), folder / "cifar10n.csv"
    truth = {row["task"]: row["label"] for row in rows_of(source / "gold.csv")}
    given = [row for row in rows_of(data_folder("learn", "cifar10n") / "labels.csv") if row["task"] in truth]
    answers.write_text("task,worker,label\n" + "".join(f"{row['task']},{row['worker']},{row['label']}\n" for row in given))
    wrong = {}
    for row in given:
        wrong[row["task"]] = wrong.get(row["task"], 0) + (row["label"] != truth[row["task"]])
    names = ["truth", "majority_vote", "crowd_layer", "geocrowdnet_f", "coinnet"]
    found, scores = {name: [] for name in names}, {}
    for seed in CROWDS:
        for name in names:
            accuracy, outlier = learned(program, folder, name, answers, source, seed, "epochs=20")
            found[name].append(accuracy)
            scores = outlier or scores
    print(table(["network trained on", "test"], [[name, shown(found[name])] for name in names]))
    edges = [0, .002, .005, .01, .02, float("inf")]
    rows = []
    for count in range(4):
        own = [scores[task] for task in scores if wrong[task] == count]
        rows.append([count, len(own), *[f"{sum(low <= score < high for score in own) / max(len(own), 1):.0%}" for low, high in zip(edges, edges[1:])],
                     f"{median(own):.3f}" if own else "–"])
    print(table(["wrong answers", "images", "below .002", "to .005", "to .01", "to .02", "above", "median score"], rows))
    claims.most("coinnet: wrong answers cost the vote little here, less than (points)", mean(differences(found["truth"], found["majority_vote"])), 2, 1)
    claims.least("coinnet: less the vote (points)", mean(differences(found["coinnet"], found["majority_vote"])), -3, 1)
    split = [task for task in scores if 0 < wrong[task] < 3]
    agreed = [task for task in scores if wrong[task] == 0]
    claims.least("coinnet: the chance that an image with a wrong answer has the higher outlier score",
                 chance_above([scores[task] for task in split], [scores[task] for task in agreed]), 0.65)


def chance_above(some, others):
    """P(one of some > one of others), ties count half."""
    import bisect
    others = sorted(others)
    return mean((bisect.bisect_left(others, x) + bisect.bisect_right(others, x)) / 2 for x in some) / len(others)


def dog(program, folder, claims):
    """Random workers and tasks, uncertain tasks, and the tutorial's rule: a random worker with a chance that falls, otherwise the best."""
    source, policies = data_folder("aggregate", "dog"), ["random", "entropy/random", "entropy/epsilon_greedy"]
    run(program, "select", "--replay", source / "labels.csv", "--gold", source / "gold.csv", "--policies", ",".join(policies), "--method",
        "dawid_skene", "--seeds", 10, "--quiet", "--out", folder / "dog")
    seeds = rows_of(folder / "dog/seeds.csv")
    areas, rows = {}, []
    for policy in policies:
        curves = {}
        for row in seeds:
            if row["policy"] == policy:
                curves.setdefault(row["seed"], []).append((float(row["answers"]), float(row["accuracy"])))
        areas[policy] = [sum((y + z) / 2 * (b - a) for (a, y), (b, z) in zip(curve, curve[1:])) / (curve[-1][0] - curve[0][0])
                         for curve in curves.values()]
        at = [mean(min(curve, key=lambda point: abs(point[0] - wanted))[1] for curve in curves.values()) for wanted in (1000, 2000, 4000, 8070)]
        rows.append([policy, f"{mean(areas[policy]):.3f}", *[f"{value:.3f}" for value in at]])
    print(table(["policy", "area", "1,000 answers", "2,000", "4,000", "all"], rows))
    for policy in policies[1:]:
        gap, half = interval(differences(areas[policy], areas["random"]))
        claims.least(f"dog: {policy} above random in area, the worse end", gap - half, 0)


PARTS = {"machines": machines, "coinnet": coinnet, "dog": dog}


if __name__ == "__main__":
    sys.exit(run_parts(__doc__, PARTS))
