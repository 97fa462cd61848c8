"""The soft family: a fit beside LogisticRegression, the search beside LogisticRegressionCV."""

import json
import os
import pathlib
import subprocess
import time
import warnings

import numpy as np
from measure import CACHE, ROOT, best, measure, measure_text, seconds, table
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, normalize
from threadpoolctl import threadpool_limits

SKIPPED = "SKIPPED: UBAUC_DATA is not set"
# (β, κ) of the two columns.
LOSSES = [(0.0, 1.0), (0.5, 0.05)]
SPLITS = 5


def data_folder():
    folder = os.environ.get("UBAUC_DATA")
    return pathlib.Path(folder) if folder else None


def load(name, part):
    """One part of a set: CSR and labels."""
    path = CACHE / "rows.svm"
    measure_text("plain", data_folder() / name / f"{part}.svm.zst", path)
    x, y = load_svmlight_file(str(path))
    path.unlink()
    return x, y


def halved(*labels):
    """Two classes: as they are, or one random halving of many."""
    classes = np.unique(np.concatenate(labels))
    chosen = classes[-1:]
    if len(classes) > 2:
        chosen = np.random.default_rng(1).permutation(classes)[: len(classes) // 2]
    return [np.isin(y, chosen) for y in labels]


def smaller(x):
    """Dense where that takes less memory, as the program holds it."""
    return x.toarray() if 12 * x.nnz >= 8 * x.shape[0] * x.shape[1] else x


def bench_soft():
    """One certified fit: β = 0, κ = 1, the problem of LogisticRegression(); and β = .5, κ = .05."""
    if data_folder() is None:
        return SKIPPED
    rows = []
    sets = ["a9a", "w8a", "ijcnn1", "usps", "mnist", "sector", "news20, rows of length 1", "news20"]
    for name in sets:
        x, y = load(name.split(",")[0], "train")
        (positive,) = halved(y)
        if "length" in name:
            x = normalize(x)
        path = CACHE / "soft.svm"
        dump_svmlight_file(x, positive * 2 - 1, str(path), zero_based=False)
        repeats = 5 if name in ("a9a", "w8a", "ijcnn1", "usps", "sector") else 1
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs, model = best(repeats, LogisticRegression().fit, smaller(x), positive)
        steps = int(model.n_iter_[0])
        cells = []
        for beta, softness in LOSSES:
            # γ = 1/N is C = 1.
            ours = measure("soft", path, beta, softness, 1 / x.shape[0], 1e-6, repeats, threads=1)
            t = min(ours["seconds"])
            cells += [seconds(t), f"{t / theirs:.2f}"]
        note = f"{steps} steps" + (", not converged" if steps >= 100 else "")
        rows.append([name, f"{x.shape[0]:,} × {x.shape[1]:,}", seconds(theirs), note, *cells])
        path.unlink()
    head = ["set", "size", "LogisticRegression()", ""]
    for beta, softness in LOSSES:
        head += [f"β = {beta:g}, κ = {softness:g}", "ours / theirs"]
    return table(head, rows)


def bench_start():
    """The exact hinge on wide rows: cold, and from a coarse soft minimum with its multipliers."""
    if data_folder() is None:
        return SKIPPED
    rows = []
    for name in ["sector", "news20"]:
        x, y = load(name, "train")
        (positive,) = halved(y)
        path = CACHE / "soft.svm"
        dump_svmlight_file(x, positive * 2 - 1, str(path), zero_based=False)
        times = []
        for softness in (0, 0.05):
            found = measure("hinge-start", path, "-", 0.5, 1e-4, softness, 1, threads=1)
            times.append(min(found["seconds"]))
        path.unlink()
        size = f"{x.shape[0]:,} × {x.shape[1]:,}"
        rows.append([name, size, *map(seconds, times), f"{times[1] / times[0]:.2f}"])
    return table(["set", "size", "cold", "from κ = 0.05", "ratio"], rows)


def bench_memory():
    """Peak memory of a fit and of the search, beside the numbers a row that they may take."""
    if data_folder() is None:
        return SKIPPED
    build()
    x, y = load("mnist", "train")
    (positive,) = halved(y)
    path = CACHE / "train.svm"
    dump_svmlight_file(x, positive * 2 - 1, str(path), zero_based=False)
    program = ROOT / "target" / "release" / "ubauc"
    fit = "--beta 0 --softness 1 --gamma 1e-3 --scale standard".split()
    peaks = []
    for options in (fit, []):
        command = [program, "train", path, "--threads", "2", "--quiet", "--features", "linear"]
        command += options
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peaks.append(os.wait4(child.pid, 0)[2].ru_maxrss * 1024)
    path.unlink()
    more = (peaks[1] - peaks[0]) / (8 * x.shape[0])
    row = ["mnist", f"{x.shape[0]:,} × {x.shape[1]:,}"]
    row += [f"{peak / 1e6:.0f} MB" for peak in peaks]
    head = ["set", "size", "one fit", "the search", "more, in numbers a row"]
    return table(head, [[*row, f"{more:.1f}"]])


def correlated_binary():
    """2,700 rows of 1,600 binary features in blocks that go together, 3.5 % positive."""
    rng = np.random.default_rng(0)
    n, blocks, of_block = 2700, 160, 10
    latent = rng.normal(size=(n, blocks))
    noise = rng.normal(size=(n, blocks, of_block))
    x = (0.8 * latent[:, :, None] + 0.6 * noise > rng.uniform(0.8, 2.0, (blocks, of_block))) * 1.0
    x = x.reshape(n, -1)
    score = latent[:, :12] @ rng.normal(size=12) + 2.0 * rng.normal(size=n)
    y = score > np.quantile(score, 1 - 0.035)
    return train_test_split(sparse.csr_matrix(x), y, test_size=0.2, random_state=0, stratify=y)


def amazon():
    """Every column a category."""
    path = CACHE / "amazon.csv"
    measure_text("plain", data_folder() / "tables" / "amazon_employee_access.csv.zst", path)
    lines = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    path.unlink()
    # The first column says whether access was granted; what is rare is that it was not.
    x, y = lines[:, 1:], lines[:, 0] == 0
    train, test, y, y_test = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
    encoder = OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist").fit(train)
    return encoder.transform(train), encoder.transform(test), y, y_test


def parts(name):
    """Training and test parts of a set."""
    if name == "correlated binary":
        return correlated_binary()
    if name == "amazon, one-hot":
        return amazon()
    base = name.split(",")[0]
    folder = "news20_split" if base == "news20" else base
    (x, y), (x_test, y_test) = load(folder, "train"), load(folder, "test")
    y, y_test = halved(y, y_test)
    columns = max(x.shape[1], x_test.shape[1])
    x.resize(x.shape[0], columns)
    x_test.resize(x_test.shape[0], columns)
    if "length" in name:
        x, x_test = normalize(x), normalize(x_test)
    return x, x_test, y, y_test


def trained(x, x_test, y, y_test, *options):
    """`ubauc train FILE`, everything included: seconds and test AUC, and the choice."""
    files = [CACHE / "train.svm", CACHE / "test.svm"]
    for file, rows, labels in zip(files, (x, x_test), (y, y_test), strict=True):
        dump_svmlight_file(rows, labels * 2 - 1, str(file), zero_based=False)
    program = ROOT / "target" / "release" / "ubauc"
    command = [program, "train", files[0], "--threads", "2", "--json", "--quiet", *options]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    took = time.perf_counter() - start
    done = subprocess.run([*command, "--test", files[1]], check=True, capture_output=True)
    report = json.loads(done.stdout)
    for file in files:
        file.unlink()
    return took, report["test_auc"]["auc"], report


def logistic_cv(x, x_test, y, y_test):
    x, x_test = smaller(x), smaller(x_test) if not sparse.issparse(smaller(x)) else x_test
    if not sparse.issparse(x) and sparse.issparse(x_test):
        x_test = x_test.toarray()
    model = LogisticRegressionCV(Cs=8, cv=5, scoring="roc_auc", n_jobs=2)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(x, y)
        took = time.perf_counter() - start
    return took, roc_auc_score(y_test, model.decision_function(x_test))


def build():
    subprocess.run("cargo build -q --release -p ubauc-cli".split(), cwd=ROOT, check=True)


def bench_search():
    """`ubauc train FILE --features linear` beside LogisticRegressionCV: time and test AUC."""
    if data_folder() is None:
        return SKIPPED
    build()
    rows = []
    for name in [
        "a9a",
        "w7a",
        "ijcnn1",
        "splice",
        "usps",
        "sector",
        "news20, rows of length 1",
        "correlated binary",
        "amazon, one-hot",
    ]:
        data = parts(name)
        theirs, their_auc = min(logistic_cv(*data) for _ in range(2))
        runs = [trained(*data, "--features", "linear") for _ in range(2)]
        ours, our_auc, report = min(runs, key=lambda found: found[0])
        loss = f"β = {report['beta']:g}, κ = {report['softness']:g}, {report['class_weight']}"
        x = data[0]
        rows.append(
            [
                name,
                f"{x.shape[0]:,} × {x.shape[1]:,}",
                seconds(ours),
                seconds(theirs),
                f"{ours / theirs:.2f}",
                f"{our_auc:.4f}",
                f"{their_auc:.4f}",
                loss,
            ]
        )
    head = [
        "set",
        "size",
        "ubauc train",
        "LogisticRegressionCV",
        "ours / theirs",
        "our test AUC",
        "their test AUC",
        "chosen",
    ]
    return table(head, rows)


def bench_good():
    """Test AUC with nothing given; small sets by the mean over five fixed splits."""
    if data_folder() is None:
        return SKIPPED
    build()
    rows, means = [], []
    for name in ["a9a", "w7a", "ijcnn1", "splice", "usps", "german", "diabetes", "fourclass"]:
        if name in ("german", "diabetes", "fourclass"):
            x, y = load(name, "all")
            (positive,) = halved(y)
            found = []
            for seed in range(SPLITS):
                split = train_test_split(
                    x, positive, test_size=0.3, random_state=seed, stratify=positive
                )
                found.append((trained(*split)[1], logistic_cv(*split)[1]))
            ours, theirs = np.mean(found, axis=0)
            how = f"mean of {SPLITS} splits, 30 % for the test"
        else:
            data = parts(name)
            ours, theirs, how = trained(*data)[1], logistic_cv(*data)[1], "test part"
        means.append((ours, theirs))
        rows.append([name, f"{ours:.4f}", f"{theirs:.4f}", f"{ours - theirs:+.4f}", how])
    ours, theirs = np.mean(means, axis=0)
    rows.append(["mean", f"{ours:.4f}", f"{theirs:.4f}", f"{ours - theirs:+.4f}", ""])
    return table(["set", "ubauc train", "LogisticRegressionCV", "difference", "judged on"], rows)
