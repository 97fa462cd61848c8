"""Learn and judge scoring functions by AUC, without comparing pairs of examples.

>>> from sklearn.datasets import make_classification
>>> from sklearn.model_selection import train_test_split
>>> from ubauc import UBAUCClassifier
>>> X, y = make_classification(n_samples=2000, weights=[0.95], random_state=0)
>>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
>>> clf = UBAUCClassifier(random_state=0).fit(X_train, y_train)
>>> clf.score(X_test, y_test) > 0.85
True
>>> bool(clf.gap_ < 1e-6)  # certified: no weights do better than this by more than one in a million
True
"""

from . import metrics, objectives, plot
from ._classifier import UBAUCClassifier
from ._core import __version__
from ._readers import load_svmlight
from ._rivals import OAMClassifier, OPAUCClassifier, RankSVMClassifier, SOLAMClassifier
from .exceptions import BaselineWarning, CollapseWarning, ColumnWarning

__all__ = [
    "BaselineWarning",
    "CollapseWarning",
    "ColumnWarning",
    "OAMClassifier",
    "OPAUCClassifier",
    "RankSVMClassifier",
    "SOLAMClassifier",
    "UBAUCClassifier",
    "__version__",
    "load_svmlight",
    "metrics",
    "objectives",
    "plot",
]
