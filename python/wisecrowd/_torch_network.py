"""A torch module as a network of the engine: it computes outputs and gradients, the engine keeps and moves the parameters."""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np
import torch
from torch.utils.data import default_collate


def _dropping(module):
    return [part for part in module.modules() if isinstance(part, torch.nn.modules.dropout._DropoutNd) and part.p > 0]


def _call(module, batch):
    if isinstance(batch, dict):
        return module(**batch)
    return module(batch[0] if isinstance(batch, (tuple, list)) else batch)


class Items:
    """A dataset by the numbers of its items."""

    def __init__(self, dataset: Any):
        self.dataset = dataset
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            raise TypeError(f"a dataset has a length and items by number, as torch.utils.data.Dataset; not {type(dataset).__name__}")
        tensors = getattr(dataset, "tensors", None)
        self.tensor = dataset if isinstance(dataset, torch.Tensor) else tensors[0] if tensors else None
        if not len(dataset):
            raise ValueError("the dataset has no items: there must be one for each task")

    def __len__(self):
        return len(self.dataset)

    def batch(self, rows: np.ndarray):
        """The items of these numbers, put together."""
        if self.tensor is not None:
            return self.tensor[torch.from_numpy(rows.astype(np.int64))]
        return default_collate([self.dataset[int(row)] for row in rows])

    def features(self) -> Optional[np.ndarray]:
        """The items as rows of numbers, if they are that."""
        if self.tensor is None or self.tensor.ndim != 2 or not self.tensor.is_floating_point():
            return None
        return self.tensor.detach().cpu().to(torch.float32).numpy()


class Modules:
    """Networks for the engine, one per training, all by the same module (or by modules that a function makes)."""

    def __init__(self, module: Any, items: Items, device: Any = None, call: Optional[Callable] = None):
        self.items, self.call = items, call or _call
        self.device = torch.device(device) if device is not None else None
        self._given = module
        self.module = module if isinstance(module, torch.nn.Module) else None  # the one that worked last
        if self.module is None and not callable(module):
            raise TypeError(f"module is a torch.nn.Module, or a function of the number of outputs that makes one; not {type(module).__name__}")
        if self.module is not None:
            self._begin = _Weights(self.module)
            self._first = (self._begin.parameters(), self._begin.buffers())

    def drops(self) -> bool:
        """Whether a module drops anything, as far as can be told before there is one."""
        return self.module is None or bool(_dropping(self.module))

    def __call__(self, outputs: int, seed: int) -> "Network":
        if isinstance(self._given, torch.nn.Module):
            network = Network(self, self._given, outputs)
            network.first = self._first
        else:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                made = self._given(outputs)
            if not isinstance(made, torch.nn.Module):
                raise TypeError(f"the function that makes modules gave {type(made).__name__}")
            network = Network(self, made, outputs)
        network.reseed(seed)
        return network


class _Weights:
    """Parameters that are trained, and buffers, of a module as blocks of numbers."""

    def __init__(self, module):
        self.trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        if not self.trained:
            raise ValueError("the module has no parameters to train: requires_grad is False for all of them")
        for parameter in self.trained:
            if parameter.dtype != torch.float32:
                raise TypeError(f"the module has parameters of {parameter.dtype}: make it one of float32, module.float()")
        self.kept = [buffer for buffer in module.buffers() if buffer.is_floating_point()]

    @staticmethod
    def _block(tensors):
        return torch.cat([t.detach().reshape(-1).to("cpu", torch.float32) for t in tensors]).numpy() if tensors else np.zeros(0, np.float32)

    def parameters(self):
        return self._block(self.trained)

    def buffers(self):
        return self._block(self.kept)

    @staticmethod
    def put(tensors, values):
        begin = 0
        with torch.no_grad():
            for tensor in tensors:
                part = torch.from_numpy(np.array(values[begin:begin + tensor.numel()]))
                tensor.copy_(part.view(tensor.shape))
                begin += tensor.numel()

    def add_gradients(self, gradients):
        begin = 0
        for tensor in self.trained:
            if tensor.grad is not None:
                gradients[begin:begin + tensor.numel()] += tensor.grad.detach().reshape(-1).cpu().numpy()
                tensor.grad = None
            begin += tensor.numel()


class Network:
    """What the engine calls; see ForeignNetwork of its headers."""

    def __init__(self, owner: Modules, module: torch.nn.Module, outputs: int):
        self.owner, self.module, self.width = owner, module, outputs
        if owner.device is not None:
            module.to(owner.device)
        self.weights = _Weights(module)
        self.first = (self.weights.parameters(), self.weights.buffers())
        self.hidden_inputs, self.state, self.last = 0.0, None, None

    def parameters(self):
        self.weights.put(self.weights.kept, self.first[1])
        return self.first[0]

    def buffers(self):
        return self.weights.buffers()

    def set_buffers(self, values):
        self.weights.put(self.weights.kept, values)

    def drop_inputs(self, share):
        self.hidden_inputs = share

    def reseed(self, seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.state = torch.get_rng_state()

    def _outputs(self, rows, mode):
        batch = self.owner.items.batch(rows)
        device = next(iter(self.weights.trained)).device
        if isinstance(batch, torch.Tensor):
            batch = batch.to(device)
        elif device.type != "cpu":
            batch = {k: v.to(device) for k, v in batch.items()} if isinstance(batch, dict) else [v.to(device) if hasattr(v, "to") else v for v in batch]
        if mode == "train" and self.hidden_inputs and isinstance(batch, torch.Tensor) and batch.ndim == 2 and batch.is_floating_point():
            batch = torch.nn.functional.dropout(batch, self.hidden_inputs)
        found = self.owner.call(self.module, batch)
        if tuple(found.shape) != (len(rows), self.width):
            raise ValueError(f"the module gives outputs of shape {tuple(found.shape)} for {len(rows)} rows, and ({len(rows)}, {self.width}) is "
                             "needed; a function of the number of outputs that makes a module can be given as well")
        return found

    def forward(self, parameters, rows, mode, outputs):
        self.owner.module = self.module
        self.weights.put(self.weights.trained, parameters)
        before = [(part, part.training) for part in self.module.modules()]
        self.module.train(mode == "train")
        if mode == "sample":
            for part in _dropping(self.module):
                part.train()
        try:
            if mode == "predict":
                with torch.no_grad():
                    found = self._outputs(rows, mode)
            else:
                with torch.random.fork_rng():
                    torch.set_rng_state(self.state)
                    with torch.set_grad_enabled(mode == "train"):
                        found = self._outputs(rows, mode)
                    self.state = torch.get_rng_state()
        finally:
            for part, training in before:
                part.training = training
        self.last = found if mode == "train" else None
        outputs[:] = found.detach().to("cpu", torch.float32).reshape(-1).numpy()

    def backward(self, output_gradients, gradients):
        given = torch.from_numpy(np.array(output_gradients)).view(self.last.shape).to(self.last.device, self.last.dtype)
        self.last.backward(given)
        self.last = None
        self.weights.add_gradients(gradients)
