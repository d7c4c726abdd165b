"""The seven crowds with features on which learners' defaults are judged together: three real ones, four drawn.

Each becomes a folder with answers.csv, features.npy (or text.csv), tasks.csv and gold.csv, small enough that a learner
takes seconds. Real ones are cut to a number of tasks; drawn ones are drawn anew for every seed, by machines who saw the
truth of a few rows, or by people whose errors are those that workers of a real crowd made on tasks with gold.
"""
import csv
from collections import Counter, defaultdict

import harness
from max_mig_cases import missing, patch_features

REAL = {"labelme": (1_000, 1_188), "sentiment": (1_000, 1_000), "cifar10n": (1_000, 1_000)}
DRAWN = ["fashion_machines", "fashion_people", "catdog_machines", "catdog_people"]
NAMES = [*REAL, *DRAWN]
TEXT_COLUMNS = 1000  # of sentiment
PATCHES = 100        # kinds of patches, of catdog and cifar10n


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write(path, header, rows):
    path.write_text(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))


def first_of_split(rows, train, test):
    left, kept = {"train": train, "test": test}, []
    for row in rows:
        if left.get(row["split"], 0) > 0:
            left[row["split"]] -= 1
            kept.append(row)
    return kept


def write_cut(folder, kept, gold, answers=()):
    """The tables of a set that was cut to some of its tasks, whose features are in their order."""
    names = {row["task"] for row in kept}
    write(folder / "tasks.csv", "task,row,split", [(row["task"], n, row["split"]) for n, row in enumerate(kept)])
    write(folder / "gold.csv", "task,label", [(row["task"], gold[row["task"]]) for row in kept])
    if answers:
        write(folder / "answers.csv", "task,worker,label",
              [(row["task"], row["worker"], row["label"]) for row in answers if row["task"] in names])


def made_once(make):
    def made(arguments, name, *rest):
        folder = arguments.cache / "learner_sets" / "-".join(map(str, (name, *rest)))
        if not (folder / "ready").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            make(arguments, folder, name, *rest)
            (folder / "ready").touch()
        return folder
    return made


def source(arguments, name, file):
    path = arguments.data / "learn" / name / file
    if not path.is_file():
        missing(f"no {path}: name the folder of the data with --data or WISECROWD_DATA")
    return path


@made_once
def rows_of(arguments, folder, name, train, test):
    """Features, tasks and gold of images: patches of catdog and cifar10n; of fashion, means of 2 × 2 pixels."""
    import numpy as np
    kept = first_of_split(table(source(arguments, name, "tasks.csv")), train, test)
    gold = {row["task"]: row["label"] for row in table(source(arguments, name, "gold.csv"))}
    harness.progress(f"{name}: features of {len(kept):,} images")
    pixels = np.load(source(arguments, name, "images.npy"), mmap_mode="r")[[int(row["row"]) for row in kept]]
    if name == "fashion":
        features = pixels.reshape(len(pixels), 14, 2, 14, 2).mean((2, 4)).reshape(len(pixels), -1).astype(np.float32)
    else:
        features = patch_features(pixels, PATCHES)
    np.save(folder / "features.npy", features)
    write_cut(folder, kept, gold)


@made_once
def real_set(arguments, folder, name):
    train, test = REAL[name]
    answers = table(source(arguments, name, "labels.csv"))
    if name == "cifar10n":
        rows = rows_of(arguments, name, train, test)
        for file in ("features.npy", "gold.csv", "tasks.csv"):
            (folder / file).write_bytes((rows / file).read_bytes())
        write_cut(folder, table(rows / "tasks.csv"), {row["task"]: row["label"] for row in table(rows / "gold.csv")}, answers)
        return
    gold = {row["task"]: row["label"] for row in table(source(arguments, name, "gold.csv"))}
    if name == "sentiment":
        kept = first_of_split(table(source(arguments, name, "text.csv")), train, test)
        with open(folder / "text.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["task", "text"])
            writer.writerows((row["task"], row["text"]) for row in kept)
    else:
        import numpy as np
        kept = first_of_split(table(source(arguments, name, "tasks.csv")), train, test)
        np.save(folder / "features.npy", np.load(source(arguments, name, "features.npy"))[[int(row["row"]) for row in kept]])
    write_cut(folder, kept, gold, answers)


def worker_tables(answers, gold, classes, least=10, pooled=2):
    """Confusion tables of the workers with `least` answers to gold tasks, `pooled` answers of everybody added to each
    row, and how many answers each gave."""
    counts, everybody = defaultdict(Counter), Counter()
    for row in answers:
        if row["task"] in gold:
            counts[row["worker"]][gold[row["task"]], row["label"]] += 1
            everybody[gold[row["task"]], row["label"]] += 1
    crowd = []
    for _, own in sorted(counts.items()):
        if sum(own.values()) < least:
            continue
        rows = []
        for truth in classes:
            every = sum(everybody[truth, label] for label in classes)
            weights = [own[truth, label] + pooled * everybody[truth, label] / every for label in classes]
            rows.append([weight / sum(weights) for weight in weights])
        crowd.append((rows, sum(own.values())))
    return crowd


def answer_as_people(arguments, rows, folder, seed, people, answers_per_task):
    """Train tasks answered by workers of a real crowd, drawn as often as they answered there; their k-th class is ours."""
    import numpy as np
    random = np.random.default_rng(seed)
    where = arguments.data / people
    gold = {row["task"]: row["label"] for row in table(where / "gold.csv")}
    crowd = worker_tables(table(where / "labels.csv"), gold, sorted(set(gold.values())))
    activity = np.array([count for _, count in crowd], float)
    classes = sorted(set(row["label"] for row in table(rows / "gold.csv")))[:len(crowd[0][0])]
    truth = {row["task"]: row["label"] for row in table(rows / "gold.csv")}
    answers = []
    for row in table(rows / "tasks.csv"):
        if row["split"] != "train":
            continue
        for worker in random.choice(len(crowd), answers_per_task, replace=False, p=activity / activity.sum()):
            label = random.choice(len(classes), p=crowd[worker][0][classes.index(truth[row["task"]])])
            answers.append((row["task"], f"w{worker:03}", classes[label]))
    write(folder / "answers.csv", "task,worker,label", answers)


@made_once
def drawn_set(arguments, folder, name, seed):
    images, kind = name.split("_")
    machines = {"fashion": ["training_tasks=15", "most_training_tasks=150"], "catdog": ["training_tasks=30", "most_training_tasks=600"]}[images]
    rows = rows_of(arguments, images, *{"fashion": (1_000, 1_000), "catdog": (1_000, 1_000)}[images])
    kept = table(rows / "tasks.csv")
    if name == "fashion_people":  # LabelMe's workers know eight classes, and 700 tasks are few
        import numpy as np
        truth = {row["task"]: row["label"] for row in table(rows / "gold.csv")}
        kept = [row for row in kept if int(truth[row["task"]]) < 8]
        kept = [row for row in kept if row["split"] == "train"][:700] + [row for row in kept if row["split"] == "test"]
        np.save(folder / "features.npy", np.load(rows / "features.npy")[[int(row["row"]) for row in kept]])
        write_cut(folder, kept, truth)
    else:
        for file in ("features.npy", "gold.csv", "tasks.csv"):
            (folder / file).write_bytes((rows / file).read_bytes())
    if kind == "people":
        return answer_as_people(arguments, folder, folder, seed, *{"fashion": ("learn/labelme", 4), "catdog": ("aggregate/rte", 3)}[images])
    crowd = folder / "crowd"
    harness.run([arguments.program, "simulate", "machines", "--gold", folder / "gold.csv", "--tasks-file", folder / "tasks.csv", "--features",
                 folder / "features.npy", "--workers", 30, "--answers-per-task", 3, *(word for setting in machines for word in ("--set", setting)),
                 "--seed", seed, "--quiet", "--out", crowd])
    (folder / "answers.csv").write_bytes((crowd / "answers.csv").read_bytes())


def prepare(arguments, name, seed):
    """The folder of a set; drawn ones have another crowd for each seed."""
    return real_set(arguments, name) if name in REAL else drawn_set(arguments, name, seed)
