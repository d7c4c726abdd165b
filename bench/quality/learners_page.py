#!/usr/bin/env python3
"""Which learner when: writes docs/LEARNERS.md from what learners say of themselves and from what they reach on LabelMe.

SET holds labels.csv, features.npy, tasks.csv and gold.csv. Every learner runs with its defaults and several seeds; no
gold is used but for scoring. Figures at the last epoch stand beside those at the epoch that held-out answers chose.
--only runs some of the rows and keeps the others as the cache has them. Without the data, --keep-figures brings the words up to date.
"""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, stdev

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

PAGE = harness.ROOT / "docs/LEARNERS.md"
FIGURES = "## What they reach on LabelMe"
# Rows of the table that are a learner with other settings than its own.
VARIANTS = {
    "two_stage": {"two_stage, aggregator=majority_vote": ["aggregator=majority_vote"],
                  "two_stage, aggregator=dawid_skene": ["aggregator=dawid_skene"]},
}


def fitted(arguments, learner, settings, seed):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [arguments.program, "learn", arguments.set / "labels.csv", "--features", arguments.set / "features.npy",
                   "--tasks", arguments.set / "tasks.csv", "--gold", arguments.set / "gold.csv", "--method", learner["name"],
                   "--seed", seed, "--threads", 1, "--quiet", "--out", out]
        if learner["linear_only"]:
            command += ["--model", "linear"]
        for setting in settings:
            command += ["--set", setting]
        measured = harness.run(command)
        record = json.loads((out / "run.json").read_text())
    scores = record["evaluation"]
    return {"seconds": measured.processor_seconds, "chosen_epoch": record["chosen_epoch"],
            **{f"{part}_{when}": scores[part][f"{when}_epoch"]["accuracy"]["value"]
               for part in ("test_rows", "answered_tasks") for when in ("chosen", "last")},
            "log_loss": scores["test_rows"]["chosen_epoch"]["log_loss"]["value"]}


def shown(runs, key, digits=3):
    values = [run[key] for run in runs]
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 and digits == 3 else ""
    return f"{mean(values):.{digits}f}{spread}"


def words(learners):
    """What learners say of themselves."""
    return "\n".join([
        "# Which learner when",
        "",
        "Made by `bench/quality/learners_page.py`; do not edit. S, M and K are the numbers of answers, workers and classes.",
        "",
        "Start with the plain `wisecrowd learn`. `wisecrowd compare ANSWERS --features F` scores learners on your own data by held-out answers;",
        "with `--gold` it scores them by the truth too. Experiments of the papers, run again: [REPRODUCTIONS.md](REPRODUCTIONS.md).",
        "",
        "## What they are for",
        "",
        harness.table(["learner", "when to use it", "what it assumes", "cost beside the network"],
                      [[f"**{l['name']}** (default)" if l["is_default"] else l["name"], l["when_to_use"], l["assumptions"], l["cost"]]
                       for l in learners]),
        "",
        "",
    ])


def page(learners, rows, seeds):
    lines = [
        FIGURES,
        "",
        f"1,000 images answered 2,547 times by 59 people, 512 features each, 8 classes; 1,188 test images that nobody answered. Means of {seeds}",
        "seeds with a hidden layer of 128 units and dropout 0.5 (linear where the learner wants it). Test: the classifier alone. Tasks: the",
        "answered images, by classifier and answers together. Gold is only for scoring: the chosen epoch is the one that predicts held-out",
        "answers best. Seconds are processor time of one run in one thread.",
        "",
        "No run sees gold, but some defaults were settled on this very set while its test accuracy was in view: decoupled decay, input dropout and averaged",
        "weights of all learners, max_mig's worker rate, and raykar's logit_penalty (its row was .791 before). These figures are flattered by that;",
        "expect less on data that nobody has looked at.",
        "",
        harness.table(["learner", "test, chosen epoch", "test, last epoch", "log-loss", "tasks, chosen epoch", "tasks, last epoch", "seconds"],
                      [[name, shown(runs, "test_rows_chosen"), shown(runs, "test_rows_last"), shown(runs, "log_loss", 2),
                        shown(runs, "answered_tasks_chosen"), shown(runs, "answered_tasks_last"), shown(runs, "seconds", 1)]
                       for name, runs in sorted(rows.items(), key=lambda row: -mean(r["test_rows_chosen"] for r in row[1]))]),
        "",
    ]
    return words(learners) + "\n".join(lines)


def main():
    parser = harness.page_parser(__doc__.splitlines()[0])
    default = os.environ.get("WISECROWD_DATA")
    default = Path(default) if default else harness.ROOT.parent / "shared/data"
    parser.add_argument("--set", type=Path, default=default / "learn/labelme", help="folder of the data set")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each learner")
    parser.add_argument("--only", nargs="*", help="learners to measure anew")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    learners = json.loads(harness.run([arguments.program, "methods", "--json"]).output)["learners"]
    if arguments.keep_figures or arguments.check:
        return harness.renew_words(PAGE, words(learners), FIGURES, arguments.check)
    if not (arguments.set / "features.npy").is_file():
        harness.stop(f"no features.npy under {arguments.set}: name the folder with --set")
    cache = arguments.cache / "learners.json"
    rows = json.loads(cache.read_text()) if arguments.only and cache.is_file() else {}
    with ThreadPoolExecutor(arguments.threads) as pool:
        jobs = {}
        for learner in learners:
            if arguments.only and learner["name"] not in arguments.only:
                continue
            for name, settings in VARIANTS.get(learner["name"], {learner["name"]: []}).items():
                jobs[name] = [pool.submit(fitted, arguments, learner, settings, seed + 1) for seed in range(arguments.seeds)]
        rows.update({name: [job.result() for job in runs] for name, runs in jobs.items()})
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps(rows, indent=1))
    PAGE.write_text(page(learners, rows, arguments.seeds))
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
