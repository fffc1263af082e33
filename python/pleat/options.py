# Options: keywords of functions, made from the engines' fields.
import contextlib
import difflib
import functools
import inspect
import math
import numbers
import os
import re

import numpy as np

from .errors import Error, UsageError
from .progress import heard
from .result import paragraph

# How to compute; every function has them.
HOW = (("device", "str", "auto", "Where to compute: auto, cpu, reference (slow, double precision), "
                                 "cuda, cuda:N, or several GPUs: cuda:0,2 or cuda:all"),
       ("threads", "int", None, "Threads; None: all that this process may use"),
       ("seed", "int", 1, "Seed of random numbers"),
       ("progress", "bool | Callable[[str, int, int, str], object]", None,
        "True: a bar; or a function, called with (stage, done, total, note); an exception that it raises "
        "stops the work"))


def keyword(field):
    """The keyword of an option: `lambda-pair` is lambda_pair."""
    return field["name"].replace("-", "_")


def annotation(field):
    """The type of an option, as stubs write it."""
    kind = field["kind"]
    if field["is_path"]:
        return "str | PathLike[str]"
    if field["is_range"]:
        return "str | float | range | Sequence[float]"
    if field["choices"]:
        return "Literal[" + ", ".join(repr(choice) for choice in field["choices"]) + "]"
    return kind + " | None" if field["automatic"] else kind


def range_text(values):
    """Text of what the program reads as a range: a range or slice of Python, whose end is left out."""
    if isinstance(values, range):
        if not values or values.step < 0:
            raise ValueError(f"expected a rising range that is not empty, found {values!r}")
        return f"{values[0]}:{values[-1]}:{values.step}" if len(values) > 1 else str(values[0])
    return values


def slice_text(values):
    """first:last:step of a slice, as the program reads frames."""
    if not isinstance(values, slice):
        return values
    return ":".join("" if part is None else str(part) for part in (values.start, values.stop, values.step))


def named_text(name, source, text_of):
    """What the library takes in place of a file: (path, '') of a path, ('', '') of None, else (name, text)."""
    if source is None:
        return "", ""
    return (os.fspath(source), "") if isinstance(source, (str, os.PathLike)) else (name, text_of(source))


def structure_text(structure):
    """A structure as --structure takes it, from a path, a text or None."""
    if structure is None:
        return ""
    if not isinstance(structure, (str, os.PathLike)) or not os.fspath(structure):
        raise UsageError(f"structure: expected a path or 'FILE:CHAIN', found {structure!r}")
    return os.fspath(structure)


def parts_text(parts):
    """Parts as --parts takes them, from their lengths, a text or None."""
    if parts is None or isinstance(parts, str):
        return parts or ""
    if not hasattr(parts, "__iter__") or isinstance(parts, dict) or not all(isinstance(length, numbers.Integral) for length in parts):
        raise UsageError(f"parts: expected lengths such as [218, 310] or a text such as 'A:1-218,B:219-528', found {parts!r}")
    return ",".join(str(length) for length in parts)


def numbers_text(name, values):
    """Text of a number or several, with commas between them; a text as it is."""
    if isinstance(values, str):
        return values
    try:
        text = ",".join(map(repr, np.asarray(values, dtype=np.float64).ravel().tolist()))
    except (TypeError, ValueError):
        text = ""
    if not text:
        raise UsageError(f"{name}: expected a number, several or their text, found {values!r}")
    return text


def _series_text(values):
    """Text of a number, of numbers at equal steps, or of what range_text takes."""
    if isinstance(values, str) or not (isinstance(values, (list, tuple)) or hasattr(values, "__array__")):
        return range_text(values)
    given = np.asarray(values)
    is_single = given.dtype == np.float32
    found = np.array([float(f"{number:.{6 if is_single else 12}g}") for number in given.astype(np.float64).ravel()])
    steps = np.diff(found)
    loose = 1e-5 * np.abs(found).max(initial=0) if is_single else 1e-8
    if found.size == 0 or not (steps > 0).all() or not np.allclose(steps, steps[:1], rtol=1e-9, atol=loose):
        raise ValueError(f"expected rising numbers at equal steps, found {values!r}")
    ends = [found[0], found[-1], (found[-1] - found[0]) / len(steps)] if found.size > 1 else [found[0]]
    return ":".join(f"{number:.12g}" for number in ends)


def _value(field, value):
    try:
        return _series_text(value) if field["is_range"] else value
    except ValueError as error:
        raise UsageError(f"{keyword(field)}: {error}") from None


@contextlib.contextmanager
def python_words(names, choices=None):
    """Errors within name keywords of Python instead of the program's options: `--q-max` is q_max, and
    `--method gromos` method='gromos'.

    names : keywords; None: any. choices : {keyword: values} of those that take texts
    """
    def replaced(match):
        name, value = match["name"].replace("-", "_"), match["value"]
        if name.startswith("no_") and names is not None and name[3:] in names:
            return f"{name[3:]}=False" + (f" {value}" if value else "")
        if names is not None and name not in names:
            return match[0]
        if value and value in (choices or {}).get(name, ()):
            return f"{name}={value!r}"
        return name + (f" {value}" if value else "")

    try:
        yield
    except (Error, TypeError) as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (_OPTION.sub(replaced, error.args[0]), *error.args[1:])
        raise


_OPTION = re.compile(r"(?<![\w-])--(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?: (?P<value>[\w/-]+))?")


def in_python_words(function):
    """Decorates a function whose keywords are options of the program."""
    names = set(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args, **keywords):
        with python_words(names):
            return function(*args, **keywords)
    return call


def _range(field):
    low, high = field["min"], field["max"]
    above = "above " if field["min_excluded"] else "at least "
    texts = []
    if math.isfinite(low):
        texts.append(f"{above}{low:g}")
    if math.isfinite(high):
        texts.append(f"at most {high:g}")
    return ", ".join(texts)


def limits(field):
    """Unit, choices, range, and what None means, of one option; '' if there are none."""
    automatic = f"None: {field['automatic']}" if field["automatic"] and field["default"] is None else ""
    return "; ".join(filter(None, (field["unit"], ", ".join(filter(None, field["choices"])), _range(field), automatic)))


def described(field):
    """One paragraph of a docstring."""
    notes = "; ".join(filter(None, (limits(field), f"default {field['default']!r}")))
    return paragraph(keyword(field), f"{field['help']} [{notes}]")


def engine(fields, returned=None):
    """Decorates a function(..., options, how): its keywords become those of `fields` and HOW. `returned` is the
    class of its result, whose attributes its docstring lists."""
    names = {keyword(field): field["name"] for field in fields}
    by_name = {field["name"]: field for field in fields}
    choices = {keyword(field): field["choices"] for field in fields}

    def decorate(function):
        own = [parameter for parameter in inspect.signature(function).parameters.values()
               if parameter.name not in ("options", "how")]
        allowed = [p.name for p in own] + [name for name, *_ in HOW] + list(names)
        how_names = {name for name, *_ in HOW}
        positional = [p.name for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]

        def call(*args, **keywords):
            options, how, rest = {}, {}, {}
            for name, value in keywords.items():
                if name in names:
                    options[names[name]] = _value(by_name[names[name]], value)
                elif name in how_names:
                    how[name] = value
                elif name in allowed:
                    rest[name] = value
                else:
                    raise TypeError(_unknown(function.__name__, name, allowed))
            if len(args) > len(positional):
                raise TypeError(f"{function.__name__}() takes {len(positional)} positional "
                                f"argument, found {len(args)}; options are keywords")
            with python_words(allowed, choices), heard(how.get("progress")) as how["progress"]:
                return function(*args, options=options, how=how, **rest)

        call.__name__ = call.__qualname__ = function.__name__
        call.__module__ = "pleat"
        call.__signature__ = inspect.Signature(own + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in [(name, default) for name, _, default, _ in HOW] +
            [(keyword(field), field["default"]) for field in fields]])
        call.__doc__ = _documented(function, fields, returned)
        call.fields = fields
        return call

    return decorate


def _unknown(function, name, allowed):
    near = difflib.get_close_matches(name, allowed, n=1, cutoff=0)
    return f"{function}(): expected one of its keywords, found '{name}'; the nearest is '{near[0]}'"


def _documented(function, fields, returned):
    parts = [inspect.cleandoc(function.__doc__), ""]
    if returned is not None:
        parts += ["Returns", "-------", inspect.cleandoc(returned.__doc__), "", *returned.described(), ""]
    parts += ["Options", "-------"]
    parts += [described(field) for field in fields]
    parts += ["", "How to compute", "--------------"]
    parts += [paragraph(name, f"{text} [default {default!r}]") for name, _, default, text in HOW]
    return "\n".join(parts) + "\n"
