#!/usr/bin/env python3
"""Accuracy of model × smoothing × class prior over a folder of real data sets, and where the plain command stands.

DATA holds one folder per data set with labels.csv (task,worker,label) and gold.csv (task,label).
"""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402


def configurations():
    """Name, method and settings of every fixed configuration of the grid."""
    yield "majority_vote", "majority_vote", {}
    for prior in ("uniform", "learned"):
        common = {"class_prior": prior}
        for count in ("0.01", "0.1", "1"):
            yield f"dawid_skene c={count} {prior}", "dawid_skene", {**common, "pseudo_count": count, "diagonal_pseudo_count": 0}
        yield f"dawid_skene diag 4 / off 1 {prior}", "dawid_skene", {**common, "pseudo_count": 1, "diagonal_pseudo_count": 3}
        yield f"one_coin {prior}", "one_coin", common
        yield f"confusion_vector {prior}", "confusion_vector", common


def accuracy(arguments, folder, method, settings):
    """Gold is used to score only; `aggregate` does not see it."""
    command = [arguments.program, "aggregate", folder / "labels.csv", "--threads", 1, "--quiet", "--duplicates",
               arguments.duplicates]
    if method:
        command += ["--method", method]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    out = arguments.work / f"{folder.name}-{abs(hash((method, tuple(settings.items()))))}"
    harness.run([*command, "--out", out])
    scored = harness.run([arguments.program, "evaluate", out / "labels.csv", folder / "gold.csv", "--json", "--quiet"])
    return json.loads(scored.output)["accuracy"]["value"]


def main():
    parser = harness.parser(__doc__.splitlines()[0])
    default = os.environ.get("WISECROWD_DATA")
    default = Path(default) if default else harness.ROOT.parent / "shared/data"
    parser.add_argument("--data", type=Path, default=default / "aggregate", help="folder of data sets")
    parser.add_argument("--duplicates", default="keep-last", choices=["keep-last", "repeat"],
                        help="what to do with repeated answers of a worker to a task")
    arguments = parser.parse_args()
    harness.check_program(arguments.program)
    folders = sorted(path.parent for path in arguments.data.glob("*/gold.csv") if (path.parent / "labels.csv").is_file())
    if not folders:
        harness.stop(f"no data sets (…/labels.csv with gold.csv) under {arguments.data}: name a folder with --data")

    arguments.cache.mkdir(parents=True, exist_ok=True)
    grid = [*configurations(), ("plain command", None, {})]
    with tempfile.TemporaryDirectory(dir=arguments.cache) as work, ThreadPoolExecutor(arguments.threads) as pool:
        arguments.work = Path(work)
        jobs = {(name, folder.name): pool.submit(accuracy, arguments, folder, method, settings)
                for name, method, settings in grid for folder in folders}
        results = {key: job.result() for key, job in jobs.items()}

    means = {name: sum(results[name, folder.name] for folder in folders) / len(folders) for name, _, _ in grid}
    order = sorted((name for name, _, _ in grid), key=lambda name: -means[name])
    rows = [[f"**{name}**" if name == "plain command" else name, f"{means[name]:.4f}",
             *(f"{results[name, folder.name]:.4f}" for folder in folders)] for name in order]
    text = harness.table(["configuration", "mean", *(folder.name for folder in folders)], rows)
    best = max(mean for name, mean in means.items() if name != "plain command")
    text += f"\n\nbest fixed configuration {best:.4f}, plain command {means['plain command']:.4f}"
    figures = {"means": means, "accuracy": {name: {f.name: results[name, f.name] for f in folders} for name, _, _ in grid}}
    harness.deliver(arguments, figures, text)
    return 0 if means["plain command"] >= best else 1


if __name__ == "__main__":
    sys.exit(main())
