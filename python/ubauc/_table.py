"""Data frames of pandas, polars and Arrow as tables of the library, column by column.

A column becomes ``(kind, values, levels)``: numbers or seconds as float64 with NaN where they are
missing, or a category as int32 codes, -1 where it is missing, with the strings that they stand for.

| what the frame has | what it becomes |
|---|---|
| integers, floats, decimals, durations and times of day (in seconds) | numbers |
| categories, enums, dictionaries, strings, booleans | categories |
| dates and times, by the clock of their time zone | times |
| Python objects | numbers or dates if all are such, else categories by their text |

No frame without Python objects is turned into any: codes are taken as they are, strings are
encoded by the library that has them.
"""

import datetime
import sys
from decimal import Decimal
from numbers import Integral, Real

import numpy as np

from . import _core

# A category of booleans, as Parquet files of the command line have it.
BOOLEANS = ["false", "true"]
# Units of numpy's and Arrow's times, in a second.
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def frame_of(X):
    """X as a frame of pandas, polars or Arrow; None if it is no frame."""
    pandas, polars, arrow = map(sys.modules.get, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return X
    if pandas is not None and isinstance(X, pandas.Series):
        return None
    if polars is not None and isinstance(X, polars.DataFrame):
        return X
    if polars is not None and isinstance(X, polars.Series):
        return None
    if arrow is not None and isinstance(X, arrow.Table):
        return X
    if arrow is not None and isinstance(X, (arrow.Array, arrow.ChunkedArray)):
        return None
    if hasattr(X, "__arrow_c_stream__"):
        return _of_stream(X)
    return None


def _of_stream(X):
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"a table of type {type(X).__name__} is read with pyarrow, which is not installed: "
            "pip install pyarrow"
        ) from error
    if isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    return pyarrow.RecordBatchReader.from_stream(X).read_all()


def has_numbers_only(frame):
    """Whether scikit-learn can make an array of the frame as it is."""
    if hasattr(frame, "iloc"):
        kinds = {getattr(dtype, "kind", "O") for dtype in set(frame.dtypes)}
        return kinds <= set("iuf") and not any(_is_categorical(d) for d in set(frame.dtypes))
    if hasattr(frame, "get_columns"):
        return all(dtype.is_integer() or dtype.is_float() for dtype in frame.dtypes)
    return False


def columns_of(frame, names, wanted):
    """The columns; each is "category", "number" or, by its type, None."""
    if hasattr(frame, "iloc"):
        convert, series = _pandas_column, [frame.iloc[:, j] for j in range(frame.shape[1])]
    elif hasattr(frame, "get_columns"):
        convert, series = _polars_column, frame.get_columns()
    else:
        convert, series = _arrow_column, frame.columns
    found = []
    for name, column, kind in zip(names, series, wanted, strict=True):
        made = convert(name, column, kind)
        if kind == "number" and made[0] == "category":
            made = _numbers_of_levels(name, *made[1:])
        found.append(made)
    return found


def default_names(n):
    """What scikit-learn calls n columns without names."""
    return [f"x{j}" for j in range(n)]


def array_columns(X, wanted):
    """The same of an array of numbers."""
    kinds = ["category" if kind == "category" else "number" for kind in wanted]
    return [(kind, X[:, j], None) for j, kind in enumerate(kinds)]


def table_of(columns, names, rows):
    """The table of columns."""
    return _core.Table(list(names), distinct(columns), rows)


def distinct(columns):
    """Columns as the library takes them: codes have distinct strings."""
    return [_distinct(*column) for column in columns]


def numbers_of(columns):
    """The columns as an array if all of them are complete numbers, else None."""
    if any(kind != "number" or np.isnan(values).any() for kind, values, _ in columns):
        return None
    return np.column_stack([values for _, values, _ in columns])


def _distinct(kind, values, levels):
    """Levels with the same text are one."""
    if levels is None:
        return kind, np.require(values, np.float64, ["ALIGNED"]), None
    codes = np.require(values, np.int32, ["C", "ALIGNED"])
    code_of = {}
    moved = np.array([code_of.setdefault(name, len(code_of)) for name in levels], dtype=np.int32)
    if len(code_of) < len(levels):
        codes = np.where(codes < 0, np.int32(-1), moved[codes])
        levels = list(code_of)
    return kind, codes, levels


def _numbers_of_levels(name, codes, levels):
    """A category that must be a number."""
    if levels is None:
        return "number", codes, None
    numbers = np.full(len(levels) + 1, np.nan)
    for code in np.unique(codes[codes >= 0]):
        text = levels[code]
        try:
            numbers[code] = BOOLEANS.index(text) if text in BOOLEANS else float(text)
        except ValueError:
            raise ValueError(
                f"column {name!r}: expected a number, found the text {text!r}; to learn from it as "
                "a category name it in categorical_features, or set that to 'from_dtype'"
            ) from None
    return "number", numbers[codes], None


def level_name(value):
    """The text of a level: 1.0 is `1`, and a time is written as ISO 8601 has it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return BOOLEANS[int(value)]
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, (Real, Decimal)):
        # No negative zero.
        return np.format_float_positional(float(value) + 0.0, trim="-")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def _level_names(values):
    return [level_name(value) for value in values]


def _refuse(name, what):
    raise ValueError(
        f"column {name!r}: expected numbers, categories, strings, booleans or times, found {what}; "
        "leave it out, or turn it into one of these"
    )


def _seconds(times):
    """Of a numpy array of datetime64 or timedelta64."""
    unit, count = np.datetime_data(times.dtype)
    if unit not in PER_SECOND:
        times = times.astype(times.dtype.str[:2] + "8[s]")
        unit, count = "s", 1
    seconds = times.view(np.int64) * count / PER_SECOND[unit]
    seconds[np.isnat(times)] = np.nan
    return seconds


# pandas


def _is_categorical(dtype):
    return hasattr(dtype, "categories") and hasattr(dtype, "ordered")


def _pandas_column(name, series, wanted):
    dtype = series.dtype
    if type(dtype).__name__ == "ArrowDtype":
        import pyarrow

        return _arrow_column(name, pyarrow.chunked_array(pyarrow.array(series.array)), wanted)
    if _is_categorical(dtype):
        return "category", series.cat.codes.to_numpy(), _level_names(dtype.categories)
    kind = getattr(dtype, "kind", "O")
    if type(dtype).__name__ == "SparseDtype":
        series, kind = series.sparse.to_dense(), dtype.subtype.kind
    if type(dtype).__name__ == "PeriodDtype":
        series, kind = series.dt.to_timestamp(), "M"
    if kind == "c":
        _refuse(name, "complex numbers")
    if wanted == "category" or (kind == "b" and wanted is None):
        codes, levels = _pandas_levels(name, series)
        return "category", codes, _level_names(levels)
    if kind in "iufb" and isinstance(dtype, np.dtype):
        # Nothing is copied where it is float64 already.
        return "number", series.to_numpy(dtype=np.float64), None
    if kind in "iufb":
        return "number", series.to_numpy(dtype=np.float64, na_value=np.nan), None
    if kind == "M":
        if getattr(dtype, "tz", None) is not None:
            series = series.dt.tz_localize(None)
        return "time", _seconds(series.to_numpy()), None
    if kind == "m":
        return "number", _seconds(series.to_numpy()), None
    codes, levels = _pandas_levels(name, series)
    if str(dtype) == "object":
        return _objects(codes, levels)
    return "category", codes, _level_names(levels)


def _pandas_levels(name, series):
    """Codes, -1 where the value is missing, and the values that they stand for."""
    try:
        codes, levels = series.factorize()
    except TypeError:
        # Lists and the like have no hash.
        _refuse(name, "values that are no single ones")
    levels = list(levels)
    for value in levels:
        if isinstance(value, (bytes, tuple, frozenset)):
            _refuse(name, f"a value of type {type(value).__name__}")
    return codes, levels


def _objects(codes, values):
    """Python objects, of which these are there."""
    is_bool = [isinstance(value, (bool, np.bool_)) for value in values]
    if all(isinstance(v, (Real, Decimal)) for v in values) and not any(is_bool):
        # The last one is for codes of -1.
        return "number", np.array([*map(float, values), np.nan])[codes], None
    if all(isinstance(value, datetime.date) for value in values):
        moments = [np.datetime64(_without_zone(value), "us") for value in values]
        return "time", _seconds(np.array([*moments, np.datetime64("NaT", "us")])[codes]), None
    return "category", codes, _level_names(values)


def _without_zone(moment):
    return moment.replace(tzinfo=None) if isinstance(moment, datetime.datetime) else moment


# polars


def _polars_column(name, series, wanted):
    import polars

    dtype = series.dtype
    if dtype == polars.Null:
        return "number", np.full(len(series), np.nan), None
    if dtype in (polars.Categorical, polars.Enum):
        levels = series.drop_nulls().unique()
        code_of = np.zeros(1 + (levels.to_physical().max() or 0), dtype=np.int32)
        code_of[levels.to_physical().to_numpy()] = np.arange(len(levels))
        codes = code_of[series.to_physical().fill_null(0).to_numpy()]
        codes[series.is_null().to_numpy()] = -1
        return "category", codes, levels.cast(polars.String).to_list()
    if dtype.is_nested() or dtype in (polars.Object, polars.Binary):
        _refuse(name, f"values of type {dtype}")
    if dtype == polars.Boolean and wanted is None:
        return "category", series.cast(polars.Int32).fill_null(-1).to_numpy(), BOOLEANS
    if dtype == polars.String or wanted == "category":
        return _polars_levels(series)
    if dtype.is_numeric() or dtype == polars.Boolean:
        numbers = series.cast(polars.Float64).fill_null(np.nan)
        return "number", numbers.to_numpy(), None
    per_second = PER_SECOND[getattr(dtype, "time_unit", None) or "ns"]
    if dtype == polars.Datetime and dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    if dtype == polars.Date:
        days = series.to_physical().cast(polars.Float64).fill_null(np.nan).to_numpy()
        return "time", days * 86_400.0, None
    numbers = series.to_physical().cast(polars.Float64).fill_null(np.nan).to_numpy() / per_second
    return "time" if dtype == polars.Datetime else "number", numbers, None


def _polars_levels(series):
    import polars

    if series.dtype.is_float():
        series = series.fill_nan(None)
    levels = series.drop_nulls().unique()
    if len(levels) == 0:
        return "category", np.full(len(series), -1, dtype=np.int32), []
    places = polars.Series(np.arange(len(levels), dtype=np.int32))
    codes = series.replace_strict(levels, places, default=None, return_dtype=polars.Int32)
    return "category", codes.fill_null(-1).to_numpy(), _level_names(levels.to_list())


# Arrow


def _arrow_column(name, column, wanted):
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_null(kind):
        return "number", np.full(len(column), np.nan), None
    if types.is_timestamp(kind) and wanted != "category":
        if kind.tz is not None:
            import pyarrow.compute

            column = pyarrow.compute.local_timestamp(column)
        return "time", _arrow_seconds(column, kind.unit), None
    if types.is_date(kind) and wanted != "category":
        moments = column.cast(pyarrow.timestamp("s"))
        return "time", _arrow_seconds(moments, "s"), None
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if is_text or types.is_dictionary(kind) or wanted == "category":
        return _arrow_levels(name, column)
    if types.is_boolean(kind):
        if wanted is None:
            codes = column.cast(pyarrow.int32()).fill_null(-1)
            return "category", codes.to_numpy(), BOOLEANS
        return "number", _arrow_floats(column.cast(pyarrow.int8())), None
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number", _arrow_floats(column), None
    if types.is_duration(kind) or types.is_time(kind):
        return "number", _arrow_seconds(column, kind.unit), None
    return _refuse(name, f"values of type {kind}")


def _arrow_floats(column):
    import pyarrow

    return column.cast(pyarrow.float64(), safe=False).fill_null(np.nan).to_numpy()


def _arrow_seconds(column, unit):
    import pyarrow

    whole = pyarrow.int32() if column.type.bit_width == 32 else pyarrow.int64()
    return _arrow_floats(column.cast(whole)) / PER_SECOND[unit]


def _arrow_levels(name, column):
    import pyarrow
    from pyarrow import types

    if not types.is_dictionary(column.type):
        if types.is_nested(column.type) or types.is_binary(column.type):
            _refuse(name, f"values of type {column.type}")
        column = column.dictionary_encode()
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pyarrow.ChunkedArray):
        # Of no chunks.
        return "category", np.empty(0, dtype=np.int32), []
    levels = column.dictionary.to_pylist()
    codes = column.indices.cast(pyarrow.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    # A level may itself be null, or no number.
    gaps = [code for code, level in enumerate(levels) if level is None or level != level]
    if gaps:
        codes = np.where(np.isin(codes, gaps), np.int32(-1), codes)
        levels = [0 if code in gaps else level for code, level in enumerate(levels)]
    return "category", codes, _level_names(levels)
