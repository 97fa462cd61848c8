"""Neural networks on tables by the univariate bound, by cross entropy and by AUCM: test AUC.

    UBAUC_DATA=… PYTHON bench/torch_nets.py [--rows 12000] [--seeds 5] [--tables adult,…]

Five tables of $UBAUC_DATA/tables, split as their README says; of the training part at most `--rows`
rows, stratified, a fifth of them for validation. The network: numbers standardised, a gap is 0 and
has a column that says so, categories with at least 3 rows as embeddings of 8 numbers, then layers
of 64 and 32. Six epochs of batches of 256, Adam. Every loss has four candidates; the validation AUC
after each epoch chooses the candidate and the epoch. A seed is that of the validation split, the
start and the order of batches; the test part is the same for all. Means over seeds with the 95 %
interval of Student's t; differences to cross entropy are by pairs of the same seed.

AUCM is the min-max loss of Yuan, Yan, Sonka and Yang (Large-scale Robust Deep AUC Maximization,
ICCV 2021), by its definition: h = sigmoid(logit), p the share of positives, margin 1,

    min over net, a, b, max over α ≥ 0 of the mean of
      (1 − p)(h − a)² 1[y = 1] + p (h − b)² 1[y = 0]
      + 2α { p(1 − p) margin + p h 1[y = 0] − (1 − p) h 1[y = 1] } − p(1 − p) α²

α ascends by gradient steps of 0.1 and is projected; net, a and b descend by Adam, or by plain
gradient steps as in the paper's PESG.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import torch
from measure import table
from scipy.stats import t as student
from sklearn.model_selection import train_test_split
from ubauc.metrics import roc_auc
from ubauc.torch import UBAUCLoss

BATCH, EPOCHS = 256, 6
# Label, its positive value, columns to leave out, all columns categories?
TABLES = {
    "adult": ("classification", ">50K", [], False),
    "bank_additional": ("y", "yes", ["duration"], False),
    "taiwan_default": ("default.payment.next.month", "1", ["ID"], False),
    "give_me_some_credit": ("SeriousDlqin2yrs", "1", [""], False),
    "amazon_employee_access": ("ACTION", "0", [], True),
}
MISSING = ["", "NA", "?"]


class AUCM(torch.nn.Module):
    def __init__(self, share, margin=1.0, step=0.1):
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(torch.zeros(())) for _ in range(2))
        self.alpha = torch.zeros((), requires_grad=True)
        self.p, self.margin, self.step = share, margin, step

    def forward(self, logits, target):
        h, p, q = torch.sigmoid(logits), self.p, 1 - self.p
        positive, negative = target, 1 - target
        squares = q * (h - self.a) ** 2 * positive + p * (h - self.b) ** 2 * negative
        linear = p * q * self.margin + p * h * negative - q * h * positive
        return (squares + 2 * self.alpha * linear).mean() - p * q * self.alpha**2

    @torch.no_grad()
    def ascend(self):
        self.alpha += self.step * self.alpha.grad
        self.alpha.clamp_(min=0)
        self.alpha.grad = None


def candidates(name, share):
    """Loss, optimiser and learning rate, four of each."""
    if name == "AUCM":
        adam = [(torch.optim.Adam, rate) for rate in (1e-3, 3e-3)]
        for optimiser, rate in [*adam, (torch.optim.SGD, 0.1), (torch.optim.SGD, 1.0)]:
            yield AUCM(share), optimiser, rate
        return
    for rate in (1e-3, 3e-3):
        for balanced in (False, True):
            if name == "BCE":
                weight = torch.tensor((1 - share) / share) if balanced else None
                yield torch.nn.BCEWithLogitsLoss(pos_weight=weight), torch.optim.Adam, rate
            else:
                given = {**BOUNDS[name], "class_weight": "balanced" if balanced else None}
                yield UBAUCLoss(**given), torch.optim.Adam, rate


BOUNDS = {
    "bound, κ = 1, β = 0.1": {"softness": 1.0, "beta": 0.1},
    "bound, κ = 0.1, β = 0.5": {"softness": 0.1, "beta": 0.5},
    "bound, κ = 1, β = 0.1, parameter": {"softness": 1.0, "beta": 0.1, "threshold": "parameter"},
}
LOSSES = ["BCE", "AUCM", *BOUNDS]


class Net(torch.nn.Module):
    def __init__(self, n_numbers, levels):
        super().__init__()
        self.embeddings = torch.nn.ModuleList(torch.nn.Embedding(n, 8) for n in levels)
        width = n_numbers + 8 * len(levels)
        self.layers = torch.nn.Sequential(
            *(torch.nn.Linear(width, 64), torch.nn.ReLU()),
            *(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)),
        )

    def forward(self, numbers, codes):
        embedded = [one(codes[:, j]) for j, one in enumerate(self.embeddings)]
        return self.layers(torch.cat([numbers, *embedded], dim=1)).squeeze(1)


def read(name):
    """Rows as text, and whether they are positive."""
    path = pathlib.Path(os.environ["UBAUC_DATA"]) / "tables" / f"{name}.csv.zst"
    label, positive, ignored, all_categories = TABLES[name]
    parse = pa.csv.ParseOptions(delimiter=";" if name == "bank_additional" else ",")
    stream = pa.input_stream(str(path), compression="zstd")
    header = stream.read(4096).split(b"\n")[0].decode().strip()
    names = [one.strip('"') for one in header.split(parse.delimiter)]
    text = pa.csv.ConvertOptions(column_types={one: pa.string() for one in names})
    options = pa.csv.ReadOptions(column_names=names, skip_rows=1)
    stream = pa.input_stream(str(path), compression="zstd")
    found = pa.csv.read_csv(stream, read_options=options, parse_options=parse, convert_options=text)
    frame = found.to_pandas().apply(lambda column: column.str.strip())
    y = (frame.pop(label) == positive).to_numpy()
    return frame.drop(columns=ignored), y, all_categories


def prepared(frame, train, all_categories):
    """Numbers and codes of all rows; what is learned is learned from the training rows."""
    numbers, codes, levels = [], [], []
    for name in frame:
        column = frame[name].where(~frame[name].isin(MISSING))
        values = None
        if not all_categories:
            try:
                values = column.astype(float).to_numpy()
            except ValueError:
                pass
        if values is None:
            column = column.fillna("missing")
            counts = column.iloc[train].value_counts()
            known = {level: k + 1 for k, level in enumerate(counts.index[counts >= 3])}
            codes.append(column.map(known).fillna(0).to_numpy(np.int64))
            levels.append(len(known) + 1)
        else:
            gap = np.isnan(values)
            mean, scale = np.nanmean(values[train]), np.nanstd(values[train])
            numbers.append(np.where(gap, 0.0, (values - mean) / max(scale, 1e-12)).clip(-10, 10))
            if gap.any():
                numbers.append(gap.astype(float))
    stacked = [
        np.stack(columns, axis=1) if columns else np.zeros((len(frame), 0), dtype)
        for columns, dtype in ((numbers, float), (codes, np.int64))
    ]
    return torch.tensor(stacked[0], dtype=torch.float32), torch.tensor(stacked[1]), levels


def trained(net, loss, optimiser, rate, data, fit, seed):
    """A pause after each epoch."""
    numbers, codes, target = data
    step = optimiser([*net.parameters(), *loss.parameters()], lr=rate)
    order = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        net.train()
        loss.train()
        shuffled = torch.from_numpy(order.permutation(fit))
        for rows in shuffled.split(BATCH):
            step.zero_grad()
            loss(net(numbers[rows], codes[rows]), target[rows]).backward()
            step.step()
            if isinstance(loss, AUCM):
                loss.ascend()
        net.eval()
        yield


def judged(name, seed, prepared_table, train, test):
    """Test AUC of the candidate and epoch with the best validation AUC."""
    numbers, codes, levels, y = prepared_table
    fit, validation = train_test_split(train, test_size=0.2, stratify=y[train], random_state=seed)
    target = torch.tensor(y, dtype=torch.float32)
    share, best = float(y[fit].mean()), (-1.0, None)
    for loss, optimiser, rate in candidates(name, share):
        torch.manual_seed(seed)
        net = Net(numbers.shape[1], levels)
        data = numbers, codes, target
        for _ in trained(net, loss, optimiser, rate, data, fit, seed):
            auc = auc_of(net, data, validation, y)
            if auc > best[0]:
                best = auc, auc_of(net, data, test, y)
    return best[1]


@torch.no_grad()
def auc_of(net, data, rows, y):
    scores = net(data[0][rows], data[1][rows]).numpy()
    # A network that diverged ranks nothing.
    return roc_auc(y[rows], scores) if np.isfinite(scores).all() else 0.5


def mean_and_half(values):
    values = np.asarray(values)
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean(), half


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows, start = [], time.process_time()
    for name in given.tables.split(","):
        frame, y, all_categories = read(name)
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.3, random_state=2026, stratify=y
        )
        if len(train) > given.rows:
            train, _ = train_test_split(
                train, train_size=given.rows, stratify=y[train], random_state=0
            )
        # Rows that are neither trained on nor tested with are not scored.
        used = np.concatenate([train, test])
        frame, y = frame.iloc[used].reset_index(drop=True), y[used]
        train, test = np.arange(len(train)), np.arange(len(train), len(used))
        whole = (*prepared(frame, train, all_categories), y)
        found = {
            loss: [judged(loss, seed, whole, train, test) for seed in range(given.seeds)]
            for loss in LOSSES
        }
        for loss in LOSSES:
            mean, half = mean_and_half(found[loss])
            row = [f"{name}, {len(train):,}", loss, f"{mean:.4f} ± {half:.4f}"]
            if loss == "BCE":
                row.append("")
            else:
                difference = np.subtract(found[loss], found["BCE"])
                mean, half = mean_and_half(difference)
                row.append(f"{mean:+.4f} ± {half:.4f}")
            rows.append(row)
        print(*map(" | ".join, rows[-len(LOSSES) :]), sep="\n", file=sys.stderr, flush=True)
    print(table(["table, rows", "loss", "test AUC", "less BCE"], rows))
    print(f"torch {torch.__version__}, {time.process_time() - start:.0f} s of one processor")


if __name__ == "__main__":
    main()
