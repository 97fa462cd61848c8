"""Test AUC of logistic regression on the five tables of $UBAUC_DATA/tables.

They are divided by `ubauc data split`. Numbers are standardised, with their mean and an indicator
where they are missing; categories are one-hot, levels of fewer than three rows pooled; C by the AUC
of five folds. `crates/ubauc-cli/tests/tables/real.rs` has the figures:

    python tests/reference/tables.py target/release/ubauc
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

# File, separator, label, positive class, columns left out, and whether every column is a category.
TABLES = [
    ("adult", ",", "classification", ">50K", [], False),
    ("bank_additional", ";", "y", "yes", ["duration"], False),
    ("taiwan_default", ",", "default.payment.next.month", "1", [], False),
    ("give_me_some_credit", ",", "SeriousDlqin2yrs", "1", [], False),
    ("amazon_employee_access", ",", "ACTION", "0", [], True),
]


def split(program, file, label, directory):
    """The two files that the test learns from and is judged by."""
    source = Path(os.environ["UBAUC_DATA"]) / "tables" / f"{file}.csv.zst"
    parts = [Path(directory) / f"{file}-{part}.csv" for part in ("train", "test")]
    words = ["data", "split", source, "--test-share", "0.3", "--stratify", label]
    words += ["--output-train", parts[0], "--output-test", parts[1]]
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)
    return parts


def model_of(table):
    """Logistic regression on what the columns of a table become."""
    numbers = list(table.select_dtypes("number"))
    categories = [name for name in table if name not in numbers]
    standardised = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    one_hot = OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist")
    columns = [("numbers", standardised, numbers), ("categories", one_hot, categories)]
    grid = {"C": np.logspace(-3, 2, 6)}
    logistic = GridSearchCV(LogisticRegression(max_iter=3000), grid, scoring="roc_auc", cv=5)
    return make_pipeline(ColumnTransformer(columns), logistic)


def main(program):
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as directory:
        for file, separator, label, positive, ignored, all_categories in TABLES:
            parts = []
            for path in split(program, file, label, directory):
                table = pd.read_csv(path, sep=separator, na_values=["?"], skipinitialspace=True)
                y = table[label].astype(str) == positive
                table = table.drop(columns=[label, *ignored])
                parts.append((table.astype(str) if all_categories else table, y))
            (train, y_train), (test, y_test) = parts
            model = model_of(train).fit(train, y_train)
            auc = roc_auc_score(y_test, model.decision_function(test))
            print(f"{file} {auc:.5f} {model[-1].best_params_}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
