#!/usr/bin/env python3
"""A state of ten million answers: how long it takes to make it, to absorb a thousand answers more, to find whom
to ask what, and to fit it anew. Answers go to random tasks by random workers, the hardest case for a file: nearly every
one touches a page of its own."""
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

SHAPES = {  # tasks, workers, classes, answers per task
    "1m": harness.Size(100_000, 1_000, 4, 10),
    "10m": harness.Size(1_000_000, 10_000, 4, 10),
    "10m_wide": harness.Size(1_000_000, 100_000, 4, 10),
}
BATCH = 1000


def new_answers(size, gold, chance):
    """Answers of random workers to random tasks, seven of ten right."""
    rows = ["task,worker,label"]
    for task, truth in chance.sample(gold, BATCH):
        label = truth if chance.random() < 0.7 else chance.randrange(size.classes)
        rows.append(f"{task},worker_{chance.randrange(size.workers):06d},{label}")
    return "\n".join(rows) + "\n"


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--shapes", default="1m,10m", help=f"which, by comma: {', '.join(SHAPES)}")
    parser.add_argument("--rounds", type=int, default=15, help="batches to absorb; the quickest and the middle one are shown")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    program, figures, rows = arguments.program, {}, []
    for name in arguments.shapes.split(","):
        if name not in SHAPES:
            harness.stop(f"there is no shape {name}: choose from {', '.join(SHAPES)}")
        size = harness.SIZES["state_" + name] = SHAPES[name]
        data = harness.dataset("state_" + name, arguments)
        with tempfile.TemporaryDirectory(dir=arguments.cache) as folder:
            state = Path(folder) / "crowd.state"
            harness.progress(f"{name}: making the state")
            made = harness.run([program, "state", "init", state, data / "answers.csv", "--json"])
            timings = json.loads(made.output)["timings"]
            answers = json.loads(made.output)["summary"]["answers"]
            gold = [line.split(",")[:2] for line in (data / "gold.csv").read_text().splitlines()[1:]]
            chance, absorbed = random.Random(1), []
            for _ in range(arguments.rounds):
                more = Path(folder) / "more.csv"
                more.write_text(new_answers(size, gold, chance))
                done = harness.run([program, "state", "add", state, more, "--refit", "never", "--json"])
                report = json.loads(done.output)
                answers += report["added"]["answers"]
                if report["summary"]["answers"] != answers:
                    harness.stop(f"{name}: {report['summary']['answers']} answers are there, not {answers}")
                absorbed.append({**report["timings"], "command": done.seconds})
            harness.progress(f"{name}: fitting it anew")
            shown = harness.run([program, "state", "show", state])
            chosen = min((harness.run([program, "select", state, "--budget", str(BATCH)]) for _ in range(5)),
                         key=lambda one: one.seconds)
            if len(chosen.output.splitlines()) != BATCH + 1:
                harness.stop(f"{name}: {len(chosen.output.splitlines()) - 1} pairs were chosen, not {BATCH}")
            refit = json.loads(harness.run([program, "state", "refit", state, "--json"]).output)
            checked = harness.run([program, "state", "check", state])
            if "no damage" not in checked.output:
                harness.stop(f"{name}: {checked.output}")
            size_on_disk = state.stat().st_size
        middle = {key: sorted(one[key] for one in absorbed)[len(absorbed) // 2] for key in absorbed[0]}
        least = {key: min(one[key] for one in absorbed) for key in absorbed[0]}
        figures[name] = {**vars(size), "answers": answers, "make": timings, "bytes": size_on_disk, "absorb_least": least,
                         "absorb_middle": middle, "show": shown.seconds, "select": chosen.seconds, "refit": refit["timings"]["refit"],
                         "refit_iterations": refit["refit"]["iterations"], "peak_bytes": made.peak_bytes}
        text = harness.seconds_text
        rows.append([name, f"{answers:,}", f"{text(timings['read'])} + {text(timings['create'])}",
                     harness.bytes_text(size_on_disk), text(least["absorb_cpu"]), text(least["absorb"]),
                     text(middle["absorb"]), text(middle["command"]), text(shown.seconds), text(chosen.seconds),
                     text(refit["timings"]["refit"])])
    headers = ["shape", "answers", "read + make", "file", f"absorb {BATCH}: CPU", "wall, least", "wall, middle",
               "whole command", "show", f"select {BATCH}", "refit"]
    harness.deliver(arguments, figures, harness.table(headers, rows))


if __name__ == "__main__":
    main()
