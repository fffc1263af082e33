# The table of all options in docs/cli/options.md: every command's options are in it, with one letter and one meaning.
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPTION = re.compile(r"^ {2,6}(?:-(\w), )?--([a-z0-9-]+)")
ROW = re.compile(r"^\| (?:`-(\w)` )?`--([a-z0-9-]+)` \| ([^|]+) \| ([^|]+) \|$")
HELP = {"help", "help-all"}


def captured_options():
    """{command: {option: letter}} of the captured helps."""
    found = {}
    for path in sorted((ROOT / "docs" / "cli").glob("pleat-*.txt")):
        options = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            match = OPTION.match(line)
            if match and match.group(2) not in HELP:
                options[match.group(2)] = match.group(1)
        found[path.stem[len("pleat-"):]] = options
    return found


def table():
    """{option: (letter, {commands}, meaning)} of the page; ValueError for a row that stands twice."""
    rows = {}
    for line in (ROOT / "docs" / "cli" / "options.md").read_text(encoding="utf-8").splitlines():
        match = ROW.match(line)
        if match:
            letter, name, commands, meaning = match.groups()
            if name in rows:
                raise ValueError(f"--{name} stands twice")
            rows[name] = (letter, set(commands.split(", ")), meaning)
    return rows


class OptionTable(unittest.TestCase):
    def test_the_table_is_what_the_commands_have(self):
        rows, commands = table(), captured_options()
        self.assertGreater(len(rows), 60)
        for command, options in commands.items():
            for name, letter in options.items():
                with self.subTest(command=command, option=name):
                    self.assertIn(name, rows)
                    self.assertIn(letter, (rows[name][0], None))
                    self.assertIn(command, rows[name][1])
        for name, (_, listed, _) in rows.items():
            with self.subTest(option=name):
                self.assertEqual(listed, {command for command in commands if name in commands[command]})

    def test_a_letter_has_one_meaning(self):
        letters = {}
        for options in captured_options().values():
            for name, letter in options.items():
                if letter:
                    letters.setdefault(letter, set()).add(name)
        self.assertEqual({letter: names for letter, names in letters.items() if len(names) > 1}, {})


if __name__ == "__main__":
    unittest.main()
