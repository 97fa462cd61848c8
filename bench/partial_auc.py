"""Searching for the left end of the ROC curve: test partial AUC beside a search for the whole AUC.

    UBAUC_DATA=data .venv/bin/python bench/partial_auc.py [SET …] [--program target/release/ubauc]

Three searches with the same folds (`ubauc tune`, linear features): by AUC; by partial AUC with the
class weights none and balanced; by partial AUC with ratios, too, which is what `--criterion
partial-auc:F` does. Each choice is trained on the whole training part and judged on the test part
by McClish's partial AUC. Differences have 95 % intervals by a stratified bootstrap of the test
rows, the same draws for all models.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from glass import TABLES, Split
from measure import CACHE, ROOT, table
from soft import SKIPPED, data_folder

SETS = ["a9a", "w7a", "ijcnn1", "adult", "bank_additional", "give_me_some_credit"]
RATE = 0.05
DRAWS, SEED = 1000, 2026
PARTIAL = ["--criterion", f"partial-auc:{RATE}"]
SEARCHES = {
    "AUC": [],
    "partial AUC": [*PARTIAL, "--class-weight", "none,balanced"],
    "partial AUC, ratios": PARTIAL,
}


def plain(path, to):
    """An archive, unpacked once."""
    if not to.exists():
        to.parent.mkdir(exist_ok=True)
        subprocess.run(["zstd", "-q", "-d", path, "-o", to], check=True)
    return to


def parts(name):
    """Files to train on and to test on, options, and the classes of the test rows."""
    if name in TABLES:
        plain(data_folder() / "tables" / f"{name}.csv.zst", CACHE / f"{name}.csv")
        split = Split(name)
        return split.files, [*split.options(), "--features", "linear"], split.y_test
    files = [
        plain(data_folder() / name / f"{part}.svm.zst", CACHE / f"{name}.{part}.svm")
        for part in ("train", "test")
    ]
    with files[1].open() as lines:
        labels = [float(line.split(maxsplit=1)[0]) for line in lines]
    return files, [], np.array(labels) > 0


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def learned(program, files, options, search):
    """The chosen point, and the scores of the test part."""
    found = json.loads(
        run(program, "tune", files[0], *options, "--held-out", 0, *search, "--json", "--quiet")
    )
    point = found["chosen"]
    loss = [f"--{name}={point[name]}" for name in ("beta", "gamma", "softness")]
    loss += [f"--class-weight={point['class_weight']}"]
    if "--features" not in options:
        loss += ["--scale", found["scale"]]
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.json"
        run(program, "train", files[0], *options, *loss, "--model", model, "--quiet")
        scores = run(program, "predict", "--model", model, files[1], "--quiet")
    return point, np.array(scores.splitlines()[1:], dtype=float)


class Ranking:
    """Test rows in the order of their scores, tied ones together."""

    def __init__(self, scores, positive):
        self.order = np.argsort(-scores, kind="stable")
        sorted_scores = scores[self.order]
        self.ends = np.append(np.flatnonzero(np.diff(sorted_scores)), len(scores) - 1)
        self.positive = positive[self.order]

    def curve(self, counts):
        """False and true positive rates, with a count for each row."""
        counts = counts[self.order]
        true = np.cumsum(counts * self.positive)[self.ends]
        false = np.cumsum(counts * ~self.positive)[self.ends]
        return np.append(0, false) / false[-1], np.append(0, true) / true[-1]

    def partial_auc(self, counts, rate):
        """McClish's: 1/2 by chance, 1 if perfect."""
        false, true = self.curve(counts)
        inside = np.searchsorted(false, rate, side="right")
        x = np.append(false[:inside], rate)
        y = np.append(true[:inside], np.interp(rate, false, true))
        area, least = np.trapezoid(y, x), rate**2 / 2
        return (1 + (area - least) / (rate - least)) / 2


def draws(positive):
    """Stratified: as many of each class as there are."""
    random = np.random.default_rng(SEED)
    classes = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    for _ in range(DRAWS):
        counts = np.zeros(len(positive))
        for rows in classes:
            drawn = random.integers(len(rows), size=len(rows))
            counts[rows] = np.bincount(drawn, minlength=len(rows))
        yield counts


def difference(better, worse):
    low, high = np.percentile(better[1:] - worse[1:], [2.5, 97.5])
    return f"{better[0] - worse[0]:+.4f} [{low:+.4f}, {high:+.4f}]"


def compare(program, name):
    files, options, positive = parts(name)
    chosen, values, whole = [], [], []
    every = np.ones(len(positive))
    rankings = []
    for search in SEARCHES.values():
        point, scores = learned(program, files, options, search)
        chosen.append(point)
        rankings.append(Ranking(scores, positive))
    for ranking in rankings:
        whole.append(ranking.partial_auc(every, 1.0))
        values.append([ranking.partial_auc(every, RATE)])
    for counts in draws(positive):
        for ranking, found in zip(rankings, values, strict=True):
            found.append(ranking.partial_auc(counts, RATE))
    auc, plain_partial, ratios = map(np.array, values)
    weights = ", ".join(str(point["class_weight"]) for point in chosen)
    return [
        name,
        f"{100 * positive.mean():.1f} %",
        *(f"{v[0]:.4f}" for v in (auc, plain_partial, ratios)),
        difference(plain_partial, auc),
        difference(ratios, auc),
        difference(ratios, plain_partial),
        weights,
        f"{whole[0]:.4f}, {whole[2]:.4f}",
    ]


def bench_partial_auc(program, names):
    if data_folder() is None:
        return SKIPPED
    head = ["set", "positives", *SEARCHES, "partial − AUC", "ratios − AUC", "ratios − partial"]
    head += ["class weights chosen", "whole AUC, first and last"]
    rows = []
    for name in names:
        rows.append(compare(program, name))
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    return table(head, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--program", default=ROOT / "target" / "release" / "ubauc")
    arguments = parser.parse_args()
    print(bench_partial_auc(arguments.program, arguments.sets or SETS))
