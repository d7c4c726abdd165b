#!/usr/bin/env python3
"""Pages to test the report's page with, from made-up data: the page alone is tested here, not the engine.

    fixtures.py TEMPLATE OUT

writes OUT/NAME.html for every kind below. The figures are drawn at random from a fixed seed.
"""
import html
import json
import math
import random
import sys
from pathlib import Path

from number_fixtures import number_data

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(3)>",
    "\"'><svg onload=alert(4)>",
    "javascript:alert(5)",
    "&lt;b&gt;&amp;#39;",
    "{{constructor.constructor('alert(6)')()}}",
    "${alert(7)}",
    "🦄🧑‍🚀👩🏽‍🔬 émøji ✨",
    "مرحبا بالعالم",
    "שלום עולם",
    "\u202eevil desrever\u202c",
    "line one\nline two\ttab",
    "\u2028\u2029\u0000\u0007",
    "",
    "   ",
    "__proto__",
    "constructor",
    "W" * 120 + "…" + "W" * 40,
    "🦄" * 60,
    "نص طويل جدا " * 14,
    "a'; DROP TABLE workers; --",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘",
]


def rounded(value, digits=4):
    return None if value is None else round(value, digits)


class Maker:
    def __init__(self, seed, tasks, workers, classes, shown_tasks, shown_workers, total_tasks=None, total_workers=None):
        self.random = random.Random(seed)
        self.tasks, self.workers, self.classes = tasks, workers, classes
        self.shown_tasks, self.shown_workers = shown_tasks, shown_workers
        self.total_tasks, self.total_workers = total_tasks or len(tasks), total_workers or len(workers)

    def interval(self, value, spread):
        return rounded(max(0.0, value - spread)), rounded(min(1.0, value + spread))

    def distribution(self, length, at, weight):
        rest = [self.random.expovariate(1) for _ in range(length)]
        scale = (1 - weight) / sum(rest)
        row = [value * scale for value in rest]
        row[at] += weight
        return row

    def worker_columns(self):
        names = self.workers[: self.shown_workers]
        columns = {key: [] for key in ("name", "answers", "accuracy", "low", "high", "gold_answers", "gold_accuracy", "gold_low",
                                       "gold_high", "bits", "spam", "spam_low", "spam_high", "advice", "reason", "agreement")}
        confusion, counts = [], []
        k = min(len(self.classes), 12)
        for i, name in enumerate(names):
            answers = max(1, int(self.random.lognormvariate(4, 1.2)))
            skill = self.random.betavariate(8, 2) if i % 7 else 1 / len(self.classes)
            spread = min(0.45, 1 / math.sqrt(answers))
            low, high = self.interval(skill, spread)
            advice = "unsure" if answers < 12 else "stop" if skill < 0.4 else "retrain" if skill < 0.7 else "keep"
            spam = max(0.0, 1 - skill)
            columns["name"].append(name)
            columns["answers"].append(answers)
            columns["accuracy"].append(rounded(skill))
            columns["low"].append(low)
            columns["high"].append(high)
            gold = answers // 4
            columns["gold_answers"].append(gold)
            columns["gold_accuracy"].append(rounded(skill) if gold else None)
            columns["gold_low"].append(low if gold else None)
            columns["gold_high"].append(high if gold else None)
            columns["bits"].append(rounded(skill * math.log2(len(self.classes) + 1)))
            columns["spam"].append(rounded(spam))
            columns["spam_low"].append(rounded(max(0, spam - spread)))
            columns["spam_high"].append(rounded(min(1, spam + spread)))
            columns["advice"].append(advice)
            columns["reason"].append(f"right in {100 * skill:.0f} % of {answers} answers")
            columns["agreement"].append(rounded(skill * 0.95))
            if i % 5 == 4 and len(names) > 10:
                confusion.append(None)
                counts.append(None)
            else:
                rows = [self.distribution(k, c, skill) for c in range(k)]
                confusion.append([round(value, 3) for row in rows for value in row])
                counts.append([round(value * answers / k, 1) for row in rows for value in row])
        columns.update(total=self.total_workers, shown=len(names), chosen_by="those with most answers, the worst and the best")
        return columns, {"classes": list(range(k)), "share": confusion, "counts": counts}

    def task_columns(self):
        names = self.tasks[: self.shown_tasks]
        columns = {key: [] for key in ("name", "label", "probability", "entropy", "answers", "gold", "posterior", "said", "more_said", "why")}
        for i, name in enumerate(names):
            label = self.random.randrange(len(self.classes))
            probability = self.random.uniform(1 / len(self.classes), 0.9)
            row = self.distribution(len(self.classes), label, probability)
            top = sorted(range(len(row)), key=lambda c: -row[c])[:5]
            gold = self.random.randrange(len(self.classes)) if i % 2 else None
            said = [[self.random.choice(self.workers), self.random.randrange(len(self.classes)), rounded(self.random.random())]
                    for _ in range(self.random.randrange(0, 9))]
            columns["name"].append(name)
            columns["label"].append(None if i % 17 == 16 else label)
            columns["probability"].append(rounded(row[label]))
            columns["entropy"].append(rounded(-sum(p * math.log(p) for p in row if p > 0)))
            columns["answers"].append(len(said) + (3 if i % 9 == 8 else 0))
            columns["gold"].append(gold)
            columns["posterior"].append([[c, rounded(row[c])] for c in top])
            columns["said"].append(said)
            columns["more_said"].append(3 if i % 9 == 8 else 0)
            columns["why"].append((["wrong on gold"] if gold not in (None, label) else []) + (["torn"] if row[label] < 0.6 else ["few answers"]))
        columns.update(total=self.total_tasks, shown=len(names), chosen_by="wrong on gold first, then the least sure")
        return columns

    def data(self, title, kind="aggregate"):
        workers, confusion = self.worker_columns()
        tasks = self.task_columns()
        k = len(self.classes)
        shares = [1 / (c + 2) for c in range(k)]
        shares = [value / sum(shares) for value in shares]
        small = min(k, 30)
        crowd = [self.distribution(small, c, 0.7) for c in range(small)]
        answers = sum(workers["answers"])
        advice = {name: workers["advice"].count(name) for name in ("keep", "retrain", "check", "stop", "unsure")}
        methods = ["dawid_skene", "majority_vote", "wawa", "one_coin", "ibcc"]
        epochs = list(range(1, 31))
        used = [self.random.randrange(12) for _ in range(20)]
        data = {
            "schema": 1,
            "program": {"name": "wisecrowd", "version": "0.1.0"},
            "kind": kind,
            "title": title,
            "run": {"method": "dawid_skene", "method_title": "Dawid–Skene", "method_summary": "Confusion matrix per worker, by EM.",
                    "parameters": [{"name": "max_iterations", "value": 100}, {"name": "tolerance", "value": 1e-6}], "stages": [], "seed": 1,
                    "iterations": 23, "status": "converged", "seconds": 0.42, "timings": [{"stage": "read", "seconds": 0.1}, {"stage": "fit", "seconds": 0.3}],
                    "command": f"wisecrowd aggregate '{title}' --out out", "data_hash": "0123456789abcdef", "inputs": [{"role": "answers", "path": title}],
                    "gold_tasks": 54, "gold_use": "kept for scoring"},
            "counts": {"tasks": self.total_tasks, "workers": self.total_workers, "classes": k, "answers": answers,
                       "answers_per_task": rounded(answers / self.total_tasks), "answers_per_worker": rounded(answers / self.total_workers),
                       "tasks_without_answers": 0, "abstained": 0},
            "headlines": [
                {"id": "accuracy", "label": "Accuracy", "value": 0.889, "low": 0.816, "high": 0.935, "unit": "share",
                 "words": "About 89 of 100 labels are right; between 82 and 94 with 95 % confidence.", "kind": "measured on gold"},
                {"id": "sure", "label": "Sure labels", "value": 0.93, "unit": "share", "words": "93 of 100 labels are at least 95 % sure.", "kind": "estimated by the model"},
                {"id": "workers", "label": "Workers to stop", "value": advice["stop"], "unit": "count", "words": "Their answers say next to nothing.", "kind": "estimated by the model"},
                {"id": "agreement", "label": "Agreement", "value": 0.71, "low": 0.69, "high": 0.73, "unit": "share", "words": "Two workers agree in 71 of 100 cases.", "kind": "counted"},
            ],
            "verdict": "The labels are good enough to train with. Three workers in ten should be stopped. A tenth of the tasks need another look.",
            "warnings": [
                {"severity": "note", "title": "Few gold tasks", "words": "Accuracy is known to ±6 points only.", "remedy": "Label 50 more tasks by experts."},
                {"severity": "serious", "title": "Workers who answer at random", "words": "12 % of the answers come from them.", "remedy": "Stop asking them and fit again."},
            ],
            "classes": {"name": self.classes, "answers": [int(answers * s) for s in shares], "answer_share": [rounded(s * 0.9) for s in shares],
                        "tasks": [int(self.total_tasks * s) for s in shares], "task_share": [rounded(s) for s in shares],
                        "task_share_low": [rounded(s * 0.9) for s in shares], "task_share_high": [rounded(s * 1.1) for s in shares], "prior": [rounded(s) for s in shares]},
            "crowd_confusion": {"classes": list(range(small)), "share": [[rounded(v, 3) for v in row] for row in crowd],
                                "answers": [[round(v * 40, 1) for v in row] for row in crowd]},
            "workers": workers,
            "worker_confusion": confusion,
            "advice_counts": advice,
            "tasks": tasks,
            "task_histogram": {"edges": [rounded(0.05 * i) for i in range(21)], "count": [int(self.total_tasks * 0.02 * (1 + 0.2 * i)) for i in range(20)]},
            "answers_per_task_histogram": {"edges": [1, 2, 3, 4, 5, 6, 7], "count": [3, 8, 20, 30, 12, 5]},
            "answers_per_worker_histogram": {"edges": [1, 2, 4, 8, 16, 32, 64, 128, 256], "count": [1, 2, 5, 9, 12, 8, 4, 1]},
            "agreement": {"share": 0.712, "low": 0.69, "high": 0.733, "krippendorff_alpha": 0.42, "pairs": 12345},
            "graph": {"components": 2, "largest_task_share": 0.97, "largest_worker_share": 0.95,
                      "sizes": [{"tasks": 105, "workers": 37, "answers": 4200}, {"tasks": 3, "workers": 2, "answers": 6}],
                      "sample": {"tasks": tasks["name"][:12], "workers": workers["name"][:12],
                                 "edges": [[i % min(12, len(tasks["name"])), w % min(12, len(workers["name"]))] for i, w in enumerate(used)]}},
            "convergence": {"objective": "log likelihood", "trace": [-5000 * (1 + math.exp(-0.4 * i)) for i in range(23)], "every": 1, "status": "converged"},
            "comparison": {"by": "gold", "rows": [{"method": m, "accuracy": rounded(0.889 - 0.02 * i), "low": rounded(0.83 - 0.02 * i), "high": rounded(0.94 - 0.02 * i),
                                                   "agreement_with_result": rounded(1 - 0.03 * i), "seconds": 0.01 * (i + 1), "this": i == 0} for i, m in enumerate(methods)]
                           + [{"method": "kos", "accuracy": None, "note": "for two classes only", "this": False}]},
            "calibration": {"bins": [{"low": rounded(0.1 * i), "high": rounded(0.1 * i + 0.1), "confidence": rounded(0.1 * i + 0.05), "accuracy": rounded(0.1 * i + 0.02),
                                      "accuracy_low": rounded(max(0, 0.1 * i - 0.05)), "accuracy_high": rounded(0.1 * i + 0.09), "tasks": 5 + 3 * i} for i in range(4, 10)],
                            "ece": 0.031, "brier": 0.12, "log_loss": 0.4},
            "gold": {"tasks": 108, "accuracy": 0.889, "low": 0.816, "high": 0.935, "classes": list(range(min(k, 8))),
                     "confusion": [[40 if r == c else 3 for c in range(min(k, 8))] for r in range(min(k, 8))],
                     "per_class": [{"class": c, "precision": 0.9, "recall": 0.85, "f1": 0.874, "tasks": 20} for c in range(min(k, 8))],
                     "wrong": [{"task": self.tasks[i % len(self.tasks)], "label": 0, "gold": min(1, k - 1), "probability": rounded(0.99 - 0.01 * i)} for i in range(12)]},
            "sampling": [f"{len(tasks['name'])} of {self.total_tasks} tasks are listed, {len(workers['name'])} of {self.total_workers} workers."],
        }
        if self.total_workers > len(workers["name"]):
            data["worker_density"] = {"answers_edges": [1, 10, 100, 1000], "accuracy_edges": [rounded(0.1 * i) for i in range(11)],
                                      "count": [[(i + 1) * j * 7 for j in range(10)] for i in range(3)]}
        if kind == "learn":
            data["learning"] = {
                "curves": [{"name": "loss", "epochs": epochs, "value": [rounded(2 * math.exp(-0.1 * e) + 0.3) for e in epochs]},
                           {"name": "held-out accuracy", "epochs": epochs, "value": [rounded(0.9 - 0.5 * math.exp(-0.2 * e)) for e in epochs]},
                           {"name": "test accuracy", "epochs": epochs, "value": [rounded(0.87 - 0.5 * math.exp(-0.2 * e)) for e in epochs]}],
                "chosen_epoch": 21, "network": "512-128-8",
                "scores": [{"part": "test_rows", "words": "rows kept for testing", "accuracy": 0.87, "low": 0.85, "high": 0.89, "tasks": 1188, "last": 0.86}]}
            data["savings"] = {
                "policies": [{"name": name, "answers": list(range(0, 5000, 250)), "accuracy": [rounded(0.89 - 0.4 * math.exp(-speed * i)) for i in range(20)],
                              "low": [rounded(0.87 - 0.4 * math.exp(-speed * i)) for i in range(20)], "high": [rounded(0.91 - 0.4 * math.exp(-speed * i)) for i in range(20)]}
                             for name, speed in (("random", 0.15), ("expected information", 0.35))],
                "accuracy_of_all": 0.889, "rows": [{"policy": "expected information", "needed": 2100, "saved": 0.42, "low": 0.38, "high": 0.46}]}
        data["fairness"] = fairness_data(self.workers, self.classes)
        if len(workers["name"]) > 10:
            data["trust"] = trust_data(workers)
        return data


def trust_data(workers):
    """Groups of workers with their pairs, those who answer for themselves, and timelines of which some have an alarm."""
    names = workers["name"][:180]
    sizes = [5, 2] if len(names) < 100 else [24, 12, 12, 3]
    groups, group_of, edges, place = [], [], [], 0
    for g, size in enumerate(sizes):
        groups.append({"kind": ("colluders", "copies", "camp", "given")[g], "workers": size if g else size + 4, "drawn": size, "answers": 40 * size,
                       "common_tasks": 40, "agreement": 0.97, "expected": 0.61, "contradicts": 0.3, "one_voice": g == 0})
        group_of += [g] * size
        edges += [[place + a, place + b, 40, 39, 25.2, 0.9 if g else 0.3] for a in range(size) for b in range(a + 1, size)]
        place += size
    edges.append([0, sizes[0], 40, 33, 25.2, 0.2])  # from one group to another
    nodes = {key: workers[key][:len(names)] for key in ("answers", "accuracy", "advice")}
    alarm = {"began": 151, "ends": None, "raised": 168, "before": 0.9, "lately": 0.4, "words": "Right in 40.0 %, from its answer 151 on; in 90.0 % otherwise."}
    lines = [{"worker": name, "stretches": [[25, 0.4 if i < 8 and s > 5 else 0.92] for s in range(12)], "when": "From 2024-01-01 to 2024-02-01.",
              "guessing": 0.33, "alarms": [alarm] if i < 8 else []} for i, name in enumerate(names[:20])]
    return {"words": None,
            "findings": [{"advice": "stop", "title": f"Group 1: {sizes[0] + 4} workers contradict the rest as one", "words": f"{names[0]}, {names[1]} and 7 more.",
                          "to_do": "Stop asking them."}],
            "picture": {"groups": groups, "nodes": {"name": names, "group": group_of + [None] * (len(names) - len(group_of)), **nodes}, "edges": edges,
                        "pairs": len(edges) + 90, "alone": len(names) - len(group_of), "left_out": "Drawn are some of them."},
            "timelines": {"order": "dates", "looked_at": 20, "workers": lines},
            "limits": ["2 workers gave too few answers to be judged."]}


def fairness_data(workers, groups):
    """Three groups, the first of which is treated otherwise; names as hostile as those of workers and classes."""
    groups = (list(groups) * 3)[:3]
    measures = ["demographic_parity", "equal_opportunity", "false_positive_rate", "equalised_odds", "accuracy"]
    gaps = [{"labels": labels, "measure": measure, "positive": groups[-1], "value": rounded(0.05 * i + 0.03), "low": rounded(max(0, 0.05 * i - 0.04)),
             "high": rounded(0.05 * i + 0.1), "highest": groups[0], "lowest": groups[1], "truth": "gold" if i else "",
             "rates": [] if measure == "equalised_odds" else [0.6, 0.4, None]}
            for i, measure in enumerate(measures) for labels in ("answers", "labels", "labels_by_group")]
    gap = {"value": 0.31, "low": 0.1, "high": 0.5}
    return {"column": "site", "reference": groups[1], "groups": [{"name": name, "tasks": 40, "gold_tasks": 12} for name in groups], "gaps": gaps,
            "workers": [{"worker": worker, "group": groups[0], "positive": groups[-1], "answers": 80, "false_positive": gap, "true_positive": {**gap, "value": None},
                         "biased": i < 2} for i, worker in enumerate(workers[:5])],
            "words": "The widest gap of the labels beyond chance is in accuracy: 23.0 points."}


def hostile(length, prefix):
    names = [*HOSTILE]
    while len(names) < length:
        names.append(f"{prefix} {len(names)} {HOSTILE[len(names) % len(HOSTILE)]}"[:200])
    return names[:length]


def numbered(length, prefix):
    return [f"{prefix}{i:05d}" for i in range(1, length + 1)]


def judges_data():
    """What `wisecrowd judges` found of three machines, one of which gives probabilities."""
    def around(value, half=0.04):
        return {"value": value, "low": value - half, "high": value + half}

    names = ["gpt <b>large</b>", "gpt small", "a judge with a rather long name, and its prompt/v2"]
    rows = [{"name": name, "kind": "machine", "family": "gpt" if i < 2 else "", "tasks": 400, "accuracy": around(0.8 - 0.07 * i), "against_people": around(0.79 - 0.07 * i),
             "agreement": around(0.7 - 0.05 * i), "base_rate": 0.45, "kappa": around(0.5 - 0.1 * i), "consistency": around(0.9), "order_consistency": around(0.7),
             "temperature": 2.4 if i == 0 else None, "more_answers": 120 * i} for i, name in enumerate(names)]
    nothing = {"value": None, "low": None, "high": None}
    rows += [{"name": f"person {i}", "kind": "human", "family": "", "tasks": 90 - i, "accuracy": around(0.85), "against_people": nothing, "agreement": around(0.7),
              "base_rate": 0.45, "kappa": around(0.5), "consistency": nothing, "order_consistency": nothing, "temperature": None, "more_answers": None} for i in range(12)]
    biases = [{"name": name, "bias": bias, "effect": around(0.4 * (2 - i), 0.3), "share": around(0.6 - 0.05 * i, 0.06), "answers": 400, "clear": i == 0}
              for i, name in enumerate(names) for bias in ("position", "length", "self_preference")]
    calibration = [{"name": names[0], "when": when, "confidence": 0.45 + 0.1 * b, "right": 0.45 + (0.09 if when == "calibrated" else 0.05) * b, "tasks": 20 + 10 * b}
                   for when in ("raw", "calibrated") for b in range(6)]
    items = [{"name": f"model {i}", "score": 2 - 0.2 * i, "low": 1.6 - 0.2 * i, "high": 2.4 - 0.2 * i, "rank": i + 1, "rank_low": max(1, i), "rank_high": i + 3, "comparisons": 40,
              "by_people": i + 1} for i in range(20)]
    return {"schema": 1, "program": {"name": "wisecrowd", "version": "0.1.0"}, "kind": "aggregate", "answers_kind": "judges", "title": "judges", "run": {"method": "judges", "seed": 1},
            "counts": {"tasks": 400, "workers": 15, "answers": 2200}, "warnings": [], "verdict": "3 machines were looked at beside 12 other workers.",
            "headlines": [{"id": "best", "label": "Best machine", "value": 0.79, "low": 0.75, "high": 0.83, "unit": "share", "words": "By people.", "kind": "estimated"}],
            "judges": rows, "biases": biases, "calibration": calibration, "scores_in_points": False,
            "prevalence": [{"name": names[0], "class": "harmful", "raw": 0.3, "corrected": around(0.15)}],
            "families": [{"name": "gpt", "judges": 2, "correlation": around(0.5), "voices": 1.3}], "leaderboard": items, "sampling": []}


def every_kind():
    animals = ["sparrow", "finch", "jay"]
    yield "small", Maker(1, numbered(108, "bird-"), numbered(39, "worker-"), animals, 108, 39).data("birds/labels.csv")
    yield "learn", Maker(2, numbered(1000, "image-"), numbered(59, "annotator-"), numbered(8, "scene "), 200, 59).data("scenes/answers.csv", "learn")
    yield "hostile", Maker(3, hostile(60, "task"), hostile(40, "worker"), hostile(24, "class"), 60, 40).data("<script>alert(8)</script>\"'&‏שלום")
    yield "large", Maker(4, numbered(1500, "task-"), numbered(1500, "w-"), numbered(10, "class-"), 1500, 1500, 1_000_000, 20_000).data("crowd/answers.csv")
    yield "classes", Maker(5, numbered(300, "t"), numbered(20, "w"), [f"a class with a rather long name, number {i}" for i in range(60)], 300, 20).data("many/labels.csv")
    yield "numbers", number_data(7, "ratings/answers.csv", numbered(300, "film-"), numbered(40, "critic-"), ["value"])
    yield "boxes", number_data(8, "boxes/answers.csv", numbered(120, "image-"), numbered(15, "w"), ["left", "top", "right", "bottom", "certainty of the worker in per cent"], 1e5)
    yield "hostile_numbers", number_data(9, "<script>alert(9)</script>", hostile(60, "task"), hostile(40, "worker"), HOSTILE[:2], 1e-3)
    one = Maker(6, ["t"], ["w"], ["yes"], 1, 1).data("one/labels.csv")
    one["warnings"] = []
    yield "one", one
    yield "judges", judges_data()
    yield "minimal", {"schema": 1, "program": {"name": "wisecrowd", "version": "0.1.0"}, "kind": "aggregate", "title": "minimal", "run": {}, "counts": {},
                      "headlines": [], "verdict": "Nothing is known.", "warnings": [], "sampling": []}


def embed(template, data):
    """As the program does it: nothing in the data can end the element that holds it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    element = f'<script type="application/json" id="wisecrowd-data">{text}</script>'
    return template.replace("WISECROWD-TITLE", html.escape(data["title"])).replace("<!--WISECROWD-DATA-->", element)


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    template = Path(arguments[1]).read_text(encoding="utf-8")
    out = Path(arguments[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, data in every_kind():
        (out / f"{name}.html").write_text(embed(template, data), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
