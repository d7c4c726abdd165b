"""An estimator per learner of the engine: a classifier trained on the answers of a crowd.

>>> import wisecrowd
>>> crowd = wisecrowd.simulate("dawid_skene", tasks=300, gaussian_features=2.0, test_tasks=200, seed=3)
>>> learner = wisecrowd.CCEM(epochs=15).fit(crowd.features[crowd.splits == "train"], crowd.answers)
>>> learner.classes_
array(['0', '1'], dtype=object)
"""
from ._engine import learning_methods as _methods
from ._learner import Learner, make_class
from ._parameters import class_name as _class_name

CLASSES = {info["name"]: make_class(info, _class_name(info["name"]), __name__) for info in _methods()}
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["Learner", *(cls.__name__ for cls in CLASSES.values())]
