# The record of a GPU run: written after every step, free of paths and host names, with its bars.
import json
import os
import re
import socket

from .bars import BARS

FORMAT = "pleat-gpu-2"
_FOLDERS = re.compile(r"(?<![\w.:/<])/(?:[\w.+@~-]+/)+")


def cleaned(value):
    """The same value with paths cut to their last name and this host's name replaced."""
    if isinstance(value, dict):
        return {str(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [cleaned(item) for item in value]
    if not isinstance(value, str):
        return value
    text = _FOLDERS.sub("", value)
    host = socket.gethostname()
    return re.sub(rf"\b{re.escape(host)}\b", "host", text) if len(host) > 3 else text


class Record:
    """What a run found, saved whenever something is added, so that a run that is cut short keeps
    what it had."""

    def __init__(self, path, header, parts):
        self.path = path
        self.parts = parts
        self.gpus = 1   # bars that need more are left out
        self.cases = ()  # of the part lanes: the bars of others are left out, none where empty
        self.values = {}
        self.data = {"format": FORMAT, **header, "parts": {}, "bars": []}

    def add(self, part, **found):
        self.data["parts"].setdefault(part, {}).update(found)
        self.save()

    def bar(self, name, value):
        """The measured value of one of BARS."""
        if name not in {bar.name for bar in BARS}:
            raise ValueError(f"expected the name of a bar, found '{name}'")
        self.values[name] = value
        self.save()

    def bars(self):
        """One dictionary for each bar of the parts that were asked for."""
        return [{"name": bar.name, "bar": bar.text(), "measured": self.values.get(bar.name),
                 "met": bar.is_met(self.values.get(bar.name)),
                 **({"stretch": bar.stretch} if bar.stretch is not None else {})}
                for bar in BARS if bar.part in self.parts and bar.gpus <= self.gpus and self.is_of_a_case(bar)]

    def is_of_a_case(self, bar):
        return bar.part != "lanes" or not self.cases or bar.name.split(": ")[1] in self.cases

    def all_met(self):
        return all(bar["met"] for bar in self.bars())

    def save(self):
        self.data["bars"] = self.bars()
        beside = f"{self.path}.part"
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(cleaned(self.data), file, indent=1)
            file.write("\n")
        os.replace(beside, self.path)

    def table(self):
        """The bars as lines of text."""
        lines = [f"{'bar':52s} {'measured':>12s} {'wanted':>10s}"]
        for bar in self.bars():
            measured = "-" if bar["measured"] is None else f"{bar['measured']:.4g}"
            verdict = {True: "met", False: "NOT MET", None: "NOT MEASURED"}[bar["met"]]
            lines.append(f"{bar['name']:52s} {measured:>12s} {bar['bar']:>10s}  {verdict}")
        return "\n".join(lines)
