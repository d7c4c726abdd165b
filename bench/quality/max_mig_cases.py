#!/usr/bin/env python3
"""Max-MIG's experts on images: independent seniors (4.1), naive juniors (4.2), copying juniors (4.3), of high and low skill.

Table 3 of Cao, Xu, Kong, Wang (ICLR 2019) on images at hand: `wisecrowd simulate max_mig` answers for the experts,
`wisecrowd learn` learns from the train images, and the test images are scored twice: by the classifier alone (d), and
with the answers to them (dc). Gold is for scoring and for the row "truth", which is trained on it. No epoch is chosen by
gold. SETS holds a folder per set with images.npy, tasks.csv and gold.csv. Fails when a claim of docs/REPRODUCTIONS.md about the cases that
were run does not hold.
"""
import csv
import json
import os
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/reproduce"))
import harness  # noqa: E402
from claims import Claims  # noqa: E402


@dataclass(frozen=True)
class Images:
    train: int
    test: int
    patches: int  # kinds of patches that features are made of; 0: the pixels themselves
    experts: str
    published: str  # the table's rows to stand beside


SETS = {
    "catdog": Images(3_000, 2_000, 100, "cats_dogs", "cats/dogs"),
    "fashion": Images(1_500, 1_000, 0, "fashion", "CIFAR-10"),
    "cifar10n": Images(3_000, 2_000, 100, "cifar10", "CIFAR-10"),
}
# All sets are balanced, and the paper fixes a uniform prior for CIFAR-10; by default max_mig would try another too.
SETTINGS = {"max_mig": ["class_prior=uniform"]}
ENOUGH = 4_000
CASES = [(skill, case) for skill in ("high", "low") for case in ("4.1", "4.2", "4.3")]
COLUMNS = [f"{case} {skill[0].upper()}" for skill, case in CASES]
# Best test accuracy over epochs, mean of five runs, as printed: columns as above.
PUBLISHED = {
    "cats/dogs": {"max_mig d": [79.52, 80.25, 78.94, 71.44, 71.07, 68.40], "max_mig dc": [88.80, 87.60, 87.17, 73.99, 73.38, 70.75],
                  "aggnet d": [79.36, 79.53, 71.97, 70.46, 70.07, 63.85], "aggnet dc": [88.00, 88.56, 75.00, 71.27, 70.75, 61.14]},
    "CIFAR-10": {"max_mig d": [86.33, 86.55, 86.71, 70.16, 69.99, 67.59], "max_mig dc": [98.10, 98.18, 99.06, 75.55, 75.11, 72.47],
                 "aggnet d": [86.13, 86.27, 63.91, 70.21, 62.50, 38.27], "aggnet dc": [99.05, 99.01, 70.01, 74.76, 72.02, 29.03]},
}


def patch_features(images, kinds, seed=1, side=6, stride=2, block=250):
    """What one layer of a network sees, learned without labels: how much of each kind of whitened patch a quarter of the
    image holds (Coates, Lee, Ng 2011, with spherical k-means)."""
    import numpy as np
    images = images if images.ndim == 4 else images[..., None]
    random = np.random.default_rng(seed)

    def patches(some):
        windows = np.lib.stride_tricks.sliding_window_view(some, (side, side), axis=(1, 2))[:, ::stride, ::stride]
        flat = windows.reshape(windows.shape[0] * windows.shape[1] * windows.shape[2], -1).astype(np.float32)
        flat -= flat.mean(1, keepdims=True)
        return flat / np.sqrt(flat.var(1, keepdims=True) + 10), windows.shape[1]

    sample = patches(images[random.choice(len(images), min(len(images), 600), replace=False)])[0]
    sample = sample[random.choice(len(sample), min(len(sample), 40_000), replace=False)]
    middle = sample.mean(0)
    values, vectors = np.linalg.eigh(np.cov(sample, rowvar=False))
    whiten = ((vectors / np.sqrt(values + .1)) @ vectors.T).astype(np.float32)
    sample = (sample - middle) @ whiten
    centres = random.normal(size=(kinds, sample.shape[1])).astype(np.float32)
    for _ in range(10):
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        likeness = sample @ centres.T
        nearest = likeness.argmax(1)
        np.add.at(centres, nearest, sample * likeness[np.arange(len(sample)), nearest, None])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    project = whiten @ centres.T
    result = []
    for begin in range(0, len(images), block):
        flat, across = patches(images[begin:begin + block])
        seen = np.maximum(flat @ project - middle @ project - .5, 0).reshape(-1, across, across, kinds)
        half = across // 2
        quarters = [seen[:, rows, columns].mean((1, 2)) for rows in (slice(half), slice(half, None))
                    for columns in (slice(half), slice(half, None))]
        result.append(np.stack(quarters, 1).reshape(len(seen), -1))
    return np.concatenate(result).astype(np.float32)


def missing(message):
    """What the experiment needs is not here: ctest takes this exit code for a test that was skipped."""
    harness.progress(message)
    sys.exit(77)


def prepare(arguments, name):
    """The part of a set that is used, with its features: made once and kept."""
    images, source, patches = SETS[name], arguments.sets / name, SETS[name].patches if arguments.model != "cnn" else 0
    train = arguments.train or images.train
    folder = arguments.cache / "max_mig" / f"{name}-{train}-{images.test}-{patches}"
    if (folder / "gold.csv").is_file():
        return folder
    try:
        import numpy as np
    except ImportError:
        missing("numpy is missing: run this with Debian's python3 after installing python3-numpy")
    if not (source / "images.npy").is_file():
        missing(f"no images.npy under {source}: name the folder of the sets with --sets or WISECROWD_DATA")
    left, kept = {"train": train, "test": images.test}, []
    with open(source / "tasks.csv", newline="") as file:
        for row in csv.DictReader(file):
            if left.get(row["split"], 0) > 0:
                left[row["split"]] -= 1
                kept.append(row)
    with open(source / "gold.csv", newline="") as file:
        gold = {row["task"]: row["label"] for row in csv.DictReader(file)}
    harness.progress(f"{name}: features of {len(kept):,} images")
    pixels = np.load(source / "images.npy")[[int(row["row"]) for row in kept]]
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "features.npy", patch_features(pixels, patches) if patches else pixels)
    (folder / "tasks.csv").write_text("task,row,split\n" + "".join(f"{row['task']},{n},{row['split']}\n" for n, row in enumerate(kept)))
    (folder / "gold.csv").write_text("task,label\n" + "".join(f"{row['task']},{gold[row['task']]}\n" for row in kept))
    return folder


def test_accuracy(folder, labels):
    """Share of the test tasks whose label in labels.csv is right."""
    with open(folder / "gold.csv", newline="") as file:
        gold = {row["task"]: row["label"] for row in csv.DictReader(file)}
    with open(folder / "tasks.csv", newline="") as file:
        test = {row["task"] for row in csv.DictReader(file) if row["split"] == "test"}
    with open(labels, newline="") as file:
        right = [row["label"] == gold[row["task"]] for row in csv.DictReader(file) if row["task"] in test]
    assert len(right) == len(test), f"{labels} has {len(right)} of {len(test)} test tasks"
    return sum(right) / len(right)


def learned(arguments, folder, name, method, skill, case, seed):
    """Scores of one learner on one draw of the experts' answers, both kinds in percent."""
    with tempfile.TemporaryDirectory(dir=arguments.cache) as scratch:
        crowd, out = Path(scratch) / "crowd", Path(scratch) / "out"
        harness.run([arguments.program, "simulate", "max_mig", "--set", f"case={case}", "--set", f"skill={skill}", "--set",
                     f"experts={SETS[name].experts}", "--gold", folder / "gold.csv", "--tasks-file", folder / "tasks.csv",
                     "--seed", seed, "--quiet", "--out", crowd])
        # Answers to test rows are not learned from; they are there for the forecast.
        with open(crowd / "answers.csv", "a") as file:
            file.writelines((crowd / "answers_test.csv").read_text().splitlines(keepends=True)[1:])
        command = [arguments.program, "learn", crowd / "answers.csv", "--features", folder / "features.npy", "--tasks",
                   folder / "tasks.csv", "--gold", folder / "gold.csv", "--model", arguments.model, "--seed", seed,
                   "--threads", 1, "--quiet", "--out", out, "--set", f"epochs={arguments.epochs}"]
        if method == "truth":
            command += ["--method", "two_stage", "--set", "targets=truth", "--gold-for", "inference"]
        elif method == "majority_vote":
            command += ["--method", "two_stage", "--set", "aggregator=majority_vote"]
        else:
            command += ["--method", method]
        for setting in arguments.settings.get(method, []):
            command += ["--set", setting]
        measured = harness.run(command)
        record = json.loads((out / "run.json").read_text())
        return {"set": name, "method": method, "skill": skill, "case": case, "seed": seed, "seconds": measured.seconds,
                "chosen_epoch": record["chosen_epoch"],
                "d": 100 * record["evaluation"]["test_rows"]["chosen_epoch"]["accuracy"]["value"],
                "d_last": 100 * record["evaluation"]["test_rows"]["last_epoch"]["accuracy"]["value"],
                "dc": 100 * test_accuracy(folder, out / "labels.csv")}


def shown(values):
    return f"{mean(values):.1f} ± {stdev(values):.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def report(name, runs, methods):
    """The table of one set, published rows beside ours, and the claims it was made to check."""
    found = defaultdict(list)
    for run in runs:
        for kind in ("d", "dc"):
            found[run["method"], kind, run["skill"], run["case"]].append(run[kind])
    rows = []
    for method in methods:
        for kind in ("d", "dc"):
            if method == "truth" and kind == "dc":
                continue
            rows.append([f"{method} {kind}", "here"] + [shown(found[method, kind, *case]) if found[method, kind, *case] else "" for case in CASES])
            if published := PUBLISHED[SETS[name].published].get(f"{method} {kind}"):
                rows.append([f"{method} {kind}", f"paper, {SETS[name].published}"] + [f"{value:.1f}" for value in published])
    lines = [f"## {name}", "", harness.table(["method", "where", *COLUMNS], rows), ""]

    def difference(method, kind, skill, case):
        own = [run[kind] for run in runs if (run["method"], run["skill"], run["case"]) == (method, skill, "4.1")]
        return mean(found[method, kind, skill, case]) - mean(own)

    for skill in ("high", "low"):
        for method in methods:
            if method == "truth" or not all(found[method, "d", skill, case] for case in ("4.1", "4.2", "4.3")):
                continue
            gains = [mean(found[method, "dc", skill, case]) - mean(found[method, "d", skill, case]) for case in ("4.1", "4.2", "4.3")]
            lines.append(f"- {method}, {skill} skill: against its own 4.1 (d / dc) 4.2 {difference(method, 'd', skill, '4.2'):+.1f} / "
                         f"{difference(method, 'dc', skill, '4.2'):+.1f}, 4.3 {difference(method, 'd', skill, '4.3'):+.1f} / "
                         f"{difference(method, 'dc', skill, '4.3'):+.1f}; answers to test images add "
                         + ", ".join(f"{gain:+.1f}" for gain in gains))
    return "\n".join(lines + [""])


def judge(name, runs, claims, train):
    """Claims about those learners and cases that were run; figures are means over crowds in points. Of ten classes, weak experts need
    ENOUGH images: the tables of ten who are right in 20 % are too many to learn from fewer."""
    found = defaultdict(list)
    for run in runs:
        for kind in ("d", "dc"):
            found[run["method"], kind, run["skill"], run["case"]].append(run[kind])

    def ran(*places):
        return all(found.get((method, "d", skill, case)) for method, skill, case in places)

    def score(method, kind, skill, case):
        return mean(found[method, kind, skill, case])

    for skill, case in CASES:
        where = f"{name}, {case} {skill[0].upper()}"
        if skill == "low" and SETS[name].experts != "cats_dogs" and train < ENOUGH:
            continue
        if ran(("max_mig", skill, case)):
            claims.least(f"{where}: max_mig dc over d", score("max_mig", "dc", skill, case) - score("max_mig", "d", skill, case), 0.1, 1)
        if case == "4.1":
            continue
        if ran(("max_mig", skill, "4.1"), ("max_mig", skill, case)):
            claims.least(f"{where}: max_mig d less its own in 4.1", score("max_mig", "d", skill, case) - score("max_mig", "d", skill, "4.1"), -2.5, 1)
        for method in ("majority_vote", "crowd_layer", "doctor_net"):
            if case == "4.2" and ran(("max_mig", skill, case), (method, skill, case)):
                claims.least(f"{where}: max_mig d over {method}", score("max_mig", "d", skill, case) - score(method, "d", skill, case), 3, 1)
    for kind in ("d", "dc"):
        if ran(("aggnet", "high", "4.1"), ("aggnet", "high", "4.3")):
            claims.most(f"{name}, 4.3 H: aggnet {kind} less its own in 4.1", score("aggnet", kind, "high", "4.3") - score("aggnet", kind, "high", "4.1"), -4, 1)
        if ran(("max_mig", "high", "4.3"), ("aggnet", "high", "4.3")):
            claims.least(f"{name}, 4.3 H: max_mig {kind} over aggnet", score("max_mig", kind, "high", "4.3") - score("aggnet", kind, "high", "4.3"), 3, 1)
    means = {method: mean(score(method, "d", *case) for case in CASES) for method in sorted({run["method"] for run in runs} - {"truth"})
             if ran(*[(method, *case) for case in CASES])}
    if len(means) > 1:
        claims.check(f"{name}: max_mig has the highest mean of d over the six cases", " ".join(f"{method} {value:.1f}" for method, value in means.items()),
                     max(means, key=means.get) == "max_mig")


def main():
    parser = harness.parser(__doc__.splitlines()[0])
    default = os.environ.get("WISECROWD_DATA")
    default = Path(default) if default else harness.ROOT.parent / "shared/data"
    parser.add_argument("--sets", type=Path, default=default / "learn", help="folder of the sets")
    parser.add_argument("--names", default="catdog,fashion", help=f"which sets, of {', '.join(SETS)}")
    parser.add_argument("--methods", default="truth,majority_vote,crowd_layer,doctor_net,aggnet,max_mig",
                        help="which learners; truth and majority_vote are networks trained on gold and on votes")
    parser.add_argument("--cases", default=",".join(column.replace(" ", "") for column in COLUMNS), help="which cases")
    parser.add_argument("--seeds", type=int, default=5, help="draws of each crowd")
    parser.add_argument("--epochs", type=int, default=15, help="epochs of every learner")
    parser.add_argument("--train", type=int, help="train images of each set, instead of its own number")
    parser.add_argument("--model", default="mlp", help="network; cnn looks at pixels, the others at what SETS says")
    parser.add_argument("--settings", action="append", default=[], metavar="LEARNER:NAME=VALUE", help="of one learner, may be repeated")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    given, arguments.settings = arguments.settings, defaultdict(list, {method: list(own) for method, own in SETTINGS.items()})
    for text in given:
        method, _, setting = text.partition(":")
        arguments.settings[method].append(setting)
    arguments.cache.mkdir(parents=True, exist_ok=True)
    methods, wanted = arguments.methods.split(","), set(arguments.cases.split(","))
    figures, texts, claims = {"runs": []}, [], Claims()
    for name in arguments.names.split(","):
        folder = prepare(arguments, name)
        with ThreadPoolExecutor(arguments.threads) as pool:
            jobs = []
            for seed in range(1, arguments.seeds + 1):
                for (skill, case), column in zip(CASES, COLUMNS):
                    for method in methods:
                        # The truth does not depend on who answered.
                        if column.replace(" ", "") in wanted and (method != "truth" or (skill, case) == CASES[0]):
                            jobs.append(pool.submit(learned, arguments, folder, name, method, skill, case, seed))
            runs = []
            for job in jobs:
                runs.append(job.result())
                harness.progress(" ".join(f"{key}={value:.1f}" if isinstance(value, float) else f"{key}={value}" for key, value in runs[-1].items()))
        figures["runs"] += runs
        texts.append(report(name, runs, methods))
        judge(name, runs, claims, arguments.train or SETS[name].train)
    harness.deliver(arguments, figures, "\n".join(texts))
    return claims.code()


if __name__ == "__main__":
    sys.exit(main())
