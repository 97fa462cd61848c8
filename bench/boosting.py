"""Boosted trees by the univariate bound and by log loss: test AUC, on a9a and w7a.

    UBAUC_DATA=… .venv/bin/python bench/boosting.py
    UBAUC_DATA=… .venv/bin/python bench/boosting.py cost

Both objectives have four candidates: two depths, and two weights of the rare class (log loss) or
two weights of the least squares (bound). A fifth of the training data, the same for all, chooses
the candidate and the number of trees by AUC; the model is fitted again on all of the training data
and judged once on the test data. The p-value is DeLong's, of the two on the same test data.

`cost` fits by each, depths 3 and 6, on adult (categories as codes) and a9a; it prints the processor
time of a fit by the bound as a multiple of that by log loss: one thread, the best of three.
"""

import os
import pathlib
import sys
import time
import warnings

import lightgbm
import numpy as np
import pyarrow as pa
import pyarrow.csv
import xgboost
from measure import table
from sklearn.model_selection import train_test_split
from ubauc import load_svmlight
from ubauc.metrics import delong_test, roc_auc
from ubauc.objectives import lightgbm_objective, xgboost_objective

TREES, CHECK, RATE = 150, 10, 0.2


def xgboost_model(depth, trees, **given):
    return xgboost.XGBClassifier(
        max_depth=depth, n_estimators=trees, learning_rate=RATE, n_jobs=1, **given
    )


def lightgbm_model(depth, trees, **given):
    return lightgbm.LGBMClassifier(
        num_leaves=2**depth, n_estimators=trees, learning_rate=RATE, n_jobs=1, verbose=-1, **given
    )


def xgboost_scores(model, X, trees):
    return model.predict(X, output_margin=True, iteration_range=(0, trees))


def lightgbm_scores(model, X, trees):
    return model.predict(X, raw_score=True, num_iteration=trees)


LIBRARIES = {
    "XGBoost": (xgboost_model, xgboost_scores, xgboost_objective),
    "LightGBM": (lightgbm_model, lightgbm_scores, lightgbm_objective),
}


def candidates(kind, objective, y):
    for depth in (3, 6):
        if kind == "bound":
            for beta in (0.5, 4.0):
                yield depth, {"objective": objective(beta=beta)}, f"depth {depth}, beta {beta:g}"
        else:
            for weight in (1.0, (y == 0).sum() / (y == 1).sum()):
                said = f"depth {depth}, weight {weight:.3g}"
                yield depth, {"scale_pos_weight": weight}, said


def judged(library, kind, X, y, X_test):
    model, scores, objective = LIBRARIES[library]
    X_fit, X_val, y_fit, y_val = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    found, spent = [], 0.0
    for depth, given, said in candidates(kind, objective, y_fit):
        start = time.perf_counter()
        fitted = model(depth, TREES, **given).fit(X_fit, y_fit)
        spent += time.perf_counter() - start
        for trees in range(CHECK, TREES + 1, CHECK):
            found.append((roc_auc(y_val, scores(fitted, X_val, trees)), trees, depth, given, said))
    _, trees, depth, given, said = max(found, key=lambda one: one[0])
    fitted = model(depth, trees, **given).fit(X, y)
    return scores(fitted, X_test, trees), f"{said}, {trees} trees", spent


def adult(path):
    frame = pyarrow.csv.read_csv(pa.input_stream(path, compression="zstd")).to_pandas()
    y = frame.pop(frame.columns[-1]).astype(str).str.contains(">").to_numpy(int)
    text = frame.select_dtypes(exclude="number").columns
    frame[text] = frame[text].apply(lambda column: column.astype("category").cat.codes)
    return frame.to_numpy(np.float32), y


def least_seconds(fit, X, y):
    def once():
        start = time.thread_time()
        fit(X, y)
        return time.thread_time() - start

    return min(once() for _ in range(3))


def cost():
    data = pathlib.Path(os.environ["UBAUC_DATA"])
    X, y = load_svmlight(data / "a9a" / "train.svm.zst")
    sets = {
        "adult": adult(data / "tables" / "adult.csv.zst"),
        "a9a": (X.astype(np.float32), (y > 0).astype(int)),
    }
    rows = []
    for name, (X, y) in sets.items():
        for library, (model, _, objective) in LIBRARIES.items():
            for depth in (3, 6):
                ours = least_seconds(model(depth, TREES, objective=objective()).fit, X, y)
                theirs = least_seconds(model(depth, TREES).fit, X, y)
                times = (f"{ours:.2f} s", f"{theirs:.2f} s", f"{ours / theirs:.1f}×")
                rows.append([name, library, str(depth), *times])
    print(table(["data", "trees", "depth", "bound", "log loss", "ratio"], rows))


def main():
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    data = pathlib.Path(os.environ["UBAUC_DATA"])
    rows = []
    for name in ("a9a", "w7a"):
        X, y = load_svmlight(data / name / "train.svm.zst")
        X_test, y_test = load_svmlight(data / name / "test.svm.zst", n_features=X.shape[1])
        X, X_test = (part.astype(np.float32) for part in (X, X_test))
        y, y_test = (y > 0).astype(int), (y_test > 0).astype(int)
        for library in LIBRARIES:
            ours, chosen, seconds = judged(library, "bound", X, y, X_test)
            theirs, their_choice, their_seconds = judged(library, "log loss", X, y, X_test)
            test = delong_test(y_test, ours, theirs)
            rows.append(
                [
                    name,
                    library,
                    f"{test.auc_a:.4f}",
                    f"{test.auc_b:.4f}",
                    f"{test.difference:+.4f}",
                    f"{test.pvalue:.2g}",
                    chosen,
                    their_choice,
                    f"{seconds / their_seconds:.2f}×",
                ]
            )
            print(rows[-1], flush=True)
    head = ["data", "trees", "bound", "log loss", "difference", "p"]
    print(table([*head, "bound chose", "log loss chose", "time of fits, bound / log loss"], rows))
    print(f"xgboost {xgboost.__version__}, lightgbm {lightgbm.__version__}")


if __name__ == "__main__":
    cost() if sys.argv[1:] == ["cost"] else main()
