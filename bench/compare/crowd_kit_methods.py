"""crowd-kit's MACE, KOS and GLAD beside ours.

The time of crowd-kit's iteration is the difference of a long and a short run, divided by the iterations between: what it
does before and after them is not counted. MACE and KOS start by chance there: both sides walk on until the labels have
settled, and then they must agree as everywhere.
"""
import time

import harness
from checks import SAME_LABELS, agreement, comparison, ours_best, require


def between(make, frame, few, many, repeat):
    """Seconds of one iteration, and the fitted model of the long run. `make(iterations)` gives a model."""

    def timed(iterations):
        model = make(iterations)
        started = time.perf_counter()
        model.fit(frame)
        return time.perf_counter() - started, model

    short = min(timed(few)[0] for _ in range(repeat))
    long, model = min((timed(many) for _ in range(repeat)), key=lambda pair: pair[0])
    return (long - short) / (many - few), model


def compare_mace(name, arguments, folder):
    import pandas as pd
    from crowdkit.aggregation import MACE

    few, many = 1, 21  # by then the start is forgotten
    data = harness.dataset(name, arguments)
    # crowd-kit 1.4.1 mixes up habits unless workers and labels first appear in sorted order.
    frame = pd.read_csv(data / "answers.csv").sort_values(["worker", "label"], ignore_index=True)
    require(frame["label"].unique().tolist() == sorted(frame["label"].unique()), name, "the first worker lacks a label")
    harness.progress(f"crowd-kit's MACE on {name}")
    # One start: all of crowd-kit's restarts begin with the same numbers.
    seconds, model = between(lambda n: MACE(n_restarts=1, n_iter=n, random_state=1), frame, few, many, 1)
    out = folder / f"mace_{name}"
    # Its Dirichlet parameter is 10 for each class, ours is their sum; its class prior is even.
    settings = {"class_prior": "uniform", "guess_prior": 10 * frame["label"].nunique(), "max_iterations": many,
                "tolerance": 0}
    _, record = ours_best(arguments, data, out, settings, "mace")
    same = agreement(out / "labels.csv", model.labels_.index, model.labels_.to_numpy())
    require(same >= SAME_LABELS, name, f"only {same:.5f} of the labels agree with those of crowd-kit's MACE")
    return comparison(f"MACE, one iteration, {name}", "crowd-kit", seconds, record["timings"]["per_iteration"],
                      same_labels=same)


def compare_kos(name, arguments, folder):
    """crowd-kit knows two classes only: both sides are asked whether the label is the first class."""
    import pandas as pd
    from crowdkit.aggregation import KOS

    few, many = 1, 31
    frame = pd.read_csv(harness.dataset(name, arguments) / "answers.csv")
    first = frame["label"].min()
    frame["label"] = (frame["label"] == first).map({True: "yes", False: "no"})
    asked = folder / f"kos_data_{name}"
    asked.mkdir()
    frame.to_csv(asked / "answers.csv", index=False)
    harness.progress(f"crowd-kit's KOS on {name}")
    seconds, model = between(lambda n: KOS(n_iter=n, random_state=1), frame, few, many, 1)
    out = folder / f"kos_{name}"
    _, record = ours_best(arguments, asked, out, {"max_iterations": many}, "kos")
    same = agreement(out / "labels.csv", model.labels_.index, model.labels_.to_numpy())
    require(same >= SAME_LABELS, name, f"only {same:.5f} of the labels agree with those of crowd-kit's KOS")
    return comparison(f"KOS, one round of one question, {name}", "crowd-kit", seconds, record["timings"]["per_iteration"],
                      same_labels=same)


def compare_glad(name, arguments, folder):
    """One EM iteration of crowd-kit, whose M-step is up to 25 steps of conjugate gradients, against one of ours with up
    to three Newton steps per number. They climb the same hill: the labels are compared, and our log posterior must be
    as high as at crowd-kit's end, so that the quicker iteration is not a shorter way."""
    import pandas as pd
    from crowdkit.aggregation import GLAD

    few, many = 1, 2
    data = harness.dataset(name, arguments)
    frame = pd.read_csv(data / "answers.csv")
    harness.progress(f"crowd-kit's GLAD on {name}")
    # The tolerance keeps it from stopping early.
    seconds, model = between(lambda n: GLAD(n_iter=n, tol=-1e300), frame, few, many, 1)
    out = folder / f"glad_{name}"
    _, record = ours_best(arguments, data, out, {"max_iterations": many, "tolerance": 0}, "glad")
    same = agreement(out / "labels.csv", model.labels_.index, model.labels_.to_numpy())
    require(same >= 0.98, name, f"only {same:.5f} of the labels agree with those of crowd-kit's GLAD")
    theirs = log_posterior(frame, model)
    require(record["trace"][-1] >= theirs - 1e-4 * abs(theirs), name,
            f"log posterior {record['trace'][-1]} here, {theirs} at the same iteration of crowd-kit")
    return comparison(f"GLAD, one EM iteration, {name}", "crowd-kit", seconds, record["timings"]["per_iteration"],
                      same_labels=same, log_posterior=record["trace"][-1], log_posterior_peer=theirs)


def log_posterior(frame, model):
    """Of crowd-kit's abilities and easiness, the truth summed out, as our trace has it."""
    import numpy as np
    from scipy.special import logsumexp

    classes = np.sort(frame["label"].unique())
    tasks, names = frame["task"].factorize()
    u = model.alphas_.reindex(frame["worker"]).to_numpy() * np.exp(model.betas_.reindex(frame["task"]).to_numpy())
    wrong = -np.logaddexp(0, u) - np.log(len(classes) - 1)
    right = -np.logaddexp(0, -u)
    joint = np.full((len(names), len(classes)), -np.log(len(classes)))
    for k, label in enumerate(classes):
        joint[:, k] += np.bincount(tasks, np.where(frame["label"].to_numpy() == label, right, wrong), len(names))
    numbers = np.concatenate([model.alphas_.to_numpy(), model.betas_.to_numpy()])
    return float(logsumexp(joint, axis=1).sum() - 0.5 * ((numbers - 1) ** 2).sum() - 0.5 * len(numbers) * np.log(2 * np.pi))
