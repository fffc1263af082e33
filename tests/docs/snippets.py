# Snippets of Markdown: what a page asks its reader to run, what it says comes out, and what is left out.
import re
from dataclasses import dataclass

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: ([^>]+?) -->\s*\Z")
HIDDEN = re.compile(r"<!-- run:\s(.*?)\s*-->", re.DOTALL)
FIGURE = re.compile(r"!\[[^\]]*\]\((?:\.\./)*figures/([\w-]+\.png)\)")
INLINE = re.compile(r"(?<!`)`(pleat [a-z][^`\n]*)`(?!`)")
RUN = ("sh", "python")


@dataclass
class Snippet:
    """A block of a page. `language`: sh, python, or hidden (commands of a comment, for the tests alone)."""
    language: str
    text: str
    line: int
    expected: str = None   # what it prints, where the page shows it
    left_out: str = None   # why it is not run


def snippets(text):
    """The blocks of a page in its order. ValueError for a block that is neither run nor marked."""
    def line_of(at):
        return text.count("\n", 0, at) + 1
    found, end = [], 0
    for fence in FENCE.finditer(text):
        language, body = fence.groups()
        between = text[end:fence.start()]
        for hidden in HIDDEN.finditer(between):
            found.append(Snippet("hidden", hidden.group(1), line_of(end + hidden.start())))
        left_out = NOT_RUN.search(between)
        line = line_of(fence.start())
        if language in RUN or left_out:
            found.append(Snippet(language, body, line, None, left_out.group(1) if left_out else None))
        elif language == "text":
            if not between.strip() and found and found[-1].language in RUN and end:
                found[-1].expected = body
        elif not language.startswith("{"):
            raise ValueError(f"line {line}: expected sh, python or text, or '<!-- not run: why -->' before "
                             f"the block, found '{language}'")
        end = fence.end()
    outside = FENCE.sub(lambda match: re.sub(r"[^\n]", "", match.group(0)), text)
    indented = re.search(r"\n\n( {4,}|\t)\S", outside)
    if indented:
        raise ValueError(f"line {outside.count(chr(10), 0, indented.start()) + 3}: expected a fenced "
                         "block, found an indented one, which is not run")
    return found


def figures(text):
    """The files that the Python of a page draws for it."""
    return FIGURE.findall(text)


def matches(expected, printed):
    """Whether the output is as shown: '...' stands for any part of a line, alone on a line for any lines."""
    pattern = ""
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def inline_commands(text):
    """(command, flags) of every `pleat COMMAND ...` within a line of the page."""
    for match in INLINE.finditer(FENCE.sub("", text)):
        words = match.group(1).split()
        yield words[1], re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", match.group(1))
