"""A small transformer, made from nothing, learns from what a crowd says of sentences. Nothing is downloaded.

    torch_text.py
"""
import random
import sys

try:
    import torch
except ImportError:
    print("skipped: this example needs torch (Debian: python3-torch)")
    sys.exit(77)
import pandas as pd

import wisecrowd
import wisecrowd.torch

GOOD, BAD = "lovely warm tasty quick friendly fresh".split(), "cold rude slow bland dirty stale".split()
OTHER = "the soup was we came again on a rainy day with two friends and then left".split()
WORDS = {word: number for number, word in enumerate(["", "not", *GOOD, *BAD, *OTHER])}
LENGTH = 10
JUDGED, NEW = 1000, 200  # sentences


class Transformer(torch.nn.Module):
    def __init__(self, classes, width=32):
        super().__init__()
        self.words = torch.nn.Embedding(len(WORDS), width, padding_idx=0)
        self.places = torch.nn.Parameter(0.1 * torch.randn(LENGTH, width))
        layer = torch.nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, num_layers=1)
        self.last = torch.nn.Linear(width, classes)

    def forward(self, tokens):
        seen = self.encoder(self.words(tokens) + self.places)
        return self.last(seen.mean(dim=1))


def sentence(rng):
    """Words in which one says what the guest thought; "not" before it turns it round."""
    good, turned = rng.random() < 0.5, rng.random() < 0.3
    words = [rng.choice(OTHER) for _ in range(LENGTH - 2)]
    place = rng.randrange(len(words))
    words[place:place] = (["not"] if turned else []) + [rng.choice(GOOD if good != turned else BAD)]
    return words, "good" if good else "bad"


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rng = random.Random(1)
    sentences, truth = zip(*(sentence(rng) for _ in range(JUDGED + NEW)))
    tokens = torch.tensor([[WORDS[word] for word in (words + [""] * LENGTH)[:LENGTH]] for words in sentences])
    # Three of twelve readers judge each of the first thousand sentences; some of them guess.
    skill = [0.9, 0.85, 0.8, 0.8, 0.75, 0.75, 0.7, 0.7, 0.65, 0.6, 0.5, 0.5]
    answers = pd.DataFrame([(task, f"reader {reader}", truth[task] if rng.random() < skill[reader] else {"good": "bad", "bad": "good"}[truth[task]])
                            for task in range(JUDGED) for reader in rng.sample(range(12), 3)], columns=["task", "worker", "label"])
    votes = wisecrowd.MajorityVote().fit_predict(answers)
    result = wisecrowd.torch.fit(lambda outputs: Transformer(outputs), tokens, answers, "aggnet", epochs=40, learning_rate=3e-3, held_out=0)
    right_votes = sum(votes[task] == truth[task] for task in range(JUDGED)) / JUDGED
    right_labels = sum(result.labels_[task] == truth[task] for task in range(JUDGED)) / JUDGED
    right_new = result.score(tokens[JUDGED:], truth[JUDGED:])
    print(f"sentences with answers: votes {right_votes:.1%} right, network and readers together {right_labels:.1%}")
    print(f"sentences that nobody judged: {right_new:.1%} right")
    assert right_labels > right_votes and right_new > 0.85


if __name__ == "__main__":
    main()
