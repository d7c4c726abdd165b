#!/usr/bin/env python3
"""Learners on seven crowds at once, real and drawn: how they stand to a network trained on majority votes.

Two judges. `--judge answers` uses no gold: a fifth of the answered tasks is hidden, the learner sees the others, and
its classifier is scored on the hidden ones by what all answers say of them: by the mean probability that the class it
names has in the posterior g of the plain `aggregate` of all answers ("agreement", an estimate of accuracy), and by the
mean of log Σ_k f_k g_k/π_k, with π the mean of g ("information"). Settings are chosen by these. `--judge gold` trains
on all answered tasks and takes the accuracy on the test rows, which nobody answered. A cell that was run is kept in
CACHE (with the program's version in its key, if --stamp names one): the command resumes where it was stopped.
"""
import csv
import hashlib
import json
import math
import os
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import learner_sets  # noqa: E402

YARDSTICK = "two_stage:aggregator=majority_vote"
HIDDEN = 0.2


def hide(folder, seed, scratch):
    """Answers and tasks without the answers to a fifth of the train tasks; the names of those."""
    answers = learner_sets.table(folder / "answers.csv")
    tasks = sorted({row["task"] for row in answers})
    hidden = set(random.Random(seed).sample(tasks, round(HIDDEN * len(tasks))))
    learner_sets.write(scratch / "answers.csv", "task,worker,label",
                       [(row["task"], row["worker"], row["label"]) for row in answers if row["task"] not in hidden])
    learner_sets.write(scratch / "tasks.csv", "task,row,split",
                       [(row["task"], row["row"], "valid" if row["task"] in hidden else row["split"]) for row in learner_sets.table(folder / "tasks.csv")])
    return hidden


def crowd_posterior(arguments, folder):
    """What all answers say of each task, features unseen; found once for a set."""
    if not (folder / "aggregated" / "labels.csv").is_file():
        harness.run([arguments.program, "aggregate", folder / "answers.csv", "--threads", 1, "--quiet", "--out", folder / "aggregated"])
    return probabilities(folder / "aggregated" / "labels.csv")


def probabilities(path):
    with open(path, newline="") as file:
        return {row["task"]: {name[2:]: float(value) for name, value in row.items() if name.startswith("p_")} for row in csv.DictReader(file)}


def judged(predicted, crowd, hidden):
    """Agreement and information of the hidden tasks."""
    prior = defaultdict(float)
    for row in crowd.values():
        for label, p in row.items():
            prior[label] += p / len(crowd)
    # A class that an overconfident classifier rules out costs at most log 1e-3: one row must not decide.
    told = [math.log(max(sum(predicted[task].get(label, 0) * p / prior[label] for label, p in crowd[task].items() if p > 0), 1e-3))
            for task in sorted(hidden)]
    agreed = [crowd[task].get(max(predicted[task], key=predicted[task].get), 0) for task in sorted(hidden)]
    return {"score": mean(agreed), "information": mean(told)}


def one(arguments, name, learner, seed):
    folder = learner_sets.prepare(arguments, name, seed)
    method, *settings = learner.split(":")
    with tempfile.TemporaryDirectory(dir=arguments.cache) as text:
        scratch = Path(text)
        data, hidden = folder, set()
        if arguments.judge == "answers":
            data, hidden = scratch, hide(folder, seed, scratch)
        features = ["--features", folder / "text.csv", "--text-columns", learner_sets.TEXT_COLUMNS] if name == "sentiment" else ["--features", folder / "features.npy"]
        command = [arguments.program, "learn", data / "answers.csv", *features, "--tasks", data / "tasks.csv", "--method", method,
                   "--seed", seed, "--threads", 1, "--quiet", "--out", scratch / "out"]
        if arguments.judge == "gold":
            command += ["--gold", folder / "gold.csv"]
        if method in arguments.linear_only:
            command += ["--model", "linear"]
        for setting in settings:
            command += ["--model", setting[6:]] if setting.startswith("model=") else ["--set", setting]
        measured = harness.run(command)
        result = {"seconds": measured.processor_seconds}
        if arguments.judge == "answers":
            result |= judged(probabilities(scratch / "out" / "labels.csv"), crowd_posterior(arguments, folder), hidden)
        else:
            scores = json.loads((scratch / "out" / "run.json").read_text())["evaluation"]
            result |= {"score": scores["test_rows"]["chosen_epoch"]["accuracy"]["value"],
                       "log_loss": scores["test_rows"]["chosen_epoch"]["log_loss"]["value"],
                       "tasks": scores["answered_tasks"]["chosen_epoch"]["accuracy"]["value"]}
    return result


def cell(arguments, name, learner, seed):
    """One run, or what an earlier one found."""
    key = f"{arguments.stamp} {arguments.judge} {name} {learner} {seed}"
    path = arguments.cache / "learner_protocol" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    if path.is_file():
        return json.loads(path.read_text())
    result = {"cell": key, **one(arguments, name, learner, seed)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))
    harness.progress(f"{key}: {result['score']:.4f} in {result['seconds']:.1f} s")
    return result


def shown(runs, figure):
    values = [run[figure] for run in runs]
    return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


def report(found, learners, names, figure):
    """One row per learner, the best mean first; cells below the yardstick on the same seeds are marked."""
    def difference(learner, name):
        return mean(run[figure] for run in found[learner, name]) - mean(run[figure] for run in found[YARDSTICK, name])

    rows = []
    for learner in sorted(learners, key=lambda l: -mean(difference(l, name) for name in names)):
        marks = [shown(found[learner, name], figure) + (" ▼" if difference(learner, name) < 0 else "") for name in names]
        rows.append([learner, *marks, f"{mean(difference(learner, name) for name in names):+.4f}",
                     f"{mean(run['seconds'] for name in names for run in found[learner, name]):.1f}"])
    return harness.table([f"learner ({figure})", *names, "over the yardstick", "seconds"], rows)


def main():
    parser = harness.parser(__doc__.splitlines()[0])
    default = os.environ.get("WISECROWD_DATA")
    parser.add_argument("--data", type=Path, default=Path(default) if default else harness.ROOT.parent / "shared/data", help="folder of the data")
    parser.add_argument("--judge", choices=["answers", "gold"], default="answers", help="what scores a classifier")
    parser.add_argument("--sets", default=",".join(learner_sets.NAMES), help="which sets")
    parser.add_argument("--learners", help="learners, each with settings after colons (max_mig:warm_up=5:model=linear); all without")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each cell, from 1 on")
    parser.add_argument("--stamp", default="", help="names the version of the program in the keys of the cache")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    known = json.loads(harness.run([arguments.program, "methods", "--json"]).output)["learners"]
    arguments.linear_only = {learner["name"] for learner in known if learner["linear_only"]}
    learners = arguments.learners.split(",") if arguments.learners else [learner["name"] for learner in known]
    learners += [YARDSTICK] if YARDSTICK not in learners else []
    names = arguments.sets.split(",")
    arguments.cache.mkdir(parents=True, exist_ok=True)
    found = defaultdict(list)
    for seed in range(1, arguments.seeds + 1):
        for name in names:
            for learner in learners:
                found[learner, name].append(cell(arguments, name, learner, seed))
    runs = [{"learner": learner, "set": name, **run} for (learner, name), cells in found.items() for run in cells]
    figures = {"answers": ("score", "information"), "gold": ("score", "tasks")}[arguments.judge]
    harness.deliver(arguments, {"judge": arguments.judge, "runs": runs}, "\n\n".join(report(found, learners, names, figure) for figure in figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
