#!/usr/bin/python3
"""Plain loops in Python's torch, as one would write them: what wisecrowd's epochs are measured against.

    peer_loops.py --method crowd_layer|ccem|max_mig|step [--net mlp|cnn_28|cnn_32|…] [--threads N] [--epochs N]

Prints one line of JSON: seconds and processor seconds of one epoch (the fastest, and the median). The data are random but
have the size of LabelMe: 1000 rows of 512 numbers, 59 workers, 2547 answers, 8 classes. Each loop checks that its loss
falls. Uses the same BLAS and the same kind of processor kernels as wisecrowd chooses for itself.
"""
import argparse
import json
import os
import sys
import time


def choose_kernels():
    """OpenBLAS does not know newer processors; wisecrowd tells it, so the peer gets the same."""
    try:
        with open("/proc/cpuinfo", encoding="ascii") as file:
            flags = next((line for line in file if line.startswith("flags")), "").split()
    except OSError:
        return
    if "avx512vl" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    elif "avx2" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


choose_kernels()
try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    sys.exit("peer_loops.py: needs torch for Python (Debian: python3-torch)")

ROWS, COLUMNS, WORKERS, CLASSES, ANSWERS, BATCH = 1000, 512, 59, 8, 2547, 64


def crowd(seed=1):
    """Features, and answers as the public code keeps them: tasks × workers, −1 where a worker did not answer."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(CLASSES, COLUMNS, generator=generator)
    truth = torch.randint(CLASSES, (ROWS,), generator=generator)
    rows = centres[truth] + 3 * torch.randn(ROWS, COLUMNS, generator=generator)
    answers = torch.full((ROWS, WORKERS), -1)
    chosen = torch.randperm(ROWS * WORKERS, generator=generator)[:ANSWERS]
    wrong = torch.rand(ANSWERS, generator=generator) < 0.3
    said = torch.where(wrong, torch.randint(CLASSES, (ANSWERS,), generator=generator), truth[chosen // WORKERS])
    answers.view(-1)[chosen] = said
    return rows, answers


def head(columns=COLUMNS, hidden=128, classes=CLASSES):
    return nn.Sequential(nn.Linear(columns, hidden), nn.ReLU(), nn.Dropout(0.5), nn.Linear(hidden, classes))


class Convolutional(nn.Module):
    """The network of the cat and dog experiments, for 28 or 32 pixels."""

    def __init__(self, size, channels, classes, hidden=128):
        super().__init__()
        layers, extent = [], size
        for number, filters in enumerate((32, 32, 64, 64)):
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
            if extent >= 4:
                layers.append(nn.MaxPool2d(2))
                extent //= 2
            if number == 0:
                layers.append(nn.BatchNorm2d(filters))
            channels = filters
        self.trunk = nn.Sequential(*layers, nn.Flatten())
        self.head = head(channels * extent * extent, hidden, classes)

    def forward(self, x):
        return self.head(self.trunk(x))


class CrowdLayer(nn.Module):
    """One weight matrix per worker behind the softmax; the observed answers' cross-entropy (B5, MW)."""

    def __init__(self, answers):
        super().__init__()
        self.weights = nn.Parameter(torch.eye(CLASSES).repeat(WORKERS, 1, 1))
        self.answers = answers

    def forward(self, logits, tasks):
        scores = torch.einsum("bk,jkl->bjl", torch.softmax(logits, 1), self.weights)
        answers = self.answers[tasks]
        return functional.cross_entropy(scores.reshape(-1, CLASSES), answers.reshape(-1), ignore_index=-1)


class Ccem(nn.Module):
    """One row-stochastic table per worker; the likelihood of each answer (B4)."""

    def __init__(self, answers):
        super().__init__()
        self.logits = nn.Parameter(3 * torch.eye(CLASSES).repeat(WORKERS, 1, 1))
        self.answers = answers

    def forward(self, logits, tasks):
        tables = torch.softmax(self.logits, 2)
        said = torch.einsum("bk,jkl->bjl", torch.softmax(logits, 1), tables)
        answers = self.answers[tasks]
        return functional.nll_loss((said + 1e-12).log().reshape(-1, CLASSES), answers.reshape(-1), ignore_index=-1)


class MaxMig(nn.Module):
    """Mutual information between the network and an aggregator of the answers (B8, Kullback–Leibler)."""

    def __init__(self, answers):
        super().__init__()
        one_hot = functional.one_hot(answers.clamp(min=0), CLASSES).float() * (answers >= 0).unsqueeze(2)
        self.one_hot = one_hot.reshape(ROWS, WORKERS * CLASSES)
        self.aggregator = nn.Linear(WORKERS * CLASSES, CLASSES)
        with torch.no_grad():
            self.aggregator.weight.copy_((2 * torch.eye(CLASSES)).repeat(1, WORKERS))
            self.aggregator.bias.zero_()

    def forward(self, logits, tasks):
        f = torch.softmax(logits, 1)
        g = torch.softmax(self.aggregator(self.one_hot[tasks]), 1)
        ratio = CLASSES * f @ g.t()
        batch = ratio.size(0)
        same = ratio.diagonal()
        others = (ratio.sum() - same.sum()) / (batch * (batch - 1))
        return others - 1 - (same + 5e-5).log().mean()


class TowardsOne(nn.Module):
    """The plainest loss, to time the step of a network alone."""

    def forward(self, outputs, tasks):
        del tasks
        return 0.5 * ((outputs - 1) ** 2).mean()


NETS = {
    "mlp": (lambda: head(), (COLUMNS,), 64),
    "mlp_8192": (lambda: head(8192), (8192,), 64),
    "mlp_1248": (lambda: head(1248, 100, 2), (1248,), 128),
    "cnn_28": (lambda: Convolutional(28, 1, 10), (1, 28, 28), 64),
    "cnn_32": (lambda: Convolutional(32, 3, 10), (3, 32, 32), 64),
}


def measure(network, loss_of, rows, batch, epochs, rate=1e-3):
    parameters = [*network.parameters(), *loss_of.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=rate)
    network.train()
    wall, processor, losses = [], [], []
    for _ in range(epochs):
        began, processor_began = time.perf_counter(), time.process_time()
        total, order = 0.0, torch.randperm(len(rows))
        for begin in range(0, len(rows) - batch + 1, batch):
            tasks = order[begin:begin + batch]
            optimiser.zero_grad()
            loss = loss_of(network(rows[tasks]), tasks)
            loss.backward()
            optimiser.step()
            total += loss.item()
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - processor_began)
        losses.append(total)
    if not losses[-1] < losses[0]:
        sys.exit(f"peer_loops.py: the loss does not fall: {losses[0]} to {losses[-1]}")
    return wall, processor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=["crowd_layer", "ccem", "max_mig", "step"], required=True)
    parser.add_argument("--net", choices=sorted(NETS), default="mlp", help="--method step: which network")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rows", type=int, default=1024, help="--method step: rows of an epoch")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    if options.method == "step":
        make, shape, batch = NETS[options.net]
        network, rows, loss_of = make(), torch.randn(options.rows, *shape), TowardsOne()
    else:
        (rows, answers), batch = crowd(), BATCH
        network = head()
        loss_of = {"crowd_layer": CrowdLayer, "ccem": Ccem, "max_mig": MaxMig}[options.method](answers)
    # The targets of a step mean nothing, so wide networks want short ones for the loss to fall; the time is the same.
    wall, processor = measure(network, loss_of, rows, batch, options.epochs, 1e-4 if options.method == "step" else 1e-3)
    samples = len(rows) // batch * batch
    print(json.dumps({
        "method": options.method, "net": options.net if options.method == "step" else "mlp",
        "threads": options.threads, "epochs": options.epochs, "samples": samples,
        "seconds": min(wall), "median_seconds": sorted(wall)[len(wall) // 2],
        "processor_seconds": min(processor), "samples_per_second": samples / min(wall),
    }))


if __name__ == "__main__":
    main()
