"""The pictures of docs/glass-box.md: effects of a model of the census table `adult`.

    UBAUC_DATA=… python docs/images/adult.py

`python/tests/test_pictures.py` draws them again and compares what is drawn with what the files say:
every picture has its numbers in its description.
"""

import json
import os
import re
from pathlib import Path

import matplotlib
import numpy as np
import pyarrow
import pyarrow.csv
from sklearn.model_selection import train_test_split
from ubauc import UBAUCClassifier, plot

HERE = Path(__file__).parent
CURVES = ["age", "education-num", "hours-per-week", "capital-gain", "marital-status", "workclass"]
# As many pairs as columns, logistic regression, a gamma near that of a search by `ubauc train`.
PARAMETERS = {"features": "pairs", "interactions": "1x", "beta": 0, "softness": 1, "gamma": 1e-3}


def table():
    """The training rows: seven tenths, as the note beside the data has it."""
    path = Path(os.environ["UBAUC_DATA"]) / "tables" / "adult.csv.zst"
    options = pyarrow.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    with pyarrow.input_stream(str(path), compression="zstd") as stream:
        frame = pyarrow.csv.read_csv(stream, convert_options=options).to_pandas()
    y = (frame.pop("classification").str.strip() == ">50K").to_numpy()
    rows = train_test_split(np.arange(len(y)), test_size=0.3, random_state=2026, stratify=y)[0]
    return frame.iloc[rows], y[rows]


def pictures(clf):
    """Axes by the names of terms, for each file."""
    pairs = [term.name for term in clf.effects_.ranked() if term.kind == "pair"]
    return {
        "adult-columns.svg": plot.effects(clf, CURVES),
        "adult-pairs.svg": plot.effects(clf, pairs[:2], columns=2),
    }


def drawn(axes):
    """What lines, bars and heat maps have, to six digits."""
    found = {}
    for name, ax in axes.items():
        lines = [line.get_xydata().ravel() for line in ax.lines if line.get_gid() == "curve"]
        bars = [[bar.get_width() for bar in bars] for bars in ax.containers]
        maps = [mesh.get_array().filled(0.0).ravel() for mesh in ax.collections]
        numbers = np.concatenate([np.ravel(part) for part in [*lines, *bars, *maps]])
        found[name] = [float(f"{x:.6g}") for x in numbers]
    return found


def described(path):
    """The numbers that a picture was drawn from."""
    text = re.search(r"<dc:description>(.*?)</dc:description>", path.read_text(), re.DOTALL)[1]
    return json.loads(text.replace("&quot;", '"').replace("&amp;", "&"))


def main():
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "adult"})
    for name, axes in pictures(UBAUCClassifier(**PARAMETERS).fit(*table())).items():
        figure = next(iter(axes.values())).figure
        numbers = json.dumps(drawn(axes), separators=(",", ":"))
        metadata = {"Date": None, "Creator": None, "Description": numbers}
        figure.savefig(HERE / name, metadata=metadata)


if __name__ == "__main__":
    main()
