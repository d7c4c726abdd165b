#!/usr/bin/env python3
"""Whether probabilities of the plain command hold: a reliability diagram and the calibration error of every set.

    bench/quality/reliability.py --data FOLDER [--sets rte,dog] [--cache build/bench/reliability]

FOLDER holds one folder per set with labels.csv and gold.csv, or folders of such folders. Gold is used to score only. Writes
docs/images/reliability.svg and the tables of docs/CALIBRATION.md. Results are kept in the cache; remove a folder to run it again.

ECE is that of `wisecrowd evaluate`: 15 equal bins of the top probability. Small sets have some by chance: the null is the mean ECE of
200 draws in which every label is right with just its probability, and ECE minus null is the debiased one.
"""
import argparse
import csv
import math
import random
import sys
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from default_protocol import BINS, ece  # noqa: E402
from replay import folder_of  # noqa: E402

PAGE = harness.ROOT / "docs/CALIBRATION.md"
PICTURE = harness.ROOT / "docs/images/reliability.svg"
SETS = ["adult", "bluebird", "dog", "faces", "possent", "product", "relevance", "rte", "sentiment_polarity", "trec", "weather", "weather_amt",
        "zencrowd_all", "general_knowledge", "llmbar_natural", "med_cause", "med_treat", "mediaeval_q1", "mediaeval_q2", "mvh_cueconflict",
        "mvh_edge", "mvh_silhouette", "party_tweets", "slr_tech", "youtube_lfs"]
THRESHOLDS = [0, 0.8, 0.9, 0.95, 0.99]
DRAWS = 200
SIDE, GAP, COLUMNS = 130, 34, 5


def scored(arguments, name):
    """Top probability and whether the label is right, of every task with gold."""
    folder, out = folder_of(arguments.data, name), arguments.cache / name
    if not (out / "labels.csv").is_file():
        harness.run([arguments.program, "aggregate", folder / "labels.csv", "--threads", arguments.threads, "--out", out, "--quiet"])
    with open(folder / "gold.csv", newline="") as file:
        gold = {row[0]: row[1] for row in list(csv.reader(file))[1:]}
    with open(out / "labels.csv", newline="") as file:
        return [(float(row["probability"]), row["label"] == gold[row["task"]]) for row in csv.DictReader(file) if row["task"] in gold]


def figures(pairs):
    confidence = [c for c, _ in pairs]
    chance = random.Random(0)
    null = mean(ece(confidence, [chance.random() < c for c in confidence]) for _ in range(DRAWS))
    return {"tasks": len(pairs), "accuracy": mean(r for _, r in pairs), "probability": mean(confidence), "ece": ece(confidence, [r for _, r in pairs]), "null": null}


def bins_of(pairs):
    """Mean probability, share of right labels and number of tasks of every bin that has any."""
    bins = [[] for _ in range(BINS)]
    for c, r in pairs:
        bins[min(max(math.ceil(c * BINS) - 1, 0), BINS - 1)].append((c, r))
    return [(mean(c for c, _ in one), mean(r for _, r in one), len(one)) for one in bins if one]


def wilson(share, tasks, z=1.96):
    middle, half = share + z * z / 2 / tasks, z * math.sqrt(share * (1 - share) / tasks + z * z / 4 / tasks**2)
    return (middle - half) / (1 + z * z / tasks), (middle + half) / (1 + z * z / tasks)


def panel(name, pairs, left, top):
    def place(x, y):
        return f"{left + SIDE * x:.1f}", f"{top + SIDE * (1 - y):.1f}"

    marks = [f'<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#888"/>',
             f'<text x="{left}" y="{top - 6}" font-size="12" fill="#222">{name}</text>']
    (x1, y1), (x2, y2) = place(0, 0), place(1, 1)
    marks.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#bbb"/>')
    for c, share, tasks in bins_of(pairs):
        low, high = wilson(share, tasks)
        (x, y), (_, y1), (_, y2) = place(c, share), place(c, low), place(c, high)
        marks.append(f'<line x1="{x}" y1="{y1}" x2="{x}" y2="{y2}" stroke="#0072b2" opacity=".5"/>')
        marks.append(f'<circle cx="{x}" cy="{y}" r="{1.5 + 5 * math.sqrt(tasks / len(pairs)):.1f}" fill="#0072b2"/>')
    return "\n".join(marks)


def picture(data):
    rows = math.ceil(len(data) / COLUMNS)
    width, height = GAP + COLUMNS * (SIDE + GAP), 60 + rows * (SIDE + GAP)
    panels = [panel(name, pairs, GAP + n % COLUMNS * (SIDE + GAP), 60 + n // COLUMNS * (SIDE + GAP)) for n, (name, pairs) in enumerate(data.items())]
    head = (f'<text x="{GAP}" y="22" font-size="14" font-weight="bold" fill="#222">How often labels are right (up) by their probability (right), from 0 to 1</text>\n'
            f'<text x="{GAP}" y="38" font-size="11" fill="#222">Larger dots have more tasks; bars are intervals of 95 %. On the line probabilities hold, below it they are too high.</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="#fff"/>\n{head}\n' + "\n".join(panels) + "\n</svg>\n")


def calibration_table(data):
    rows = ["| set | gold tasks | accuracy | mean probability | ECE | by chance | ECE − chance |", "|---|--:|--:|--:|--:|--:|--:|"]
    found = {name: figures(pairs) for name, pairs in data.items()}
    for name, f in found.items():
        rows.append(f"| {name} | {f['tasks']:,} | {f['accuracy']:.3f} | {f['probability']:.3f} | {f['ece']:.3f} | {f['null']:.3f} | {f['ece'] - f['null']:.3f} |")
    means = [mean(f[key] for f in found.values()) for key in ("accuracy", "probability", "ece", "null")]
    rows.append(f"| **mean** | | {means[0]:.3f} | {means[1]:.3f} | {means[2]:.3f} | {means[3]:.3f} | {means[2] - means[3]:.3f} |")
    return "\n".join(rows)


def abstaining_table(data):
    rows = ["| `--abstain-below` | labels delivered, mean of the sets | right among them | their mean probability | worst set |", "|--:|--:|--:|--:|---|"]
    for threshold in THRESHOLDS:
        kept = {name: [pair for pair in pairs if pair[0] >= threshold] for name, pairs in data.items()}
        some = {name: pairs for name, pairs in kept.items() if pairs}
        right = {name: mean(r for _, r in pairs) for name, pairs in some.items()}
        worst = min(right, key=right.get)
        rows.append(f"| {threshold} | {100 * mean(len(kept[name]) / len(data[name]) for name in data):.0f} % | {mean(right.values()):.3f} | "
                    f"{mean(mean(c for c, _ in pairs) for pairs in some.values()):.3f} | {worst} ({right[worst]:.3f}) |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--program", default=harness.ROOT / "build/release/wisecrowd")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=harness.ROOT / "build/bench/reliability")
    parser.add_argument("--keep-page", action="store_true", help="print the tables only")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    data = {name: scored(arguments, name) for name in arguments.sets.split(",")}
    tables = {"calibration": calibration_table(data), "abstaining": abstaining_table(data)}
    print("\n\n".join(tables.values()))
    if arguments.keep_page:
        return
    PICTURE.write_text(picture(data))
    page = PAGE.read_text()
    for title, text in tables.items():
        begin, end = f"<!-- {title}: bench/quality/reliability.py -->", f"<!-- end of {title} -->"
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
