"""A convolutional network, made from nothing, learns from what a crowd says of pictures, in a loop of its own. Nothing is downloaded.

    torch_images.py
"""
import sys

try:
    import torch
except ImportError:
    print("skipped: this example needs torch (Debian: python3-torch)")
    sys.exit(77)
import numpy as np
import pandas as pd

import wisecrowd
import wisecrowd.torch

SHAPES = ("cross", "square", "stripes")


def picture(shape, rng):
    """16 × 16 pixels with a shape somewhere, and noise."""
    image = np.zeros((16, 16))
    top, left = rng.integers(0, 8, 2)
    if shape == "cross":
        image[top:top + 8, left + 3:left + 5] = image[top + 3:top + 5, left:left + 8] = 1
    elif shape == "square":
        image[top:top + 8, left:left + 8] = 1
        image[top + 2:top + 6, left + 2:left + 6] = 0
    else:
        image[top:top + 8:3, left:left + 8] = 1
    return image + 0.4 * rng.normal(size=image.shape)


def make_network(outputs):
    layers = torch.nn
    return layers.Sequential(layers.Conv2d(1, 8, 3, padding=1), layers.ReLU(), layers.MaxPool2d(2), layers.Conv2d(8, 16, 3, padding=1), layers.ReLU(),
                             layers.AdaptiveMaxPool2d(1), layers.Flatten(), layers.Linear(16, outputs))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 500)
    images = torch.tensor(np.array([picture(SHAPES[k], rng) for k in truth])[:, None], dtype=torch.float32)
    # Two of ten people look at each of the first 400; half of them take stripes for a cross.
    rows = []
    for task in range(400):
        for person in rng.choice(10, 2, replace=False):
            said = truth[task] if rng.random() < 0.8 else rng.integers(0, 3)
            rows.append((task, person, SHAPES[0 if said == 2 and person >= 5 else said]))
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"])

    criterion = wisecrowd.torch.CrowdLoss("aggnet", answers, tasks=len(images))
    module = make_network(criterion.outputs)
    optimizer = torch.optim.Adam(module.parameters(), lr=3e-3)
    for epoch in range(25):
        criterion.begin_epoch(epoch, 25, lambda: module(images))
        for batch in torch.randperm(len(images)).split(50):  # pictures without answers count for nothing
            optimizer.zero_grad()
            criterion(module(images[batch]), batch).backward()
            optimizer.step()
            criterion.step()
        criterion.end_epoch()
    criterion.end_training()
    with torch.no_grad():
        logits = module(images)
    result = criterion.result(logits)
    names = np.array(SHAPES)[truth]
    votes = wisecrowd.MajorityVote().fit_predict(answers)
    right_votes, right_labels = ((labels.sort_index().to_numpy() == names[:400]).mean() for labels in (votes, result.labels_))
    new = criterion.classes_[criterion.predict_proba(logits[400:]).argmax(axis=1)]
    print(f"pictures with answers: votes {right_votes:.1%} right, network and people together {right_labels:.1%}")
    print(f"pictures that nobody looked at: {(new == names[400:]).mean():.1%} right")
    print(result.errors_.loc[7].round(2))  # a person who takes stripes for a cross
    assert right_labels > right_votes and (new == names[400:]).mean() > 0.85


if __name__ == "__main__":
    main()
