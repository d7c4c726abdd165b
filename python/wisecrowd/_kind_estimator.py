"""What the estimators of numbers, sets, comparisons, similarities and sequences have in common."""
from __future__ import annotations

import os
from typing import Any, Callable, ClassVar

from ._parameters import NotFittedError
from ._report import delivered


class KindEstimator:
    _fitted: ClassVar[tuple] = ()  #: attributes that a fit leaves

    def _report(self, path: Any, gold: Any, write: Callable[[bool, bool], str]) -> Any:
        """Delivers what write(seen, is_json) makes; `seen` says whether the fit was given gold."""
        if "_fit" not in vars(self):
            raise NotFittedError(f"there is nothing to report yet: call {type(self).__name__}.fit first")
        seen = self._known is not None
        if gold is not None and seen:
            raise ValueError("the fit was given gold, so it is no test of it: leave gold out")
        return delivered(write(seen, path is not None and os.fspath(path).endswith(".json")), path)

    def __getattr__(self, name):
        if name in type(self)._fitted:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    def __repr__(self):
        return f"{type(self).__name__}()"
