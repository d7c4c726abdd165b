#!/usr/bin/env python3
"""What asking well saves: replays recorded crowds under several policies and writes the table of docs/ASKING_LESS.md.

    bench/quality/replay.py --data FOLDER [--seeds 10] [--sets dog,rte] [--cache build/bench/replay]

FOLDER holds one folder per set with labels.csv and gold.csv, or folders of such folders. No policy sees the gold. Replays are kept
in the cache as `wisecrowd select --replay` writes them, so that a set is played once; remove its folder to play it again.

Policies are developed on one half of the sets and judged on the other. Which half a set belongs to follows from its name, so
that nobody chooses: the first 32 bits of the MD5 of the name, even for development and odd for judging. `--half` plays one.
"""
import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

PAGE = harness.ROOT / "docs/ASKING_LESS.md"
BEGIN, END = "<!-- table: bench/quality/replay.py -->", "<!-- end of table -->"
# Five answers per task at least; trec and product have fewer and were on the page before.
SETS = ["adult", "bluebird", "dog", "faces", "general_knowledge", "llmbar_natural", "med_cause", "med_treat", "mvh_cueconflict",
        "mvh_edge", "mvh_silhouette", "party_tweets", "possent", "product", "rte", "sentiment_polarity", "slr_tech", "trec",
        "weather", "weather_amt", "zencrowd_all"]
POLICIES = ["random", "entropy/random", "expected_information"]


def half_of(name):
    return "judging" if int(hashlib.md5(name.encode()).hexdigest()[:8], 16) % 2 else "development"


def folder_of(data, name):
    found = [folder for folder in (data / name, *sorted(data.glob(f"*/{name}"))) if (folder / "labels.csv").is_file()]
    if not found:
        raise SystemExit(f"{data}: no folder {name} with labels.csv in it or one level below")
    return found[0]


def replayed(arguments, name):
    out = arguments.cache / name
    if not (out / "summary.json").is_file():
        folder = folder_of(arguments.data, name)
        subprocess.run([arguments.program, "select", "--replay", folder / "labels.csv", "--gold", folder / "gold.csv",
                        "--policies", ",".join(POLICIES), "--seeds", str(arguments.seeds), "--threads",
                        str(arguments.threads), "--quiet", "--out", out], check=True, stdout=subprocess.DEVNULL)
    return json.loads((out / "summary.json").read_text())


def saving(summary, policy, slack):
    entry = next(entry for entry in summary["policies"] if entry["policy"] == policy)
    return next(item for item in entry["savings"] if item["slack"] == slack)


def percent(share):
    return f"{100 * share:.0f} %"


def cells(summary, policy, slack):
    item = saving(summary, policy, slack)
    low, high = item["saved_interval"]
    return f"{percent(item['saved'])} [{percent(low)}, {percent(high)}]"


def table(summaries):
    rows = ["| set | half | answers | accuracy of all | needed by random | by entropy | by the default | saved by entropy | by the default | within half a point: entropy | the default |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for name, summary in summaries.items():
        needed = [percent(saving(summary, policy, 0)["answers"] / summary["all_answers"]) for policy in POLICIES]
        saved = [cells(summary, policy, slack) for slack in (0, 0.005) for policy in POLICIES[1:]]
        rows.append(f"| {name} | {half_of(name)} | {summary['all_answers']:,} | {summary['accuracy_of_all_answers']:.4f} | "
                    f"{' | '.join(needed)} | {' | '.join(saved)} |")
    middle = [percent(median(saving(summary, policy, slack)["saved"] for summary in summaries.values()))
              for slack in (0, 0.005) for policy in POLICIES[1:]]
    rows.append(f"| **median** | | | | | | | {' | '.join(middle)} |")
    seeds = sorted({summary["seeds"] for summary in summaries.values()})
    rows.append(f"\n{' or '.join(map(str, seeds))} repetitions, seed 0; intervals of 95 % over repetitions.")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--program", default=harness.ROOT / "build/release/wisecrowd")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--half", choices=["development", "judging"], help="only the sets of this half")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=harness.ROOT / "build/bench/replay")
    parser.add_argument("--keep-page", action="store_true", help="print the table only")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    names = [name for name in arguments.sets.split(",") if arguments.half in (None, half_of(name))]
    text = table({name: replayed(arguments, name) for name in names})
    print(text)
    if not arguments.keep_page:
        page = PAGE.read_text()
        head, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
