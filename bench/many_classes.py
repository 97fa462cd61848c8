"""Hand and Till's AUC of many classes, beside one against the rest and scikit-learn.

    UBAUC_DATA=DIR python bench/many_classes.py [usps mnist sector news20]

Every method has the same training and test examples, features divided by their largest absolute
value (`MaxAbsScaler`, sparse), and the same penalty: half the squared norm times one gamma of
`GAMMAS`, which is 1 / (C n) of scikit-learn, chosen by the mean of Hand and Till's M over the same
folds of the training examples.

- hand-till: `UBAUCClassifier(multi_class="hand-till")` with the logistic loss;
- ovr: the same loss, one against the rest, whose classes count by their examples;
- multinomial: `LogisticRegression`, ranked by log-probabilities or by its linear scores,
  whichever is better on the folds;
- searched: hand-till as it comes, with its own search for the loss and gamma.

A difference is that of M to hand-till on the test examples, with the standard error of
`RESAMPLES` bootstrap samples of each class of the test examples.

Sets are cut to `LIMITS` so that each takes minutes: the first examples of a seeded order, and of
sector the classes with the lowest numbers.
"""

import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler
from ubauc import UBAUCClassifier, load_svmlight
from ubauc.metrics import hand_till

# Training examples at most, and classes at most.
LIMITS = {"usps": (7291, 10), "mnist": (4000, 10), "sector": (6412, 20), "news20": (4000, 20)}
FILES = {"news20": "news20_split"}
GAMMAS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
FOLDS = 3
RESAMPLES = 100


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
    if X_test.shape[1] != X.shape[1]:
        X_test.resize(X_test.shape[0], X.shape[1])
    scale = MaxAbsScaler().fit(X[train])
    return scale.transform(X[train]), y[train], scale.transform(X_test[test]), y_test[test]


def logistic(gamma, X, y, multi_class):
    """A scorer for each class by the logistic loss."""
    loss = {"beta": 0.0, "softness": 1.0, "gamma": gamma, "scale": "none"}
    return UBAUCClassifier(multi_class=multi_class, random_state=1, **loss).fit(X, y)


def multinomial(gamma, X, y):
    return LogisticRegression(C=1 / (gamma * y.size), max_iter=300).fit(X, y)


def chosen(fit, views, X, y):
    """The model of all examples with the gamma and the view of the largest mean over folds."""
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(X, y))
    means = {}
    for gamma in GAMMAS:
        models = [fit(gamma, X[part], y[part]) for part, _ in folds]
        for view in views:
            judged = zip(models, folds, strict=True)
            means[gamma, view] = np.mean([m_of(m, view, X[out], y[out]) for m, (_, out) in judged])
    gamma, view = max(means, key=means.get)
    return fit(gamma, X, y), view, gamma


def m_of(model, view, X, y):
    return hand_till(y, getattr(model, view)(X), labels=model.classes_)


def methods(X, y):
    """Name, fitted model, its view and gamma, in the order of the table."""
    decision = ["decision_function"]
    for multi_class in ("hand-till", "ovr"):
        yield multi_class, *chosen(partial(logistic, multi_class=multi_class), decision, X, y)
    yield "multinomial", *chosen(multinomial, ["predict_log_proba", *decision], X, y)
    searched = UBAUCClassifier(multi_class="hand-till", scale="none", random_state=1).fit(X, y)
    yield "searched", searched, *decision, searched.gamma_[0]


def resampled(y):
    """Places of a bootstrap sample of each class."""
    rng = np.random.default_rng(2)
    of_class = [np.flatnonzero(y == label) for label in np.unique(y)]
    for _ in range(RESAMPLES):
        yield np.concatenate([rng.choice(places, places.size) for places in of_class])


def difference(ours, theirs, y, labels):
    """Of M, with its standard error."""
    draws = [
        hand_till(y[at], theirs[at], labels=labels) - hand_till(y[at], ours[at], labels=labels)
        for at in resampled(y)
    ]
    found = hand_till(y, theirs, labels=labels) - hand_till(y, ours, labels=labels)
    return f"{found:+.5f} ± {np.std(draws):.5f}"


def main(names):
    warnings.simplefilter("ignore")
    columns = ["hand-till", "ovr", "multinomial", "searched"]
    print("| set | examples | classes | smallest, largest | " + " | ".join(columns) + " |")
    print("|---" * (4 + len(columns)) + "|")
    for name in names:
        X, y, X_test, y_test = load(name)
        counts = np.unique(y, return_counts=True)[1]
        cells, ours = [], None
        for method, model, view, gamma in methods(X, y):
            scores, labels = getattr(model, view)(X_test), model.classes_
            cell = f"{hand_till(y_test, scores, labels=labels):.5f}"
            if ours is None:
                ours = scores
            else:
                cell += f" ({difference(ours, scores, y_test, labels)})"
            cells.append(cell)
            said = f"{time.process_time():.0f}s {name} {method} {view} gamma {gamma:g} {cell}"
            print(said, file=sys.stderr, flush=True)
        about = [name, y.size, counts.size, f"{counts.min()}, {counts.max()}"]
        print("| " + " | ".join(map(str, about + cells)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(LIMITS))
