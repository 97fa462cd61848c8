"""Scores rows by a model that `ubauc export` wrote here; needs Python's standard library alone.

    python FILE rows.csv > scores.csv     a line for each row of a CSV file with a header; - is stdin
    python FILE --self-test               the rows that the model came with must have its scores

    from FILE import score, predict, probability
    score({"age": 41, "city": "Bern"})    a value that is None, empty or absent is missing
"""

import bisect
import csv
import datetime
import itertools
import json
import math
import re
import sys

MODEL = None

DAY = 86400.0
LARGEST = 1e100
COLUMNS = MODEL["columns"]
LEVELS = [{name: at for at, name in enumerate(c.get("levels", ()))} for c in COLUMNS]
MISSING = {t.lower() if MODEL["missing_any_case"] else t for t in MODEL["missing"]}
BLANKS = " \t\n\x0c\r"


def is_missing(text):
    text = text.strip(BLANKS)
    return not text or (text.lower() if MODEL["missing_any_case"] else text) in MISSING


def grouped(text, point, group):
    """A number whose digits before the point may stand in groups of three; None if it is none."""
    p, g = re.escape(point), re.escape(group)
    whole = rf"(?:\d{{1,3}}(?:{g}\d{{3}})+|\d*)"
    if not re.fullmatch(rf"[-+]?{whole}(?:{p}\d*)?(?:[eE][-+]?\d+)?", text, re.ASCII):
        return None
    try:
        number = float(text.replace(group, "").replace(point, "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def number_of(value, column):
    """A number, or NaN where the value is missing or no number."""
    if value is None:
        return math.nan
    if not isinstance(value, str):
        number = float(value)
        return number if math.isfinite(number) else math.nan
    if is_missing(value):
        return math.nan
    text = value.strip(BLANKS)
    by_point, by_comma = grouped(text, ".", ","), grouped(text, ",", ".")
    if column.get("decimal_comma"):
        number = by_point if by_comma is None else by_comma
    else:
        number = by_point
    return math.nan if number is None else number


TIME = re.compile(
    r"(?:(\d{4})([-/])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}))"
    r"(?:[ Tt]\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*([AaPp][Mm])?\s*(Z|z|UTC|[-+]\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)


def seconds_of(value, column):
    """Seconds since 1970-01-01, or NaN where the value is missing or no time."""
    if value is None:
        return math.nan
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return (value - datetime.datetime(1970, 1, 1)).total_seconds()
    if isinstance(value, datetime.date):
        return (value - datetime.date(1970, 1, 1)).days * DAY
    text = str(value).strip(BLANKS)
    found = None if is_missing(text) else TIME.fullmatch(text)
    if not found:
        return math.nan
    year, _, month, day, first, sign, second, last, hours, minutes, secs, half, zone = found.groups()
    if year is None:
        order = "day-first" if sign == "." else column.get("date_order")
        if order not in ("day-first", "month-first") or order != column.get("date_order"):
            return math.nan
        day, month = (first, second) if order == "day-first" else (second, first)
        year = last
    try:
        date = datetime.date(int(year), int(month), int(day))
    except ValueError:
        return math.nan
    days = (date - datetime.date(1970, 1, 1)).days
    hours, minutes = int(hours or 0), int(minutes or 0)
    secs = float((secs or "0").replace(",", "."))
    if half:
        if not 1 <= hours <= 12:
            return math.nan
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    is_end = hours == 24 and minutes == 0 and secs == 0
    if (hours > 23 and not is_end) or minutes > 59 or secs >= 61:
        return math.nan
    offset = 0.0
    if zone and zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = float(zone[0] + "1") * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
    return days * DAY + (hours * 3600 + minutes * 60 + secs - offset)


def level_of(value, at):
    """The position of a level, -1 of one that was never seen, None where the value is missing."""
    if value is None:
        return None
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (int, float)):
        if isinstance(value, float):
            if math.isnan(value):
                return None
            is_whole = abs(value) < 1e16 and value == int(value)
            value = int(value) if is_whole else repr(value)
        value = str(value)
    if value in LEVELS[at]:
        return LEVELS[at][value]
    if is_missing(value):
        return None
    return LEVELS[at].get(value.strip(BLANKS), -1)


def read(value, at):
    """What the terms of a column read: a number, seconds, or the position of a level."""
    column = COLUMNS[at]
    if column["kind"] == "category":
        return level_of(value, at)
    number = seconds_of(value, column) if column["kind"] == "time" else number_of(value, column)
    if math.isnan(number) and column["required"]:
        raise ValueError(f"column {column['name']!r} needs a number, found {value!r}")
    return number


def part_of(seconds, part):
    day = math.floor(seconds / DAY)
    if part == "hour":
        return int((seconds - day * DAY) // 3600)
    if part == "weekday":
        return (day + 3) % 7
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).month - 1


def cell_of(cells, value, kind):
    """The cell of a value, None if it is in none."""
    if value is None or (kind != "category" and math.isnan(value)):
        return 0 if cells["kind"] == "missing" else cells.get("missing")
    if cells["kind"] == "levels":
        return cells.get("rare") if value < 0 else cells["cell_of_level"][value]
    if cells["kind"] == "bins":
        return bisect.bisect_right(cells["cuts"], value / DAY if kind == "time" else value)
    if cells["kind"] == "part":
        return part_of(value, cells["part"])
    return None


for term in MODEL["terms"]:
    if term["kind"] == "pair":
        term["values"] = {(a, b): value for a, b, value in term["values"]}


def term_value(term, values):
    """What a term adds to the score."""
    if term["kind"] == "linear":
        x = values[term["column"]]
        if math.isnan(x):
            return 0.0
        x = x / DAY if COLUMNS[term["column"]]["kind"] == "time" else x
        z = (x - term["mean"]) / term["deviation"]
        return term["weight"] * min(max(z, -LARGEST), LARGEST)
    if term["kind"] == "table":
        at = term["column"]
        cell = cell_of(term["cells"], values[at], COLUMNS[at]["kind"])
        return 0.0 if cell is None else term["values"][cell]
    cells = zip(term["cells"], term["columns"])
    pair = tuple(cell_of(of, values[at], COLUMNS[at]["kind"]) for of, at in cells)
    return term["values"].get(pair, 0.0)


def score(row):
    """The score of a row: a mapping from column names to values."""
    values = [read(row.get(column["name"]), at) for at, column in enumerate(COLUMNS)]
    total = 0.0
    for term in MODEL["terms"]:
        total += term_value(term, values)
    return total + MODEL["intercept"]


def predict(row):
    """The class of a row."""
    return MODEL["classes"][score(row) >= MODEL["threshold"]]


def probability_of(score):
    """The probability of the positive class; None if the model was not calibrated."""
    calibration = MODEL["calibration"]
    if calibration is None:
        return None
    c = score - MODEL["threshold"]
    x = calibration["slope"] * c + calibration["offset"]
    smooth = 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
    knots, levels = calibration.get("knots", ()), calibration.get("levels", ())
    if not knots:
        return smooth
    after = bisect.bisect_right(knots, c)
    if after in (0, len(knots)):
        step = levels[max(after - 1, 0)]
    else:
        low, high = knots[after - 1], knots[after]
        share = (0.5 * c - 0.5 * low) / (0.5 * high - 0.5 * low)
        step = levels[after - 1] + share * (levels[after] - levels[after - 1])
    return (1 - 1e-3) * step + 1e-3 * smooth


def probability(row):
    """The probability of the positive class of a row; None if the model was not calibrated."""
    return probability_of(score(row))


def self_test():
    """The number of rows whose score is not the model's."""
    test, wrong = MODEL["self_test"], 0
    for values, expected in zip(test["rows"], test["scores"]):
        found = score({column["name"]: value for column, value in zip(COLUMNS, values)})
        if not abs(found - expected) <= 1e-9 * max(1.0, abs(expected)):
            print(f"{values}: expected {expected}, found {found}", file=sys.stderr)
            wrong += 1
    print(f"self-test: {len(test['rows']) - wrong} of {len(test['rows'])} rows agree")
    return wrong


def unique(names):
    """A name for every column: `column_1` where there is none, `x.2` for the second `x`."""
    names = [name or f"column_{at}" for at, name in enumerate(names, 1)]
    found = set()
    for at, name in enumerate(names):
        count = 2
        while names[at] in found:
            names[at] = f"{name}.{count}"
            count += 1
        found.add(names[at])
    return names


def score_file(file):
    first = file.readline()
    separator = max(",;\t|", key=first.count)
    reader = csv.reader(itertools.chain([first], file), delimiter=separator, skipinitialspace=True)
    names = unique([name.strip(BLANKS + "\ufeff") for name in next(reader, [])])
    absent = [column["name"] for column in COLUMNS if column["name"] not in names]
    if absent:
        sys.exit(f"no column {absent[0]!r}; the file has {', '.join(names)}")
    is_calibrated = MODEL["calibration"] is not None
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["score", "class"] + ["probability"] * is_calibrated)
    for fields in filter(None, reader):
        try:
            found = score(dict(zip(names, fields)))
        except ValueError as error:
            sys.exit(f"line {reader.line_num}: {error}")
        name = MODEL["classes"][found >= MODEL["threshold"]]
        out.writerow([repr(found), name] + [repr(probability_of(found))] * is_calibrated)


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test() > 0
    if len(arguments) != 1 or arguments[0].startswith("--"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if arguments[0] == "-":
        score_file(sys.stdin)
    else:
        with open(arguments[0], newline="", encoding="utf-8-sig") as file:
            score_file(file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
