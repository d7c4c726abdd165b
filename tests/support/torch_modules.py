#!/usr/bin/env python3
"""The Python side of src/learn/torch/torch_network_test.cpp.

    torch_modules.py make FOLDER    writes the modules that a user might bring, good ones and bad ones
    torch_modules.py check FOLDER   runs each NAME.pt that has NAME.rows and compares with NAME.outputs

Exits with 77 when this Python has no torch.
"""
import sys
from pathlib import Path

try:
    import numpy
    import torch
    from torch import nn
except ImportError as reason:
    print(reason)
    sys.exit(77)


class Tied(nn.Module):
    """One weight under two names."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.second = nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        return self.last(self.second(torch.tanh(self.first(x))))


class NoParameters(nn.Module):
    def forward(self, x):
        return x[:, :3] * 2


class Throws(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        if x.size(0) > 0:
            raise RuntimeError("this module works only on Tuesdays")
        return self.layer(x)


class ThreeDimensional(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x).unsqueeze(1)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x), x


def make(folder):
    torch.manual_seed(1)
    frozen = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    for parameter in frozen[0].parameters():
        parameter.requires_grad_(False)
    modules = {
        "mlp": nn.Sequential(nn.Linear(4, 9), nn.Tanh(), nn.Linear(9, 3)),
        "dropout": nn.Sequential(nn.Linear(4, 9), nn.BatchNorm1d(9), nn.ReLU(), nn.Dropout(0.5), nn.Linear(9, 3)),
        "tied": Tied(),
        "frozen_layer": frozen,
        "no_parameters": NoParameters(),
        "double": nn.Linear(4, 3).double(),
        "throws": Throws(),
        "three_dim": ThreeDimensional(),
        "pair": Pair(),
    }
    for name, module in modules.items():
        torch.jit.script(module).save(str(folder / f"{name}.pt"))
    torch.jit.trace(modules["mlp"], torch.zeros(2, 4)).save(str(folder / "traced.pt"))
    torch.save(modules["mlp"].state_dict(), folder / "state_dict.pt")


def read(path):
    with open(path, encoding="ascii") as file:
        shape = [int(extent) for extent in file.readline().split()]
        return numpy.array(file.read().split(), dtype=numpy.float32).reshape(shape)


def check(folder):
    checked = 0
    for rows_file in sorted(folder.glob("*.rows")):
        name = rows_file.stem
        module = torch.jit.load(str(folder / f"{name}.pt"))
        rows, expected = read(rows_file), read(folder / f"{name}.outputs")
        kinds = [numpy.float32, numpy.float64] + ([numpy.uint8] if rows.ndim > 2 else [])
        assert not module.training, f"{name} is not in eval mode"
        for kind in kinds:
            found = module(torch.from_numpy(rows.astype(kind))).detach().numpy()
            assert found.shape == expected.shape, f"{name}: {found.shape} is not {expected.shape}"
            difference = numpy.abs(found - expected).max()
            assert difference <= 1e-5, f"{name}, {kind.__name__}: outputs differ by {difference}"
        # It can be trained further, and saved again by Python.
        module.train()
        module(torch.from_numpy(rows)).sum().backward()
        assert list(module.parameters()), f"{name}: no parameters"
        assert all(parameter.grad is not None for parameter in module.parameters()), f"{name}: no gradient"
        module.save(str(folder / "again.pt"))
        checked += 1
    print(f"{checked} modules agree")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
