"""Hand and Till's AUC of many classes, beside one against the rest and scikit-learn.

    UBAUC_DATA=DIR python bench/many_classes.py [usps mnist sector news20]

Every method has the same training and test examples, features divided by their largest absolute
value (`MaxAbsScaler`, sparse), and parameters chosen on the training examples alone:

- hand-till: `UBAUCClassifier(multi_class="hand-till")`, loss and gamma chosen by its search;
- ovr: `UBAUCClassifier(multi_class="ovr")` with the same choice of the loss and gamma as hand-till,
  so that only the weights of the classes differ;
- ovr, own: the same with a choice of its own;
- multinomial: `LogisticRegression`, C by Hand and Till's AUC on a fifth of the training examples.

Sets are cut to `LIMITS` so that all takes minutes: the first examples of a seeded order, and of
sector the classes with the lowest numbers.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MaxAbsScaler
from ubauc import UBAUCClassifier, load_svmlight
from ubauc.metrics import hand_till

# Training examples at most, and classes at most.
LIMITS = {"usps": (7291, 10), "mnist": (4000, 10), "sector": (6412, 20), "news20": (6000, 20)}
FILES = {"news20": "news20_split"}


def load(name):
    """Rows and labels of both parts, scaled."""
    folder = Path(os.environ["UBAUC_DATA"]) / FILES.get(name, name)
    X, y = load_svmlight(str(folder / "train.svm.zst"))
    X_test, y_test = load_svmlight(str(folder / "test.svm.zst"))
    rows, n_classes = LIMITS[name]
    kept = np.unique(y)[:n_classes]
    train = np.flatnonzero(np.isin(y, kept))
    train = np.sort(np.random.default_rng(1).permutation(train)[:rows])
    test = np.flatnonzero(np.isin(y_test, kept))
    d = X.shape[1]
    X_test.resize(X_test.shape[0], d) if X_test.shape[1] != d else None
    scale = MaxAbsScaler().fit(X[train])
    return scale.transform(X[train]), y[train], scale.transform(X_test[test]), y_test[test]


def m_of(model, X, y):
    return hand_till(y, model.decision_function(X), labels=model.classes_)


def multinomial(X, y):
    """C by Hand and Till's AUC on a fifth of the examples."""
    parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
    part, rest, y_part, y_rest = parts

    def fitted(C, X, y):
        return LogisticRegression(C=C, max_iter=300).fit(X, y)

    grid = [0.01, 0.1, 1.0, 10.0, 100.0]
    found = [m_of(fitted(C, part, y_part), rest, y_rest) for C in grid]
    return fitted(grid[int(np.argmax(found))], X, y)


def methods(X, y):
    """Name and fitted model, in the order of the table."""
    common = {"scale": "none", "random_state": 1, "n_jobs": 2}
    ours = UBAUCClassifier(multi_class="hand-till", **common).fit(X, y)
    yield "hand-till", ours
    same = {
        "beta": ours.beta_[0],
        "gamma": ours.gamma_[0],
        "softness": ours.softness_[0],
        "least_squares": ours.least_squares_[0],
        "class_weight": ours.class_weight_[0],
    }
    yield "ovr", UBAUCClassifier(multi_class="ovr", **same, **common).fit(X, y)
    yield "ovr, own", UBAUCClassifier(multi_class="ovr", **common).fit(X, y)
    yield "multinomial", multinomial(X, y)


def main(names):
    warnings.simplefilter("ignore")
    columns = ["hand-till", "ovr", "ovr, own", "multinomial"]
    print("| set | examples | classes | smallest, largest | " + " | ".join(columns) + " |")
    print("|---" * (4 + len(columns)) + "|")
    for name in names:
        X, y, X_test, y_test = load(name)
        counts = np.unique(y, return_counts=True)[1]
        cells = [f"{m_of(model, X_test, y_test):.5f}" for _, model in methods(X, y)]
        about = [name, y.size, counts.size, f"{counts.min()}, {counts.max()}"]
        print("| " + " | ".join(map(str, about + cells)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(LIMITS))
