#!/usr/bin/env python3
"""From a labelled CSV to a trained classifier, although nobody ever saw a true label.

Three files, as a labelling project has them: who said what, what is known of each thing, and, only to see how well it went,
the truth. They are made here, so that the example runs anywhere.
"""
import pickle
import tempfile
from pathlib import Path

import pandas as pd

import wisecrowd


def write_files(folder):
    crowd = wisecrowd.simulate("dawid_skene", tasks=1000, workers=40, classes=3, answers_per_task=3, gaussian_features=2.0,
                               test_tasks=1000, seed=0)
    crowd.answers.rename(columns={"worker": "annotator"}).to_csv(folder / "answers.csv", index=False)
    crowd.features.to_csv(folder / "features.csv")
    crowd.gold.to_csv(folder / "truth.csv")


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    write_files(folder)

    answers = pd.read_csv(folder / "answers.csv")  # task, annotator, label: other headers are understood
    features = pd.read_csv(folder / "features.csv", index_col="task")
    truth = pd.read_csv(folder / "truth.csv", index_col="task")["true_label"]

print(wisecrowd.describe(answers), end="\n\n")
answered = features.loc[features.index.isin(answers.task)]
others = features.loc[~features.index.isin(answers.task)]  # nobody labelled these

# Labels from answers alone, then from answers and features together.
alone = wisecrowd.Automatic().fit(answers)
learner = wisecrowd.AggNet(network="mlp", hidden=64, epochs=30).fit(answered, answers)
print(f"answered tasks, by answers alone            {(alone.labels_ == truth[alone.labels_.index]).mean():.1%}")
print(f"answered tasks, by answers and features     {(learner.labels_ == truth[learner.labels_.index]).mean():.1%}")
print(f"other things, by the classifier             {learner.score(others, truth[others.index]):.1%}", end="\n\n")

print(f"epoch {learner.chosen_epoch_} of {len(learner.curve_)} was chosen by held-out likelihood")
print(learner.worker_summary_.sort_values("accuracy").round(3).head(3), end="\n\n")

# The trained classifier travels.
again = pickle.loads(pickle.dumps(learner))
print("first predictions:", list(again.predict(others[:5])), "with probabilities", again.predict_proba(others[:5]).max(axis=1).round(2))

assert (again.predict(others) == learner.predict(others)).all()
assert (learner.labels_ == truth[learner.labels_.index]).mean() > (alone.labels_ == truth[alone.labels_.index]).mean()
