"""Made-up data of reports on numbers, as src/deliver/report/numbers.cpp makes them."""
import math
import random


def quartiles(values):
    ordered = sorted(values)
    at = lambda share: round(ordered[round(share * (len(ordered) - 1))], 6)
    return {"minimum": at(0), "lower_quartile": at(0.25), "median": at(0.5), "upper_quartile": at(0.75), "maximum": at(1)}


def number_data(seed, title, tasks, workers, dimensions, size=1.0, total_tasks=None):
    """`size` scales the numbers: the page must write 0.001 as well as a million."""
    source = random.Random(seed)
    count = len(dimensions)
    bias = {w: [source.gauss(0, 2) * size for _ in range(count)] for w in workers}
    scale = {w: [size * (25 if i % 9 == 8 else source.uniform(2, 6)) for _ in range(count)] for i, w in enumerate(workers)}
    truth = [[source.gauss(50, 20) * size for _ in range(count)] for _ in tasks]
    columns = {key: [] for key in ("name", "answers", "estimate", "deviation", "low", "high", "gold", "said", "more_said", "uncertainty", "why")}
    far_of = {w: 0 for w in workers}
    answers_of = {w: 0 for w in workers}
    for i, name in enumerate(tasks):
        chosen = [] if i == 7 else source.sample(workers, min(len(workers), 1 + source.randrange(6)))
        said = []
        for w in chosen:
            values = [round(t + bias[w][d] + source.gauss(0, 1) * scale[w][d], 6) for d, t in enumerate(truth[i])]
            far = [d for d in range(count) if abs(values[d] - truth[i][d]) > 15 * size]
            far_of[w] += bool(far)
            answers_of[w] += 1
            said.append([w, values, far])
        deviation = 5 * size / math.sqrt(max(1, len(said)))
        estimate = [round(sum(values[d] for _, values, _ in said) / len(said), 6) if said else None for d in range(count)]
        low = [e and round(e - 1.96 * deviation, 6) for e in estimate]
        high = [e and round(e + 1.96 * deviation, 6) for e in estimate]
        missed = said and any(not low[d] <= truth[i][d] <= high[d] for d in range(count))
        columns["name"].append(name)
        columns["answers"].append(len(said) + (4 if i % 11 == 10 else 0))
        columns["estimate"].append(estimate)
        columns["deviation"].append([round(deviation, 6) if said else None for _ in range(count)])
        columns["low"].append(low)
        columns["high"].append(high)
        columns["gold"].append(None if i % 3 == 2 else [round(t, 6) for t in truth[i]])
        columns["said"].append(said)
        columns["more_said"].append(4 if i % 11 == 10 else 0)
        columns["uncertainty"].append(round(deviation / 5 / size, 3) if said else 0)
        columns["why"].append((["truth outside the interval"] if missed else []) + (["outlying answer"] if any(far for *_, far in said) else [])
                              + (["no answers"] if not said else ["few answers"] if len(said) < 3 else []))
    total = total_tasks or len(tasks)
    columns.update(total=total, shown=len(tasks), chosen_by="the least certain, and those with outlying answers", counts={})
    known = [i for i in range(len(tasks)) if columns["gold"][i] and columns["said"][i]]
    points = [{"task": tasks[i], **{key: columns[key][i] for key in ("estimate", "low", "high", "gold")}} for i in known]
    listed = []
    for d, name in enumerate(dimensions):
        values = [values[d] for said in columns["said"] for _, values, _ in said]
        estimates = [row[d] for row in columns["estimate"] if row[d] is not None]
        low = math.floor(min(estimates) / (10 * size))
        bins = math.floor(max(estimates) / (10 * size)) - low + 1
        place = lambda value: math.floor(value / (10 * size)) - low
        listed.append({"name": name, "answers": {**quartiles(values), "mean": round(sum(values) / len(values), 6)}, "estimates": quartiles(estimates),
                       "deviation": 21 * size, "within": 6 * size, "scatter": 5 * size, "alpha": 0.84, "icc": 0.83, "usual_scale": 4.2 * size,
                       "histogram": {"edges": [round((low + b) * 10 * size, 6) for b in range(bins + 1)],
                                     "count": [sum(place(e) == b for e in estimates) for b in range(bins)],
                                     "answers": [sum(place(v) == b for v in values) for b in range(bins)], "below": 2, "above": 0,
                                     "answers_outside": sum(not 0 <= place(v) < bins for v in values)}})
    score = {"absolute_error": {"value": 2.4 * size, "low": 2.2 * size, "high": 2.7 * size}, "squared_error": {"value": 3.3 * size, "low": 2.9 * size, "high": 3.6 * size},
             "correlation": 0.987, "r_squared": 0.972, "bias": 0.27 * size, "coverage": 0.977}
    return {
        "schema": 1, "program": {"name": "wisecrowd", "version": "0.1.0"}, "kind": "aggregate", "title": title, "answers_kind": "numbers",
        "run": {"method": "median", "method_title": "Median", "method_summary": "The median of the answers.", "parameters": [], "stages": [], "seed": 0,
                "iterations": 1, "status": "converged", "seconds": 0.01, "timings": [], "command": f"wisecrowd aggregate '{title}' --answers numbers",
                "data_hash": "0123456789abcdef", "inputs": [{"role": "answers", "path": title}], "gold_tasks": len(known), "gold_use": "evaluation"},
        "counts": {"tasks": total, "workers": len(workers), "dimensions": count, "answers": sum(answers_of.values()), "answers_per_task": 3.4,
                   "answers_per_worker": 12.5, "tasks_without_answers": 1, "outlying_answers": sum(far_of.values())},
        "warnings": [{"severity": "note", "title": "Tasks without answers", "words": "1 task has no answer.", "remedy": "Ask for answers."}],
        "headlines": [{"id": "error", "label": "Mean absolute error", "value": 2.4 * size, "low": 2.2 * size, "high": 2.7 * size, "unit": "none",
                       "words": "On 200 tasks whose truth is known.", "kind": "measured on gold"},
                      {"id": "coverage", "label": "Intervals that hold the truth", "value": 0.977, "low": None, "high": None, "unit": "share", "words": "It should be 95 %.",
                       "kind": "measured on gold"}],
        "verdict": "All tasks were estimated.",
        "dimensions": listed,
        "tasks": columns,
        "answers_per_task_histogram": {"edges": [1, 2, 3, 4, 5, 6, 7], "count": [3, 8, 20, 30, 12, 5]},
        "answers_per_worker_histogram": {"edges": [1, 2, 4, 8, 16, 32], "count": [1, 2, 5, 9, 12]},
        "workers": {"total": len(workers), "shown": len(workers), "chosen_by": "all workers", "name": workers, "answers": [answers_of[w] for w in workers],
                    "bias": [[round(b, 6) for b in bias[w]] for w in workers], "scale": [[round(s, 6) for s in scale[w]] for w in workers],
                    "error": [[round(math.hypot(b, s), 6) for b, s in zip(bias[w], scale[w])] for w in workers], "outlying": [far_of[w] for w in workers],
                    "why": [["noisy"] if max(scale[w]) > 8.4 * size else [] for w in workers], "gold_answers": [5] * len(workers),
                    "gold_error": [[round(s * 0.8, 6) for s in scale[w]] for w in workers]},
        "gold": {"tasks": len(known), "missing": 0, "dimensions": [score] * count, "points": points, "misses": points[:50]},
        "sampling": [],
    }
