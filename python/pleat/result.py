# Result: what all results share: attributes of the library, copies, pickles, texts and tables.
import base64
import html
import json
import os
import re
import tempfile
import textwrap
from pathlib import Path

import numpy as np

from . import _pleat
from .errors import InputError, UsageError


# {class of the library: class of Python}: results within results.
PARTS = {}


class Attribute(property):
    """An attribute of a result, with its description."""

    def __init__(self, name, text):
        super().__init__(lambda result: result._value(name), doc=text)
        self.__doc__ = text


def square(values, diagonal=0.0):
    """Values of all pairs i < j in row order, [n (n - 1) / 2], as a symmetric matrix [n, n]."""
    values = np.asarray(values)
    n = item_count(values.size)
    if values.ndim != 1 or n * (n - 1) // 2 != values.size:
        raise InputError(f"expected values of n (n - 1) / 2 pairs, found shape {values.shape}")
    matrix = np.full((n, n), diagonal, dtype=values.dtype)
    upper = np.triu_indices(n, 1)
    matrix[upper] = values
    matrix.T[upper] = values
    return matrix


def item_count(pairs):
    """The number of items that have so many pairs."""
    return round((1 + (1 + 8 * pairs) ** 0.5) / 2)


def to_dataframe(columns):
    """Columns {name: values} as a pandas.DataFrame, which needs pandas."""
    import pandas
    return pandas.DataFrame(columns)


def repr_html(value):
    """The text of repr() for notebooks: the class, its headline, and a small picture if matplotlib is installed."""
    name, _, headline = repr(value).strip("<>").partition(": ")
    return f"<p><b>{html.escape(name)}</b><br>{html.escape(headline)}</p>{_picture(value)}"


def _picture(value):
    """The picture of a result as HTML; empty for what has none, and without matplotlib."""
    try:
        from .plot import picture
        png = picture(value)
    except ImportError:
        return ""
    if png is None:
        return ""
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'


def describe_properties(kind):
    """Gives the properties of a class of the library the descriptions of its docstring: `name, name : text`."""
    for names, text in re.findall(r"^([a-z]\w*(?:, \w+)*) : (.+(?:\n    .+)*)", kind.__doc__, re.MULTILINE):
        for name in names.split(", "):
            if isinstance(vars(kind).get(name), property):
                vars(kind)[name].__doc__ = " ".join(text.split())


def as_array(values, dtype=None, copy=None):
    """What __array__ returns for `values`."""
    found = np.asarray(values, dtype=dtype)
    return found.copy() if copy and found is values else found


def paragraph(name, text):
    """What a docstring says of a name."""
    return f"{name}:\n" + textwrap.indent(textwrap.fill(text, 92), "    ")


def counted(number, noun):
    """'1 cluster', '2 clusters'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


TEXTS = (".tsv", ".json", ".txt", ".nwk", ".csv")


def texts_of_run(folder):
    """{file: bytes} of the tables and texts of a finished run of the program, and of its manifest."""
    manifest = (folder / "manifest.json").read_bytes()
    files = [one["file"] for one in json.loads(manifest)["outputs"]]
    return {"manifest.json": manifest,
            **{file: (folder / file).read_bytes() for file in files if file.endswith(TEXTS)}}


class Result:
    """Base of results: attributes that cannot be set, copies, pickles, texts and tables. Those of a class are the
    columns that the library describes under the class's name."""

    _columns = ()
    _tables = ()  # names of the tables of to_dataframe(), the default first
    _array_of = None  # the attribute that numpy.asarray() takes

    def __init_subclass__(cls, module="pleat"):
        cls.__module__ = module
        cls._columns = _pleat.result_columns.get(cls.__name__, ())
        for column in cls._columns:
            if column["name"] and column["help"]:
                setattr(cls, column["name"], Attribute(column["name"], column["help"]))

    def __init__(self, native=None, texts=None, **values):
        self._native, self._values, self._known_texts = native, values, texts

    def _value(self, name):
        if name not in self._values:
            if self._native is None:
                raise AttributeError(f"{type(self).__name__}.{name} is not known: it was not in the files or "
                                     "the pickle that this result was read from")
            self._values[name] = _wrapped(getattr(self._native, name))
        return self._values[name]

    @classmethod
    def _attributes(cls):
        return [name for name, value in vars(cls).items() if isinstance(value, Attribute)]

    @classmethod
    def described(cls):
        """A paragraph of a docstring per attribute."""
        return [paragraph(name, vars(cls)[name].__doc__) for name in cls._attributes() if not name.startswith("_")]

    def _known(self):
        """{attribute: value} of all that are known."""
        names = self._attributes() if self._native is not None else list(self._values)
        return {name: self._value(name) for name in names}

    def _texts(self):
        """{file: bytes} of the tables and texts of the program's run with this result, and of its manifest.json."""
        if self._known_texts is None and hasattr(self._native, "write_run"):
            with tempfile.TemporaryDirectory(prefix="pleat-") as folder:
                self._native.write_run(os.path.join(folder, "run"), self._values)
                self._known_texts = texts_of_run(Path(folder, "run"))
        return self._known_texts

    def __getstate__(self):
        return {"texts": self._texts(), **self._known()}

    def __setstate__(self, state):
        self.__init__(**state)

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__}: {self._headline()}>"

    _repr_html_ = repr_html

    def __array__(self, dtype=None, copy=None):
        if self._array_of is None:
            raise TypeError(f"{type(self).__name__} is not one array; take one of its attributes")
        values = getattr(self, self._array_of)
        if values is None:
            raise TypeError(f"{type(self).__name__}.{self._array_of} was not computed")
        return as_array(values, dtype, copy)

    def to_dataframe(self, table=None):
        """A table of the result as a pandas.DataFrame, which needs pandas; `table` names it, the default
        is the first: see the class. Items, frames and columns count from 0."""
        table = table or self._tables[0]
        if table not in self._tables:
            raise UsageError(f"table: expected one of {', '.join(self._tables)}, found {table!r}")
        return to_dataframe(self._columns_of(table))

    def _columns_of(self, table):
        made = getattr(self, f"_{table}_table", None)
        return made() if made is not None else records_table(getattr(self, table))

    def _shown_in(self, table):
        """{header: values} of the columns that a table of to_dataframe() shows."""
        columns = [(one["header"], getattr(self, one["name"])) for one in self._columns if one["table"] == table]
        return {header: values.ravel() for header, values in columns if values is not None}

    @classmethod
    def _of(cls, name):
        """The column of an attribute."""
        return next(one for one in cls._columns if one["name"] == name)

    @classmethod
    def _places(cls, known):
        """[(file, key, column)] of the columns that the program's files hold; `known` {attribute: value} fills their
        names."""
        filled = [tuple(re.sub(r"{(\w+)}", lambda name: str(known.get(name[1])), one[part]) for part in ("file", "key"))
                  for one in cls._columns]
        return [(*place, one) for place, one in zip(filled, cls._columns) if place[0]]


def _wrapped(value):
    """Parts of a result as results, too."""
    if isinstance(value, list):
        return [_wrapped(one) for one in value]
    kind = PARTS.get(type(value))
    return value if kind is None else kind(value)


def records_table(records):
    """{field: values} of an array of records or of what returns one; letters as texts."""
    records = records() if callable(records) else records
    return {name: records[name].astype("U1") if records.dtype[name].kind == "S" else records[name]
            for name in records.dtype.names}
