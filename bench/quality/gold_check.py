#!/usr/bin/env python3
"""How well `wisecrowd describe --gold` finds wrong gold: real sets as they are, and with wrong labels planted in their gold.

    bench/quality/gold_check.py --data FOLDER [--share 0.05] [--draws 5] [--sets rte,dog]

FOLDER holds one folder per set with labels.csv and gold.csv, or folders of such folders. Wrong gold that a set has by itself counts
as found wrongly, because nobody knows of it: precision is therefore that of the labels which planting adds to the list.
Nothing of the method was chosen by these figures but what src/evaluate/METHOD.md names.
"""
import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from replay import folder_of  # noqa: E402

SETS = ["bluebird", "rte", "dog", "possent", "faces", "weather_amt", "sentiment_polarity", "mvh_cueconflict", "party_tweets", "general_knowledge"]


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def checked(arguments, labels, gold):
    words = [arguments.program, "describe", labels, "--gold", gold, "--json", "--quiet"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["gold_check"]


def with_planted(rows, share, chance):
    classes = sorted({row[1] for row in rows})
    planted = {row[0] for row in rows if chance.random() < share}
    return planted, [[row[0], chance.choice([k for k in classes if k != row[1]]) if row[0] in planted else row[1]] for row in rows]


def row_of(arguments, name):
    folder = folder_of(arguments.data, name)
    header, rows = read(folder / "gold.csv")
    before = checked(arguments, folder / "labels.csv", folder / "gold.csv")
    known = {one["task"] for one in before["suspects"]}
    planted_in_all = found = others = expected = 0
    with tempfile.TemporaryDirectory() as place:
        for draw in range(arguments.draws):
            planted, changed = with_planted(rows, arguments.share, random.Random(draw))
            path = Path(place) / "gold.csv"
            with open(path, "w", newline="") as file:
                csv.writer(file).writerows([header[:2], *changed])
            after = checked(arguments, folder / "labels.csv", path)
            suspects = {one["task"] for one in after["suspects"]}
            planted_in_all += len(planted)
            found += len(suspects & planted)
            others += len(suspects - planted - known)
            expected += after["expected_wrong"] - before["expected_wrong"]
    return (f"| {name} | {before['tasks']:,} | {before['expected_wrong']:.1f} | {len(known)} | {planted_in_all / arguments.draws:.1f} | "
            f"{expected / arguments.draws:+.1f} | {100 * found / planted_in_all:.0f} % | {100 * found / max(found + others, 1):.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--program", default=harness.ROOT / "build/release/wisecrowd")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--draws", type=int, default=5)
    arguments = parser.parse_args()
    print("| set | gold tasks | look wrong | listed | planted | look wrong then | planted ones listed | of what is listed more, planted |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in arguments.sets.split(","):
        print(row_of(arguments, name), flush=True)


if __name__ == "__main__":
    main()
