#!/usr/bin/env python3
"""The curves of DALC's Figure 5 (G3, E5): its generator, fashion images with simulated targeted crowds, and two real crowds.

    dalc_loop.py PROGRAM [PART…]

generator, fashion: every repetition is a crowd, a split and a training of its own. sentiment, labelme: ten divisions of the recorded answers into past
and pool. live: sentiment, where three of ten questions are not answered and a tenth of the workers and tasks appears half-way. rounds: what is
lost when a round asks about half of the pool at once. once: one answer per task, as the paper has it. Prints one table each
(docs/REPRODUCTIONS.md) and fails when a claim there does not hold.
The paper's own data are private; published there: 23.6K answers to 15K tasks -> 15K answers at the same quality, 36.5 % fewer. Intervals
are of 95 %, by resampling repetitions.
"""
import csv
import json
import random
import sys

from claims import data_folder, rows_of, run, run_parts, settings, simulate, table

SAVING = 0.365
POLICIES = ["rd", "ac", "ad", "dalc"]
RESAMPLES = 2000
WORKERS = 2000
CROWDS = range(1, 6)
SETTINGS = ["input_dropout=0", "samples=5"]
REAL = ["samples=5"]
# A round asks about as large a share of the pool as the paper's largest: 1,000 of 15,000 tasks.
ROUND = 1 / 15


class Played:
    """The curves of one repetition: (answers, accuracy, auc) by policy; the same of the model with all answers, and how many these are."""

    def __init__(self, curves, reference, everything):
        self.curves, self.reference, self.everything = curves, reference, everything

    def points(self, policy, figure):
        return [(point[0], point[1 + figure]) for point in self.curves[policy]]


def play(program, answers, features, tasks, gold, out, seed, given, seeds=1, policies=POLICIES, words=()):
    """One entry per repetition."""
    run(program, "dalc-loop", answers, "-f", features, *(["-t", tasks] if tasks else []), "-g", gold, "--seeds", seeds, "--seed", seed, "--hidden", 64, "--threads", 1,
        "--policies", ",".join(policies), "--out", out, "--quiet", *words, *settings(given))
    record = json.loads((out / "summary.json").read_text())
    curves = [{policy: [] for policy in policies} for _ in range(seeds)]
    for row in rows_of(out / "seeds.csv"):
        if row["policy"] in policies:
            curves[int(row["seed"])][row["policy"]].append((int(row["answers"]), float(row["accuracy"]), float(row["auc"])))
    return [Played(own, (record["reference_accuracy"][n], record["reference_auc"][n]), record["all_answers"]) for n, own in enumerate(curves)]


def area(curve):
    return sum((y + z) / 2 * (b - a) for (a, y), (b, z) in zip(curve, curve[1:])) / (curve[-1][0] - curve[0][0])


def mean_area(played, policy, figure=0):
    return sum(area(one.points(policy, figure)) for one in played) / len(played)


def mean_curve(played, policy):
    """At the points that all repetitions have; the last one may depend on how many answers a crowd gave."""
    points = min(len(one.curves[policy]) for one in played) - (1 if len({one.everything for one in played}) > 1 else 0)
    return [(played[0].curves[policy][p][0], sum(one.curves[policy][p][1] for one in played) / len(played)) for p in range(points)]


def saved(played, policy):
    """Share of all answers that is not needed to reach the accuracy of all; None when it is never reached."""
    level = sum(one.reference[0] for one in played) / len(played)
    everything = sum(one.everything for one in played) / len(played)
    before = None
    for answers, accuracy in mean_curve(played, policy):
        if accuracy >= level:
            if before and accuracy > before[1]:
                answers = before[0] + (answers - before[0]) * (level - before[1]) / (accuracy - before[1])
            return 1 - answers / everything
        before = (answers, accuracy)
    return None


def interval(played, figure):
    chance = random.Random(1)
    values = sorted(figure(chance.choices(played, k=len(played))) or 0 for _ in range(RESAMPLES))
    return values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES)]


def show(name, played, policies=POLICIES):
    level = [sum(one.reference[figure] for one in played) / len(played) for figure in (0, 1)]
    everything = sum(one.everything for one in played) / len(played)
    print(f"\n{name}: {len(played)} repetitions, {everything:,.0f} answers in the pool; with all of them {level[0]:.4f}, AUC {level[1]:.4f}")
    rows = []
    for place, policy in enumerate(policies):
        over = ""
        if place > 0:
            before = policies[place - 1]
            gain = lambda sample, here=policy, there=before: mean_area(sample, here) - mean_area(sample, there)  # noqa: E731
            low, high = interval(played, gain)
            over = f"{gain(played):+.4f} [{low:+.4f}, {high:+.4f}]"
        share = saved(played, policy)
        low, high = interval(played, lambda sample, here=policy: saved(sample, here))
        curve = mean_curve(played, policy)
        at = [curve[min(range(len(curve)), key=lambda p: abs(curve[p][0] - part * everything))][1] for part in (.25, .5)]
        rows.append([policy, f"{mean_area(played, policy):.4f}", over, f"{mean_area(played, policy, 1):.4f}", f"{at[0]:.3f}", f"{at[1]:.3f}",
                     "not reached" if share is None else f"{share:.0%} [{low:.0%}, {high:.0%}]"])
    print(table(["policy", "area", "over the one before", "area of AUC", "accuracy at a quarter", "at half", "saved"], rows), flush=True)


def order(name, played, claims):
    mean = {policy: mean_area(played, policy) for policy in POLICIES}
    claims.check(f"{name}: rd < ac <= ad < dalc in area", " ".join(f"{policy} {value:.4f}" for policy, value in mean.items()),
                 mean["rd"] < mean["ac"] <= mean["ad"] < mean["dalc"])


def generator(program, folder, claims):
    played = []
    for seed in CROWDS:
        crowd = simulate(program, "lftc", folder / f"lftc{seed}", "--tasks", 4000, "--workers", WORKERS, "--test-tasks", 2000, "--seed", seed)
        played += play(program, crowd / "answers.csv", crowd / "features.npy", crowd / "tasks.csv", crowd / "gold.csv", folder / f"out{seed}", seed,
                       SETTINGS + ["round_answers=500", "round_epochs=10"])
    show("generator", played)
    order("generator", played, claims)
    claims.least("generator: saved by dalc", saved(played, "dalc") or 0, SAVING)


def fashion(program, folder, claims):
    """One answer per image on average: those with answers have 1.58, the paper's queries 1.57."""
    source = data_folder("learn", "fashion")
    for name, columns in (("tasks.csv", ["task", "row", "split"]), ("gold.csv", ["task", "label"])):
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows_of(source / name))
    played = []
    for seed in CROWDS:
        crowd = simulate(program, "lftc", folder / f"fashion{seed}", "--gold", folder / "gold.csv", "--tasks-file", folder / "tasks.csv", "--features",
                         source / "images.npy", "--workers", WORKERS, *settings([f"keep={1 / WORKERS}"]), "--seed", seed)
        played += play(program, crowd / "answers.csv", source / "images.npy", crowd / "tasks.csv", crowd / "gold.csv", folder / f"out{seed}", seed,
                       SETTINGS + ["past=0.4", "first_answers=500", "round_answers=1000", "budget=0.8"])
    show("fashion", played)
    order("fashion", played, claims)
    claims.least("fashion: saved by dalc", saved(played, "dalc") or 0, SAVING)


def own_test_texts(folder):
    """A quarter of the answered texts to judge by. Those of the split test are from another collection, on which every policy is at .62 throughout."""
    rows = [row for row in rows_of(data_folder("learn", "sentiment") / "text.csv") if row["split"] == "train"]
    shuffled = list(rows)
    random.Random(1).shuffle(shuffled)
    test = {row["task"] for row in shuffled[:1250]}
    with open(folder / "texts.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "split", "text"])
        writer.writerows([row["task"], "test" if row["task"] in test else "train", row["text"]] for row in rows)
    return folder / "texts.csv"


def rounds_of(answers, epochs):
    """Settings for rounds of so many answers; reliabilities are learned again after about 5,000."""
    return [f"round_answers={answers}", f"round_epochs={epochs}", f"refresh={max(1, round(5000 / answers))}"]


def play_sentiment(program, folder, given, repetitions, policies=POLICIES, words=()):
    source = data_folder("learn", "sentiment")
    return play(program, source / "labels.csv", own_test_texts(folder), None, source / "gold.csv", folder / "out", 0,
                REAL + ["first_answers=500", *given], repetitions, policies, words)


def sure_gain(played, policy, before):
    """The worse end of what a policy's area has over another's."""
    return interval(played, lambda sample: mean_area(sample, policy) - mean_area(sample, before))[0]


def sentiment(program, folder, claims):
    """Up to as large a share of the answers as the paper's: 15,000 of 23,600. The 3,000 most frequent words and pairs are enough."""
    played = play_sentiment(program, folder, rounds_of(round(1874 * ROUND), 2) + ["batch=128", "budget=0.64"], 10, words=["--text-columns", 3000])
    show("sentiment", played)
    order("sentiment", played, claims)
    claims.least("sentiment: area of dalc over rd, the worse end", sure_gain(played, "dalc", "rd"), 0, 4)
    claims.least("sentiment: saved by dalc", saved(played, "dalc") or 0, SAVING)
    claims.least("sentiment: area of AUC, dalc over rd", mean_area(played, "dalc", 1) - mean_area(played, "rd", 1), 0, 4)


def live(program, folder, claims):
    policies = ["rd", "dalc"]
    played = play_sentiment(program, folder, rounds_of(1000, 10) + ["response=0.7", "late=0.1"], 5, policies)
    show("sentiment, 30 % unanswered, 10 % of workers and tasks late", played, policies)
    claims.least("live: saved by dalc", saved(played, "dalc") or 0, 0.4)
    claims.least("live: area of dalc over rd, the worse end", sure_gain(played, "dalc", "rd"), 0, 4)


def rounds(program, folder, claims):
    """A round of 1,000 answers asks about half of the pool's tasks, whichever these are: the choice of tasks is worth less than in small rounds."""
    policies = ["rd", "ac", "ad"]
    played = play_sentiment(program, folder, rounds_of(1000, 10), 10, policies)
    show("sentiment, rounds of 1,000 answers", played, policies)
    claims.check("rounds: ad is below ac where a round is half of the pool", f"{mean_area(played, 'ad'):.4f}, {mean_area(played, 'ac'):.4f}",
                 mean_area(played, "ad") < mean_area(played, "ac"))


def labelme(program, folder, claims):
    source = data_folder("learn", "labelme")
    played = play(program, source / "labels.csv", source / "features.npy", source / "tasks.csv", source / "gold.csv", folder / "out", 0,
                  REAL + ["first_answers=100", *rounds_of(round(500 * ROUND), 7)], 10)
    show("labelme", played)
    order("labelme", played, claims)
    claims.least("labelme: area of dalc over rd, the worse end", sure_gain(played, "dalc", "rd"), 0, 4)
    claims.least("labelme: saved by dalc", saved(played, "dalc") or 0, SAVING)


def once(program, folder, claims):
    """Every task once, so policies with all their answers still have fewer than the reference."""
    played = []
    for seed in CROWDS[:3]:
        crowd = simulate(program, "lftc", folder / f"once{seed}", "--tasks", 4000, "--workers", WORKERS, "--test-tasks", 2000, "--seed", seed)
        played += play(program, crowd / "answers.csv", crowd / "features.npy", crowd / "tasks.csv", crowd / "gold.csv", folder / f"out{seed}", seed,
                       SETTINGS + ["repeats=false", "round_answers=200", "round_epochs=10"])
    show("generator, one answer per task", played)
    mean = {policy: mean_area(played, policy) for policy in POLICIES}
    claims.check("once: rd < ac and ad < dalc in area", " ".join(f"{policy} {value:.4f}" for policy, value in mean.items()),
                 mean["rd"] < mean["ac"] and mean["ad"] < mean["dalc"])


PARTS = {"generator": generator, "fashion": fashion, "sentiment": sentiment, "live": live, "rounds": rounds, "labelme": labelme, "once": once}


if __name__ == "__main__":
    sys.exit(run_parts(__doc__, PARTS))
