#!/usr/bin/env python3
"""Which method when: writes docs/METHODS.md from what methods say of themselves and from what they reach on real data.

DATA holds one folder per data set with labels.csv (task,worker,label) and gold.csv (task,label). Every method runs on
every set with its defaults; gold is used to score only. The held-out score of each method, which needs no gold, is set
beside it, and how well the two rank alike. Without the data, --keep-figures brings the words up to date.
"""
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

PAGE = harness.ROOT / "docs/METHODS.md"
FIGURES = "## What they reach on "


def compared(arguments, folder, gold):
    """One `compare` of all methods: scores by method, None where a method refuses the data."""
    command = [arguments.program, "compare", folder / "labels.csv", "--threads", 1, "--json", "--quiet"]
    if gold:
        command += ["--gold", folder / "gold.csv"]
    rows = json.loads(harness.run(command).output)["methods"]
    return {row["method"]: None if "error" in row else row for row in rows}


def ranks(values):
    """Average ranks, so that ties count alike."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            result[i] = (at + end - 1) / 2
        at = end
    return result


def correlation(a, b):
    n = len(a)
    mean_a, mean_b = sum(a) / n, sum(b) / n
    cov = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    var = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return cov / var ** 0.5 if var > 0 else 0.0


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def shown(value, digits=4):
    return "–" if value is None else f"{value:.{digits}f}"


def limits(method):
    parts = []
    if method["max_classes"]:
        parts.append(f"{method['max_classes']} classes")
    if method["max_workers"]:
        parts.append(f"{method['max_workers']} workers")
    return "at most " + ", ".join(parts) if parts else "none"


def uses_of(methods):
    return harness.table(["method", "when to use it", "what it assumes"],
                         [[f"**{m['name']}** (default)" if m["is_default"] else m["name"], m["when_to_use"], m["assumptions"]] for m in methods])


# Methods for other answers than categories: the name of their list, a heading, and words about it.
OTHER_KINDS = (
    ("number", ["## For answers that are numbers", "",
                "With `--answers numbers` ([NUMBERS.md](NUMBERS.md)); D is the number of dimensions. What these methods reach on real data stands in",
                "their METHOD.md."]),
    ("comparison", ["## For answers that compare two items", "",
                    "With `--answers comparisons` ([COMPARISONS.md](COMPARISONS.md)); N is the number of items, P that of pairs that were compared."]),
    ("similarity", ["## For answers that say same or different", "",
                    "With `--answers similarities` ([SIMILARITIES.md](SIMILARITIES.md)); P is the number of pairs, K of clusters, N of items."]),
    ("set", ["## For answers that are sets of classes", "",
             "With `--answers sets` ([SETS.md](SETS.md)); G is the number of profiles."]),
    ("sequence", ["## For answers that are sequences", "",
                  "With `--answers sequences` ([SEQUENCES.md](SEQUENCES.md)); T is the number of tokens, S that of all tags, K that of different tags. What",
                  "these methods reach on real data stands in [bsc](../src/aggregate/sequences/bsc/METHOD.md)."]),
)


def other_kind(methods, about):
    return [*about, "", uses_of(methods), "",
            harness.table(["method", "cost", "gold"], [[m["name"], m["cost"], "yes" if m["uses_gold"] else "no"] for m in methods]), ""]


SEEN = [
    "## What was settled with gold in view", "",
    "No run sees gold, but some defaults were chosen while accuracies on these very sets were in sight, so their figures are a little too good:", "",
    "- **automatic**: its parts were found on simulated crowds and by hidden answers, the choice among variants with the gold of the 25 real sets in sight,",
    "  several times; [its page](../src/aggregate/categories/automatic/METHOD.md) says how often and what it took.",
    "- **graph_dawid_skene**: the weights by degree, the even prior and the limit of 20 neighbours, on LabelMe.",
    "- **numbers_automatic**: the rule that chooses, on the four sets of numbers.",
    "- **bradley_terry**: the rule for the label of a pair, on ukp_convarg.",
    "",
    "The pages of the other methods name no such choice.",
]


def words(listed):
    """What methods say of themselves."""
    methods = listed["methods"]
    return "\n".join([
        "# Which method when",
        "",
        "Made by `bench/quality/methods_page.py`; do not edit. S, N, M and K are the numbers of answers, tasks, workers and classes.",
        "",
        "Start with the plain `wisecrowd aggregate ANSWERS`. If you know the truth of some tasks, `wisecrowd compare ANSWERS --gold GOLD`",
        "tells more than this page; if you do not, `wisecrowd compare ANSWERS` scores methods by answers that were held out.",
        "",
        "## What they are for",
        "",
        uses_of(methods),
        "",
        "## What they cost and can do",
        "",
        "*Gold*: learns from known truths. *Task priors*: takes class probabilities per task. *Start*: can begin from another method",
        "(`--init`). m_i is the number of answers to task i; P counts pairs of workers who share tasks, C communities, G subtypes.",
        "",
        harness.table(["method", "cost", "gold", "task priors", "start", "limits"],
                      [[m["name"], m["cost"], *("yes" if m[key] else "no" for key in ("uses_gold", "uses_task_priors", "uses_start")), limits(m)] for m in methods]),
        "",
        *(line for kind, about in OTHER_KINDS for line in other_kind(listed[f"{kind}_methods"], about)),
        *SEEN,
        "",
        "",
    ])


def page(listed, folders, scored, hidden):
    methods = listed["methods"]
    names = [method["name"] for method in methods]
    complete = [name for name in names if all(scored[folder.name][name] for folder in folders)]
    accuracy = {name: {f.name: scored[f.name][name] and scored[f.name][name]["accuracy"]["value"] for f in folders} for name in names}
    average = {name: mean(v for v in accuracy[name].values() if v is not None) for name in names}
    seconds = {name: sum(scored[f.name][name]["seconds"] for f in folders if scored[f.name][name]) for name in names}
    loss = {name: mean(scored[f.name][name]["log_loss"]["value"] for f in folders if scored[f.name][name]) for name in names}
    ece = {name: mean(scored[f.name][name]["ece"]["value"] for f in folders if scored[f.name][name]) for name in names}
    lines = [
        f"{FIGURES}{len(folders)} real sets",
        "",
        "Accuracy with the defaults of each method. Log-loss and ECE (expected calibration error) are means over sets; smaller is better.",
        "Seconds are those of all sets together in one thread. A method that does not take a set (too many classes) is left out there, so",
        "its mean is over fewer sets.",
        "",
        harness.table(["method", "mean", "log-loss", "ECE", "seconds", *(f.name for f in folders)],
                      [[name, shown(average[name]) + ("" if name in complete else "*"), shown(loss[name], 3), shown(ece[name], 3), shown(seconds[name], 2),
                        *(shown(accuracy[name][f.name]) for f in folders)]
                       for name in sorted(names, key=lambda n: (n not in complete, -(average[n] or 0)))]),
        "",
        "\\* not on all sets",
    ]
    rows, all_ranks = [], ([], [])
    for folder in folders:
        both = [n for n in names if scored[folder.name][n] and hidden[folder.name][n]]
        gold_ranks = ranks([accuracy[n][folder.name] for n in both])
        held_ranks = ranks([hidden[folder.name][n]["log_probability"]["value"] for n in both])
        best = max(both, key=lambda n: hidden[folder.name][n]["log_probability"]["value"])
        rows.append([folder.name, f"{correlation(gold_ranks, held_ranks):.2f}", best, shown(accuracy[best][folder.name]),
                     shown(max(accuracy[n][folder.name] for n in both))])
        all_ranks[0].extend(r / len(both) for r in gold_ranks)
        all_ranks[1].extend(r / len(both) for r in held_ranks)
    lines += [
        "",
        "## Do held-out answers rank methods as gold does?",
        "",
        "Spearman's rank correlation, over methods, of held-out log-probability and accuracy; and the accuracy of the method that predicts",
        "held-out answers best. The correlation is 1 where held-out answers rank methods as gold does.",
        "",
        harness.table(["set", "rank correlation", "predicts best", "its accuracy", "best accuracy"], rows),
        "",
        f"Mean over sets {mean(float(row[1]) for row in rows):.2f}; all ranks together {correlation(*all_ranks):.2f}.",
        "",
    ]
    return words(listed) + "\n".join(lines)


def main():
    parser = harness.page_parser(__doc__.splitlines()[0])
    default = os.environ.get("WISECROWD_DATA")
    default = Path(default) if default else harness.ROOT.parent / "shared/data"
    parser.add_argument("--data", type=Path, default=default / "aggregate", help="folder of data sets")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    listed = json.loads(harness.run([arguments.program, "methods", "--json"]).output)
    methods = listed["methods"]
    if arguments.keep_figures or arguments.check:
        return harness.renew_words(PAGE, words(listed), FIGURES, arguments.check)
    folders = sorted(path.parent for path in arguments.data.glob("*/gold.csv") if (path.parent / "labels.csv").is_file())
    if not folders:
        harness.stop(f"no data sets (…/labels.csv with gold.csv) under {arguments.data}: name a folder with --data")
    with ThreadPoolExecutor(arguments.threads) as pool:
        jobs = {(f.name, gold): pool.submit(compared, arguments, f, gold) for f in folders for gold in (True, False)}
        results = {key: job.result() for key, job in jobs.items()}
    scored = {f.name: results[f.name, True] for f in folders}
    hidden = {f.name: results[f.name, False] for f in folders}
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(listed, folders, scored, hidden))
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
