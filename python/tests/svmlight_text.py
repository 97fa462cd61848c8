"""Arrays as svmlight files."""

from scipy.sparse import csr_matrix


def write_svmlight(path, X, y):
    """All digits of all numbers that are not 0."""
    lines = []
    for row, label in zip(csr_matrix(X), y.tolist(), strict=True):
        entries = zip(row.indices.tolist(), row.data.tolist(), strict=True)
        lines.append(" ".join([str(label), *(f"{j + 1}:{x!r}" for j, x in entries)]))
    path.write_text("\n".join(lines) + "\n")
    return path
