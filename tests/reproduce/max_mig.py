#!/usr/bin/env python3
"""Max-MIG (Cao, Xu, Kong, Wang, ICLR 2019) beyond its table of images, which is bench/quality/max_mig_cases.py.

    max_mig.py PROGRAM [PART…]

weak: where the forecaster is above the classifier. divergences: three ways to measure
information. copies: what copies and naive juniors weigh (Theorem 3.4). e2: one who knows among copies of a coin.
Prints the tables of docs/REPRODUCTIONS.md and fails when a claim there does not hold. Nothing is chosen by gold.
"""
import sys
import tempfile
from pathlib import Path
from statistics import mean

from claims import Claims, join_test_answers, learn, rows_of, settings, shown, simulate, table

CROWDS = range(1, 6)
CASES = ("4.1", "4.2", "4.3")


class Experts:
    """The experts of a case on Gaussian features; test tasks are answered, too."""

    def __init__(self, program, folder):
        self.program, self.folder, self.made = program, folder, {}

    def crowd(self, seed, case, skill, tasks, separation=1.3, experts="cats_dogs", test=1622):
        key = (seed, case, skill, tasks, separation, experts)
        if key not in self.made:
            out = self.folder / f"crowd{len(self.made)}"
            simulate(self.program, "max_mig", out, *settings([f"case={case}", f"skill={skill}", f"experts={experts}"]), "--tasks", tasks,
                     "--test-tasks", test, "--gaussian-features", separation, "--seed", seed)
            self.made[key] = join_test_answers(out)
        return self.made[key]

    def learned(self, crowd, method, seed, *given):
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            out = Path(scratch) / "out"
            found = learn(self.program, out, method, crowd / "answers.csv", crowd / "features.npy", crowd / "tasks.csv", crowd / "gold.csv",
                          "--model", "linear", "--seed", seed, *settings(["learning_rate=0.01", *given]))
            weights = {row["worker"]: float(row["skill"]) for row in rows_of(out / "workers.csv")} if method == "max_mig" else {}
        return {**found, "weights": weights}


def weak(program, folder, claims):
    """The forecaster is above the classifier where workers are good. With a classifier that is as good as it can be, workers right in 55 % add
    nothing, however weak the features."""
    experts, rows = Experts(program, folder), []
    for separation, best in ((0.4, 65.5), (0.8, 78.8), (1.3, 90.3)):
        for skill in ("high", "low"):
            gain, sure = [], []
            for seed in CROWDS:
                crowd = experts.crowd(seed, "4.3", skill, 3000, separation, test=3000)
                found = experts.learned(crowd, "max_mig", seed, "class_prior=uniform")
                gain.append(found["dc"] - found["d"])
                sure.append(found["d"])
            rows.append([separation, best, skill, shown(sure), shown(gain)])
            if skill == "high":
                claims.least(f"weak: 4.3 high skill, separation {separation}: dc - d", mean(gain), 1)
            else:
                claims.check(f"weak: 4.3 low skill, separation {separation}: dc - d is about 0", f"{mean(gain):.2f}", abs(mean(gain)) < 1)
    print(table(["separation", "best possible", "skill", "d", "dc − d"], rows))


def divergences(program, folder, claims):
    experts, rows = Experts(program, folder), []
    for divergence in ("kl", "pearson", "js"):
        cells = []
        for skill in ("high", "low"):
            for case in CASES:
                runs = [experts.learned(experts.crowd(seed, case, skill, 2000), "max_mig", seed, f"divergence={divergence}", "class_prior=uniform")
                        for seed in CROWDS[:3]]
                cells.append(mean(run["d"] for run in runs))
        rows.append([divergence, *[f"{cell:.1f}" for cell in cells]])
        claims.least(f"divergences: {divergence}, worst of six cases (best possible 90.3)", min(cells), 88)
    print(table(["divergence", *[f"{case} {skill}" for skill in "HL" for case in CASES]], rows))


def copies(program, folder, claims):
    """Theorem 3.4: juniors who add nothing get no weight beside the seniors whom they copy, or none at all."""
    experts, rows = Experts(program, folder), []
    alone, copied, shared, naive = [], [], [], []
    for seed in CROWDS:
        found = {case: experts.learned(experts.crowd(seed, case, "high", 6000), "max_mig", seed, "class_prior=uniform")["weights"] for case in CASES}
        name = "worker_{:06}".format
        alone.append(mean(found["4.1"][name(n)] for n in (1, 3)))       # A and C, whom juniors copy in 4.3
        copied.append(mean(found["4.3"][name(n)] for n in (1, 3)))
        # A has two copies, C three: what a senior and its copies weigh together.
        shared.append(mean((3 * found["4.3"][name(1)], 4 * found["4.3"][name(3)])))
        naive.append(max(abs(found["4.2"][name(n)]) for n in range(6, 11)))
    rows.append(["weight of A and C alone (4.1)", shown(alone, 3)])
    rows.append(["weight of each when copied (4.3)", shown(copied, 3)])
    rows.append(["together with their copies (4.3)", shown(shared, 3)])
    rows.append(["the heaviest naive junior (4.2)", shown(naive, 3)])
    print(table(["", "mean over A and C, five crowds"], rows))
    claims.most("copies: a copied senior's weight, as a share of its weight alone", mean(copied) / mean(alone), 0.5)
    claims.most("copies: senior and copies together, as a multiple of the senior alone", mean(shared) / mean(alone), 1.5)
    claims.least("copies: they still count once", mean(shared) / mean(alone), 0.7)
    claims.most("copies: a naive junior's weight, as a share of a senior's", mean(naive) / mean(alone), 0.05)


def example_e2(program, folder, claims):
    """One who knows, and copies of one coin: few are seen through, a hundred are not."""
    rows = []
    for count in (5, 100):
        d, dc = [], []
        for seed in CROWDS[:3]:
            crowd = simulate(program, "one_coin_beta", folder / f"coin{count}-{seed}", "--tasks", 2000, "--workers", 2, "--answers-per-task", 2,
                             "--gaussian-features", 3, "--test-tasks", 1000, "--seed", seed)
            truth = {row["task"]: row["label"] for row in rows_of(crowd / "gold.csv")}
            for name in ("answers.csv", "answers_test.csv"):
                coin = {row["task"]: row["label"] for row in rows_of(crowd / name) if row["worker"] == "worker_000002"}
                # Heads and tails by the last digits of the task's number: independent of the truth, the same for all copies.
                lines = ["task,worker,label\n"]
                for task in coin:
                    side = int(task[-8:]) * 2654435761 >> 13 & 1
                    lines += [f"{task},knows,{truth[task]}\n"] + [f"{task},coin{n:03},{side}\n" for n in range(count)]
                (crowd / name).write_text("".join(lines))
            join_test_answers(crowd)
            found = Experts(program, folder).learned(crowd, "max_mig", seed)
            d.append(found["d"])
            dc.append(found["dc"])
        rows.append([count, shown(d), shown(dc)])
        if count == 5:
            claims.least("e2: five copies: classifier, worst of three", min(d), 95)
        else:
            claims.most("e2: a hundred copies are not seen through (the page says so): forecaster", mean(dc), 90)
    print(table(["copies of the coin", "d", "dc"], rows))


PARTS = {"weak": weak, "divergences": divergences, "copies": copies, "e2": example_e2}


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(PARTS):
        sys.exit(__doc__)
    claims = Claims()
    for name in sys.argv[2:] or PARTS:
        print(f"\n## {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](sys.argv[1], Path(folder), claims)
    return claims.code()


if __name__ == "__main__":
    sys.exit(main())
