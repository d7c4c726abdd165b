#!/usr/bin/env python3
"""From crowd-kit to wisecrowd: the import changes, the rest of the code does not. What one gets on top is at the end."""
# from crowdkit.aggregation import DawidSkene, MajorityVote
from wisecrowd.aggregation import DawidSkene, MajorityVote

import wisecrowd

# A table with the columns task, worker and label, and the truth as a Series by task: crowd-kit's conventions.
crowd = wisecrowd.simulate("hammer_spammer", tasks=2000, workers=60, classes=3, seed=7)
answers, truth = crowd.answers, crowd.gold
print(answers.head(3), end="\n\n")

# As it was written for crowd-kit.
votes = MajorityVote().fit_predict(answers)
model = DawidSkene(n_iter=100, tol=1e-5)
labels = model.fit_predict(answers)
print(f"right by votes        {(votes == truth).mean():.1%}")
print(f"right by Dawid-Skene  {(labels == truth).mean():.1%}", end="\n\n")

# Tables of workers: rows are what they said, columns the truth.
print(model.errors_.loc["worker_000001"].round(3), end="\n\n")

# Known truth of some tasks makes workers better known.
with_gold = DawidSkene().fit(answers, truth[:200])
print(f"right with 200 gold tasks, on the others  {(with_gold.labels_ == truth)[200:].mean():.1%}", end="\n\n")

# What is new: whom to trust, with intervals; what to beware of; which method, without any truth.
print(model.worker_summary_.sort_values("informativeness").round(3).head(3), end="\n\n")
for _, message in wisecrowd.describe(answers).warnings:
    print("beware:", message)
table = wisecrowd.compare(answers, methods=["majority_vote", "dawid_skene", "hierarchical_dawid_skene", "mace"])
print(table[["log_probability", "behind_best"]].round(4), end="\n\n")
best = wisecrowd.Automatic().fit(answers)
print(f"right by the default  {(best.labels_ == truth).mean():.1%}\n{best.explanation_}", end="\n\n")
print(wisecrowd.evaluate(best, truth))

assert (best.labels_ == truth).mean() > (votes == truth).mean()
