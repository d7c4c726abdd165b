"""crowd-kit's BinaryRelevance beside ours: a vote for each class, and Dawid–Skene for each class."""
import time

import harness
from checks import comparison, require

TASKS, WORKERS, CLASSES = 2000, 100, 10
SAME_DECISIONS = 0.999  # of tasks × classes


def simulated(arguments):
    folder = arguments.cache / "data" / "profile_sets"
    if not (folder / "answers.csv").is_file():
        harness.run([arguments.program, "simulate", "profile_sets", "--tasks", TASKS, "--workers", WORKERS, "--classes", CLASSES,
                     "--answers-per-task", 5, "--seed", 1, "--out", folder, "--quiet"])
    return folder


def classes_of(text):
    return frozenset() if text == "[]" else frozenset(text.split("|"))


def compare_binary_relevance(base, arguments, folder):
    """The whole fit of both, without reading; `base` is majority or dawid_skene."""
    import pandas as pd
    from crowdkit.aggregation import BinaryRelevance, DawidSkene, MajorityVote

    data = simulated(arguments)
    frame = pd.read_csv(data / "answers.csv")
    frame["label"] = [sorted(classes_of(text)) for text in frame.pop("set")]
    iterations = 20
    peer = MajorityVote() if base == "majority" else DawidSkene(n_iter=iterations, tol=-1e300)
    harness.progress(f"crowd-kit's BinaryRelevance({type(peer).__name__})")
    started = time.perf_counter()
    theirs = BinaryRelevance(peer).fit_predict(frame)
    seconds = time.perf_counter() - started
    out = folder / f"binary_relevance_{base}"
    settings = {"base": base} | ({"max_iterations": iterations, "tolerance": 0, "pseudo_count": 1e-9} if base == "dawid_skene" else {})
    best = None
    for _ in range(arguments.repeat):
        _, record = harness.aggregate(arguments, data / "answers.csv", out, settings, "binary_relevance", ("--answers", "sets"))
        best = min(best or 1e9, record["timings"]["fit"])
    ours = pd.read_csv(out / "sets.csv").set_index("task")
    counts = frame.explode("label").groupby(["task", "label"]).size()
    answers = frame.groupby("task").size()
    wrong = ties = 0
    for task, labels in theirs.items():
        different = classes_of(ours["set"][task]) ^ frozenset(labels)
        tied = {c for c in different if base == "majority" and 2 * counts.get((task, c), 0) == answers[task]}
        ties += len(tied)
        wrong += len(different) - len(tied)
    same = 1 - wrong / (len(theirs) * CLASSES)
    require(same >= SAME_DECISIONS, base, f"only {same:.5f} of the classes are decided as by crowd-kit's BinaryRelevance")
    return comparison(f"BinaryRelevance, {base}, whole fit", "crowd-kit", seconds, best, same_decisions=same, ties=ties)
