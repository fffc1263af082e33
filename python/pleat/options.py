# Options: keywords of functions, made from the engines' fields.
"""Signatures, docstrings and checks of keywords, from the list of options that the library keeps."""
import difflib
import inspect
import math
import textwrap

# How to compute; every function has them.
HOW = (("device", "str", "auto", "Where to compute: auto, cpu, reference (slow, double precision), "
                                 "cuda, cuda:N, or several GPUs: cuda:0,2 or cuda:all"),
       ("threads", "int", None, "Threads; None: all that this process may use"),
       ("seed", "int", 1, "Seed of random numbers"),
       ("progress", "Callable[[str, int, int, str], object]", None,
        "Called with (stage, done, total, note); an exception that it raises stops the work"))


def keyword(field):
    """The keyword of an option: `lambda-pair` is lambda_pair."""
    return field["name"].replace("-", "_")


def annotation(field):
    """The type of an option, as stubs write it."""
    kind = field["kind"]
    if field["is_path"]:
        return "str | PathLike[str]"
    if field["is_range"]:
        return "str | float"
    if field["choices"]:
        return "Literal[" + ", ".join(repr(choice) for choice in field["choices"]) + "]"
    return kind + " | None" if field["automatic"] else kind


def _range(field):
    low, high = field["min"], field["max"]
    above = "above " if field["min_excluded"] else "at least "
    texts = []
    if math.isfinite(low):
        texts.append(f"{above}{low:g}")
    if math.isfinite(high):
        texts.append(f"at most {high:g}")
    return ", ".join(texts)


def described(field):
    """One paragraph of a docstring."""
    default = repr(field["default"])
    if field["automatic"]:
        default += f" ({field['automatic']})" if field["default"] is None else ""
    notes = [text for text in (field["unit"], ", ".join(filter(None, field["choices"])),
                               _range(field), "default " + default) if text]
    text = f"{field['help']} [{'; '.join(notes)}]"
    return f"{keyword(field)}:\n" + textwrap.indent(textwrap.fill(text, 92), "    ")


def engine(fields, returned=None):
    """Decorates a function(..., options, how): its keywords become those of `fields` and HOW. `returned` is the
    class of its result, whose attributes its docstring lists."""
    names = {keyword(field): field["name"] for field in fields}
    # Names of earlier versions are accepted; signatures do not show them.
    known = names | {old.replace("-", "_"): field["name"]
                     for field in fields for old in field["old_names"] if len(old) > 1}

    def decorate(function):
        own = [parameter for parameter in inspect.signature(function).parameters.values()
               if parameter.name not in ("options", "how")]
        allowed = [p.name for p in own] + [name for name, *_ in HOW] + list(names)
        how_names = {name for name, *_ in HOW}
        positional = [p.name for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]

        def call(*args, **keywords):
            options, how, rest = {}, {}, {}
            for name, value in keywords.items():
                if name in known:
                    options[known[name]] = value
                elif name in how_names:
                    how[name] = value
                elif name in allowed:
                    rest[name] = value
                else:
                    raise TypeError(_unknown(function.__name__, name, allowed))
            if len(args) > len(positional):
                raise TypeError(f"{function.__name__}() takes {len(positional)} positional "
                                f"argument, found {len(args)}; options are keywords")
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
    for name, _, default, text in HOW:
        text = f"{text} [default {default!r}]"
        parts.append(f"{name}:\n" + textwrap.indent(textwrap.fill(text, 92), "    "))
    return "\n".join(parts) + "\n"
