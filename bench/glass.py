"""The glass box beside LightGBM and EBM: test AUC and seconds on five real tables.

    .venv/bin/python bench/run.py glass                 all tables
    .venv/bin/python bench/glass.py adult               some: ours, and what is known
    .venv/bin/python bench/glass.py adult --peer ebm    one of the others

Two threads each, reading not counted. Ours and LightGBM run twice, in turn, and the faster
time counts; answers of EBM, which takes minutes, are kept in bench/.cache by table and version.
"""

import argparse
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
from measure import CACHE, ROOT, best, measure, measure_text, seconds, table
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from soft import SKIPPED, SPLITS, build, data_folder, halved, load, parts

THREADS = 2
# File: separator, label, positive class, columns left out, whether all columns are categories.
TABLES = {
    "adult": (",", "classification", ">50K", [], False),
    "bank_additional": (";", "y", "yes", ["duration"], False),
    "taiwan_default": (",", "default.payment.next.month", "1", ["ID"], False),
    "give_me_some_credit": (",", "SeriousDlqin2yrs", "1", [""], False),
    "amazon_employee_access": (",", "ACTION", "0", [], True),
}
# Leaves of the three sizes of LightGBM that are tried.
LEAVES = [8, 31, 127]
ROUNDS, PATIENCE, RATE = 2000, 50, 0.05
# Nobody waits longer.
MOST_SECONDS = 20 * 60
# One fit with given parameters, of two maps.
LOSS = "--beta 0 --softness 1 --gamma 1e-3 --class-weight none".split()
ADDITIVE, PAIRS = (["--features", features, *LOSS] for features in ("additive", "pairs"))


class Split:
    """The training and test parts of a table, as files for us and as frames for the others."""

    def __init__(self, name):
        separator, self.label, self.positive, dropped, categories = TABLES[name]
        self.name = name
        self.categories = categories
        plain = CACHE / f"{name}.csv"
        if not plain.exists():
            measure_text("plain", data_folder() / "tables" / f"{name}.csv.zst", plain)
        text = pd.read_csv(
            plain, sep=separator, dtype=str, keep_default_na=False, skipinitialspace=True
        )
        text = text.rename(columns=lambda c: "" if c.startswith("Unnamed") else c)
        text = text.drop(columns=dropped)
        y = text[self.label] == self.positive
        train, test = train_test_split(
            np.arange(len(text)), test_size=0.3, random_state=2026, stratify=y
        )
        self.files = [CACHE / f"{name}.{part}.csv" for part in ("train", "test")]
        for rows, file in zip((train, test), self.files, strict=True):
            if not file.exists():
                text.iloc[rows].to_csv(file, index=False)
        frame = text.drop(columns=[self.label]).replace(["", "NA", "?"], np.nan)
        for column in frame:
            if not categories:
                try:
                    frame[column] = frame[column].astype(float)
                    continue
                except ValueError:
                    pass
            levels = np.sort(frame[column].iloc[train].dropna().unique())
            known = frame[column].where(frame[column].isin(levels))
            frame[column] = pd.Categorical(known, categories=levels)
        y = y.to_numpy()
        self.x, self.x_test = frame.iloc[train], frame.iloc[test]
        self.y, self.y_test = y[train], y[test]

    def options(self):
        """What the program must be told."""
        options = ["--label", self.label, "--positive", self.positive]
        if self.categories:
            options += ["--categorical", ",".join(self.x.columns)]
        return options


def ours(split, *options):
    """`ubauc train`: seconds without reading, test AUC, and the report."""
    program = ROOT / "target" / "release" / "ubauc"
    command = [program, "train", split.files[0], "--test", split.files[1], "--json", "--quiet"]
    command += ["--threads", str(THREADS), *split.options(), *options]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    report = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {command}")
    took = report["seconds"]
    return {
        "seconds": (took.get("tune") or 0) + took["solve"],
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "auc": report["test_auc"]["auc"],
        "report": report,
    }


def lightgbm(split, **options):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=THREADS, verbose=-1, **options)


def tuned_lightgbm(split):
    """Three sizes, the number of trees by early stopping on each of three folds; then all rows."""
    from lightgbm import early_stopping

    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(split.x, split.y))
    found = []
    for leaves in LEAVES:
        aucs, trees = [], []
        for train, judge in folds:
            model = lightgbm(split, num_leaves=leaves, n_estimators=ROUNDS, learning_rate=RATE)
            model.fit(
                split.x.iloc[train],
                split.y[train],
                eval_set=[(split.x.iloc[judge], split.y[judge])],
                eval_metric="auc",
                callbacks=[early_stopping(PATIENCE, first_metric_only=True, verbose=False)],
            )
            aucs.append(model.best_score_["valid_0"]["auc"])
            trees.append(model.best_iteration_)
        found.append((np.mean(aucs), leaves, round(np.mean(trees))))
    _, leaves, trees = max(found)
    model = lightgbm(split, num_leaves=leaves, n_estimators=trees, learning_rate=RATE)
    return model.fit(split.x, split.y)


def default_lightgbm(split):
    return lightgbm(split).fit(split.x, split.y)


def ebm(split):
    from interpret.glassbox import ExplainableBoostingClassifier

    # EBM reads categories as strings.
    return ExplainableBoostingClassifier(n_jobs=THREADS).fit(split.x, split.y)


# Name: package, work.
PEERS = {
    "tuned": ("lightgbm", tuned_lightgbm),
    "default": ("lightgbm", default_lightgbm),
    "ebm": ("interpret-core", ebm),
}


def kept(name, peer):
    package = PEERS[peer][0]
    return CACHE / f"glass.{name}.{peer}.{package}-{importlib.metadata.version(package)}.json"


def patient_answer(split, peer):
    """The same in a process of its own; given up after MOST_SECONDS, then without an AUC."""
    path = kept(split.name, peer)
    if not path.exists():
        command = [sys.executable, __file__, split.name, "--peer", peer]
        child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
        try:
            if child.wait(MOST_SECONDS) != 0:
                raise SystemExit(f"failed: {command}")
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            path.write_text(json.dumps({"seconds": MOST_SECONDS, "auc": None}))
    return json.loads(path.read_text())


def fresh_answer(split, peer):
    """Not that of an hour when the machine was busier."""
    kept(split.name, peer).unlink(missing_ok=True)
    return patient_answer(split, peer)


def peer_answer(split, peer):
    """Seconds and test AUC of another, from the cache if it was run before."""
    path = kept(split.name, peer)
    if path.exists():
        return json.loads(path.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, start = os.times(), time.perf_counter()
        model = PEERS[peer][1](split)
        took, after = time.perf_counter() - start, os.times()
        scores = model.predict_proba(split.x_test)[:, 1]
    answer = {
        "seconds": took,
        "cpu": sum(after[:4]) - sum(before[:4]),
        "auc": roc_auc_score(split.y_test, scores),
        "date": time.strftime("%Y-%m-%d"),
    }
    path.write_text(json.dumps(answer))
    return answer


def bench_glass():
    """`ubauc train FILE` with nothing given beside tuned LightGBM and EBM: test AUC and seconds."""
    if data_folder() is None:
        return SKIPPED
    build()
    rows, aucs = [], []
    for name in TABLES:
        split = Split(name)
        both = [(ours(split), fresh_answer(split, "tuned")) for _ in range(2)]
        found, tuned = (min(of, key=lambda one: one["seconds"]) for of in zip(*both, strict=True))
        default, slow = fresh_answer(split, "default"), patient_answer(split, "ebm")
        gave_up = slow["auc"] is None
        aucs.append([one["auc"] for one in (found, tuned, default, slow)])
        chosen = next(one["map"] for one in found["report"]["maps"] if one["chosen"])
        rows.append(
            [
                name,
                *("–" if auc is None else f"{auc:.4f}" for auc in aucs[-1]),
                *(seconds(one["seconds"]) for one in (found, tuned)),
                ("> " if gave_up else "") + seconds(slow["seconds"]),
                f"{found['seconds'] / tuned['seconds']:.2f}",
                ("> " if gave_up else "") + f"{slow['seconds'] / found['seconds']:.0f}×",
                chosen,
            ]
        )
    means = [f"{mean:.4f}" for mean in np.mean([of[:3] for of in aucs], axis=0)]
    rows.append(["mean", *means, *[""] * 7])
    # Where EBM came to an end.
    ended = [of for of in aucs if of[3] is not None]
    if ended:
        means = [f"{mean:.4f}" for mean in np.mean(ended, axis=0)]
        rows.append([f"mean of {len(ended)} with EBM", *means, *[""] * 6])
    head = ["table", "AUC of ours", "tuned LightGBM", "default LightGBM", "EBM", "time of ours"]
    head += ["tuned LightGBM", "EBM", "ours / tuned LightGBM", "EBM / ours", "chosen"]
    return table(head, rows)


def bench_glass_fit():
    """One fit with given parameters beside one default LightGBM fit."""
    if data_folder() is None:
        return SKIPPED
    build()
    rows = []
    for name in TABLES:
        split = Split(name)
        found = [
            min((ours(split, *options) for _ in range(3)), key=lambda one: one["seconds"])
            for options in (ADDITIVE, PAIRS)
        ]
        theirs, _ = best(3, default_lightgbm, split)
        ratios = [f"{one['seconds'] / theirs:.2f}" for one in found]
        times = [seconds(one["seconds"]) for one in found]
        rows.append([name, times[0], times[1], seconds(theirs), *ratios])
    head = ["table", "additive", "pairs, one for each column", "LGBMClassifier()"]
    return table([*head, "additive / theirs", "pairs / theirs"], rows)


def repeated(frame, rows):
    """The rows of a frame again and again."""
    return frame.iloc[np.resize(np.arange(len(frame)), rows)].reset_index(drop=True)


def bench_glass_scores():
    """Scores of a million rows that are in memory, beside LightGBM's predict on the same frame."""
    if data_folder() is None:
        return SKIPPED
    build()
    from ubauc import UBAUCClassifier

    rows = []
    for name in ("adult", "give_me_some_credit"):
        split = Split(name)
        model, file = CACHE / "glass.json", CACHE / "glass.csv"
        ours(split, *PAIRS, "--model", str(model))
        frame = repeated(split.x_test, 10**6)
        frame.to_csv(file, index=False)
        inside = min(measure("table-scores", model, file, 3, threads=THREADS)["seconds"])
        # As many threads as the others have.
        loaded = UBAUCClassifier.load(model).set_params(n_jobs=THREADS)
        through, _ = best(3, loaded.decision_function, frame)
        booster = default_lightgbm(split)
        predict, _ = best(3, booster.predict, frame)
        rows.append(
            [
                name,
                seconds(inside),
                seconds(through),
                seconds(predict),
                f"{predict / inside:.1f}×",
                f"{predict / through:.1f}×",
            ]
        )
        model.unlink()
        file.unlink()
    head = ["table", "Model::scores_table", "decision_function, pandas", "LGBMClassifier.predict"]
    return table([*head, "theirs / scores_table", "theirs / decision_function"], rows)


def bench_glass_rows():
    """Time and memory of a fit against the number of rows of a generated table."""
    rows = []
    for features in ("additive", "pairs"):
        for n in [10**5, 10**6, 10**7]:
            found = measure("table-fit", n, features, threads=THREADS)
            t = found["seconds"][0]
            memory = found["peak_bytes"] / found["input_bytes"]
            rows.append([features, f"{n:,}", seconds(t), f"{t / n * 1e6:.2f} µs", f"{memory:.2f}×"])
    return table(["features", "rows", "one fit", "a row", "peak memory / table"], rows)


# Sets whose columns are numbers, most of which have nothing to bin.
NUMBERS = ["a9a", "splice", "german", "diabetes", "fourclass", "usps", "sector"]


def bench_glass_numbers():
    """`auto` beside `linear` on sets of numbers, as svmlight."""
    if data_folder() is None:
        return SKIPPED
    build()
    program = ROOT / "target" / "release" / "ubauc"
    rows = []
    for name in NUMBERS:
        aucs = []
        for x, x_test, y, y_test in number_splits(name):
            files = [CACHE / f"numbers.{part}.svm" for part in ("train", "test")]
            for file, values, labels in zip(files, (x, x_test), (y, y_test), strict=True):
                dump_svmlight_file(values, labels.astype(int), str(file), zero_based=False)
            command = [program, "train", files[0], "--test", files[1]]
            command += ["--threads", str(THREADS), "--json", "--quiet", "--positive", "1"]
            of_split = []
            for features in ("auto", "linear"):
                done = subprocess.run(
                    [*command, "--features", features], check=True, capture_output=True
                )
                of_split.append(json.loads(done.stdout)["test_auc"]["auc"])
            aucs.append(of_split)
        auto, linear = np.mean(aucs, axis=0)
        rows.append([name, f"{auto:.4f}", f"{linear:.4f}", f"{auto - linear:+.4f}"])
    return table(["set", "auto", "linear", "difference"], rows)


def number_splits(name):
    """Training and test parts; small sets by five fixed splits."""
    if name not in ("german", "diabetes", "fourclass"):
        yield parts(name)
        return
    x, y = load(name, "all_raw")
    (positive,) = halved(y)
    for seed in range(SPLITS):
        yield train_test_split(x, positive, test_size=0.3, random_state=seed, stratify=positive)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES), help="which; all without")
    parser.add_argument("--peer", choices=PEERS, help="run this one and keep its answer")
    args = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in args.tables:
        split = Split(name)
        if args.peer:
            print(name, args.peer, peer_answer(split, args.peer), flush=True)
            continue
        found = ours(split)
        del found["report"]
        print(name, "ours", found, flush=True)
        for peer in PEERS:
            if kept(name, peer).exists():
                print(name, peer, peer_answer(split, peer))


if __name__ == "__main__":
    main()
