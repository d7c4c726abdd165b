"""What every comparison does: run our side, check that both sides say the same, put the two times side by side."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

SAME_LABELS = 0.999
SAME_OBJECTIVE = 1e-6


def agreement(ours_csv, tasks, labels):
    """Share of tasks on which both give the same label, by the tasks' names."""
    import pandas as pd

    ours = pd.read_csv(ours_csv, usecols=["task", "label"]).set_index("task")["label"]
    if len(ours) != len(tasks):
        harness.stop(f"{len(ours)} tasks here, {len(tasks)} there")
    return float((ours.reindex(tasks).to_numpy() == labels).mean())


def require(holds, name, what):
    if not holds:
        harness.stop(f"{name}: {what}; not timing different answers")


def ours_best(arguments, data, out, settings, method="dawid_skene"):
    def once():
        return harness.aggregate(arguments, data / "answers.csv", out, settings, method)

    results = [once() for _ in range(arguments.repeat)]
    measured = min((m for m, _ in results), key=lambda m: m.seconds)
    record = min((r for _, r in results), key=lambda r: r["timings"]["per_iteration"])
    record["timings"]["read"] = min(r["timings"]["read"] for _, r in results)
    return measured, record


def comparison(what, peer, peer_seconds, seconds, **more):
    return {"what": what, "peer": peer, "peer_seconds": peer_seconds, "seconds": seconds, "ratio": peer_seconds / seconds,
            **more}
