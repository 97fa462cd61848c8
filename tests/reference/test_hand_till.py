"""`ubauc evaluate --multiclass` against scikit-learn's one-vs-one AUC."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score


@pytest.mark.parametrize("seed", range(40))
def test_hand_till(seed, ubauc, write_csv):
    rng = np.random.default_rng(seed)
    c = int(rng.integers(3, 8))
    n = int(rng.integers(5 * c, 300))
    labels = np.concatenate([np.arange(c), rng.choice(c, size=n - c, p=rng.dirichlet(np.ones(c)))])
    rng.shuffle(labels)
    logits = rng.normal(size=(n, c))
    logits[np.arange(n), labels] += rng.uniform(0, 3)
    if seed % 2:  # many ties
        logits = np.round(logits)
    scores = np.exp(logits)
    scores /= scores.sum(axis=1, keepdims=True)
    # Class k is called 10k: names are found as text, classes are ordered as numbers.
    columns = {str(10 * k): scores[:, k] for k in rng.permutation(c)}
    found = ubauc("evaluate", write_csv("x.csv", label=10 * labels, **columns), "--multiclass")
    assert found["classes"] == [str(10 * k) for k in range(c)]
    for key, average in [("m", "macro"), ("weighted", "weighted")]:
        expected = roc_auc_score(labels, scores, multi_class="ovo", average=average)
        assert found["hand_till"][key] == pytest.approx(expected, rel=0, abs=1e-12)
    assert found["hand_till"]["class_counts"] == np.bincount(labels).tolist()
    for pair in found["hand_till"]["pairs"]:
        both = np.isin(labels, [pair["i"], pair["j"]])
        for key, k in [("auc_i", pair["i"]), ("auc_j", pair["j"])]:
            expected = roc_auc_score(labels[both] == k, scores[both, k])
            assert pair[key] == pytest.approx(expected, rel=0, abs=1e-12)
