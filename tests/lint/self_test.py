# Proves that every lint can fail: each check meets a bad snippet and its repaired twin.
import importlib
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from lint import CHECKS  # noqa: E402
from source import project_files  # noqa: E402

ENGINE = ("README.md", "parameters.cpp", "kernel/kernel.h", "kernel/kernel.cpp", "kernel/kernel_reference.cpp",
          "kernel/kernel_cpu.cpp", "tests/rmsd.cpp", "rmsd.h", "rmsd.cpp")


def engine(name, *more, leave_out=None):
    """An engine's folder with empty rooms."""
    rooms = [room.replace("rmsd", name) for room in ENGINE + more if room != leave_out]
    return {f"src/pleat/{name}/{room}": "" for room in rooms}


def lines(count, line="a += 1;\n"):
    return line * count


# (check, what is wrong, the bad files, the same repaired)
CASES = [
    ("layers", "core includes bio",
     {"src/pleat/core/a.h": '#include "pleat/bio/b.h"\n'},
     {"src/pleat/bio/a.h": '#include "pleat/core/b.h"\n'}),
    ("layers", "cluster includes an engine",
     {"src/pleat/cluster/a.cpp": '#include "pleat/rmsd/rmsd.h"\n'},
     {"src/pleat/rmsd/a.cpp": '#include "pleat/cluster/distances/distances.h"\n'}),
    ("layers", "an engine includes another",
     {"src/pleat/rmsd/a.cpp": '#include "pleat/saxs/saxs.h"\n'},
     {"src/pleat/rmsd/a.cpp": '#include "pleat/weights/weights.h"\n'}),
    ("layers", "the program includes a kernel",
     {"apps/pleat/a.cpp": '#include "pleat/rmsd/kernel/kernel.h"\n'},
     {"apps/pleat/a.cpp": '#include "pleat/rmsd/rmsd.h"\n'}),
    ("layers", "a kernel's stand-in outside its place",
     {"src/pleat/core/without_cuda.cpp": '#include "pleat/rmsd/kernel/kernel.h"\n'},
     {"src/pleat/without_cuda.cpp": '#include "pleat/rmsd/kernel/kernel.h"\n'}),
    ("layers", "a header named without its module",
     {"src/pleat/core/a.cpp": '#include "b.h"\n'},
     {"src/pleat/core/a.cpp": '// #include "b.h"\n#include "pleat/core/b.h"\n'}),
    ("layers", "a header named from its module on",
     {"src/pleat/core/a.cpp": '#include "core/b.h"\n'},
     {"src/pleat/core/a.cpp": '#include "hwy/foreach_target.h"\n'}),
    ("layers", "a module without a layer",
     {"src/pleat/extra/a.cpp": '#include "pleat/core/b.h"\n'}, {}),
    ("results", "a fact of the manifest beside the columns",
     {"src/pleat/rmsd/output.cpp": 'void f() { run.fact("min", 1); }\n'},
     {"src/pleat/rmsd/output.cpp": "void f() { record(run, columns(result)); }\n"}),
    ("results", "an attribute listed in the types",
     {"python/stubs/a.pyi": "class Rmsd(_Result):\n    def save(self): ...\n    @property\n    def min(self): ...\n"},
     {"python/stubs/a.pyi": "class Rmsd(_Result):\n    def save(self): ...\n"}),
    ("results", "an attribute listed in the package",
     {"python/pleat/a.py": "class Rmsd(Result):\n    min = Attribute('the smallest')\n"},
     {"python/pleat/a.py": "class Rmsd(Result):\n    _tables = ()\n"}),
    ("rooms", "an engine without a reference kernel",
     engine("rmsd", leave_out="kernel/kernel_reference.cpp"), engine("rmsd")),
    ("rooms", "an engine without tests", engine("rmsd", leave_out="tests/rmsd.cpp"), engine("rmsd")),
    ("rooms", "one engine has a benchmark, the other none",
     {**engine("rmsd", "bench.cpp"), **engine("saxs")},
     {**engine("rmsd", "bench.cpp"), **engine("saxs", "bench.cpp")}),
    ("first_lines", "code without a purpose",
     {"a.h": "#pragma once\n"}, {"a.h": "// Views of arrays.\n#pragma once\n"}),
    ("first_lines", "a script without a purpose",
     {"scripts/run": "#!/bin/sh\nset -eu\n"}, {"scripts/run": "#!/bin/sh\n# Runs a thing.\n"}),
    ("first_lines", "Markdown without a title", {"a.md": "Text\n"}, {"a.md": "# Title\n"}),
    ("budgets", "a long file",
     {"a.cpp": lines(801, "int a;\n")}, {"a.cpp": lines(800, "int a;\n")}),
    ("budgets", "a folder of many files",
     {f"src/a/{number}.h": "" for number in range(51)},
     {**{f"src/a/{number}.h": "" for number in range(50)},
      **{f"src/a/tests/{number}.cpp": "" for number in range(51)}}),
    ("budgets", "a long function",
     {"a.cpp": "int f(int a) {\n" + lines(79) + "}\n"},
     {"a.cpp": "int f(int a) {\n" + lines(78) + "}\n"}),
    ("budgets", "a long method behind member initialisers",
     {"a.h": "class A {\n  A(int b) : b_(b), c_{b} {\n" + lines(79) + "}\n};\n"},
     {"a.h": "class A {\n  A(int b) : b_(b), c_{b} {\n" + lines(78) + "}\n" + lines(90, "int a;\n")
             + "};\n"}),
    ("budgets", "a long kernel",
     {"kernel_cpu.cpp": "void f(int a) {\n" + lines(119) + "}\n"},
     {"kernel_cpu.cpp": "void f(int a) {\n" + lines(118) + "}\n"}),
    ("budgets", "a long kernel of a GPU",
     {"a.cuh": "__global__ void f(int a) {\n" + lines(119) + "}\n"},
     {"a.cuh": "__global__ void f(int a) {\n" + lines(118) + "}\n"}),
    ("budgets", "a long Python function",
     {"a.py": "def f(a):\n" + lines(80, "    a += 1\n")},
     {"a.py": "def f(a):\n" + lines(79, "    a += 1\n")}),
    ("conditionals", "a branch by the system outside core/hardware",
     {"src/pleat/core/run/a.cpp": "#ifdef __APPLE__\n#endif\n"},
     {"src/pleat/core/hardware/a.cpp": "#ifdef __APPLE__\n#endif\n"}),
    ("conditionals", "a branch of the preprocessor",
     {"src/pleat/core/a.cpp": "#ifdef FAST\n#endif\n"},
     {"src/pleat/core/a.cpp": "#if HWY_ONCE\n#endif\n#ifndef GUARD\n#define GUARD\n#endif\n"}),
    ("errors", "a type of the standard library",
     {"src/a.cpp": 'throw std::runtime_error("expected 1, found 2");\n'},
     {"src/a.cpp": 'throw InputError(file, 1, "expected 1, found 2");\nthrow;\n'}),
    ("errors", "a bare value", {"src/a.cpp": "throw 3;\n"}, {"src/a.cpp": "// throw 3;\n"}),
    ("errors", "an exclamation mark",
     {"src/a.cpp": 'throw UsageError("expected one, found two!");\n'},
     {"src/a.cpp": 'throw UsageError("expected one, found two");\n'}),
    ("errors", "a text that does not say what was expected",
     {"src/a.cpp": 'throw InputError(fmt::format("bad number of columns {}", n));\n'},
     {"src/a.cpp": 'throw InputError(fmt::format("expected 3 columns, "\n  "found {}", n));\n'}),
    ("errors", "a complaint that does not say what was expected",
     {"src/a.cpp": 'complaints.add(3, "wrong letter in the sequence");\n'},
     {"src/a.cpp": 'complaints.add(3, "expected a letter, found a digit");\n'}),
    ("words", "an unfinished word", {"a.md": "# A\nTO" + "DO: more\n"}, {"a.md": "# A\nTo do\n"}),
    ("words", "a path of one machine",
     {"a.sh": "cat /ho" + "me/someone/a\n"}, {"a.sh": "cat ${root}/home/someone/a\n"}),
    ("words", "a long page", {"src/pleat/a/README.md": "word " * 2001}, {"src/pleat/a/README.md": "word " * 2000}),
    ("type_names", "a name of two types",
     {"src/a.h": "struct Pair {\n};\n", "src/b.h": "struct Pair {\n};\n"},
     {"src/a.h": "struct Pair {\n};\n", "src/b.h": "struct Pair;\nstruct Kernel {\n};\n"}),
    ("words", "a package host",
     {"a.json": '"https://regis' + 'try.example.org/a.tgz"\n'},
     {"a.json": '"https://doi.org/10.1000/1"\n'}),
    ("options", "an option declared twice",
     {"src/pleat/rmsd/parameters.cpp": '{"cut-off", &p.cut_off, ""}, {"cut-off", &p.b, ""}'},
     {"src/pleat/rmsd/parameters.cpp": '{"cut-off", &p.cut_off, ""}, {"b", &p.b, ""}'}),
    ("options", "an option written out in the program",
     {"src/pleat/rmsd/parameters.cpp": '{"cut-off", &p.cut_off, ""}',
      "apps/pleat/a.cpp": 'add_option("--cut-off", x);'},
     {"src/pleat/rmsd/parameters.cpp": '{"cut-off", &p.cut_off, ""}',
      "apps/pleat/a.cpp": 'add_option("--cut-off-more", x);'}),
    ("options", "parameters that the lint cannot read",
     {"src/pleat/rmsd/parameters.cpp": "nothing"},
     {"src/pleat/rmsd/parameters.cpp": '{.name = "cut-off", .target = &p.cut_off}'}),
    ("loops", "an engine that asks whether to stop",
     {"src/pleat/rmsd/a.cpp": "if (context.cancelled()) return;\n"},
     {"src/pleat/rmsd/a.cpp": "// context.cancelled()\nthrow_if_cancelled(context, stage);\n",
      "src/pleat/core/a.cpp": "if (context.cancelled()) return;\n",
      "src/pleat/rmsd/tests/a.cpp": "context.update(stage, 1, 2);\n"}),
    ("loops", "an engine that reports progress itself",
     {"src/pleat/rmsd/a.cpp": "state.context_.update(stage, 1, 2);\n"},
     {"src/pleat/rmsd/a.cpp": "hash.update(bytes);\n"}),
    ("loops", "a progress of any name", {"apps/pleat/a.cpp": 'shown->update("read", 1, 2);\n'},
     {"apps/pleat/a.cpp": 'object.update(Json{"read"});\n'}),
    ("loops", "an engine that exchanges messages",
     {"src/pleat/rmsd/a.cpp": "context.comm->gather(all, 0);\n"},
     {"src/pleat/rmsd/a.cpp": "all_gather_rows(context, rows);\n"}),
    ("loops", "a command that exchanges messages",
     {"apps/pleat/a.cpp": "ranks.comm().raise(x);\n"}, {"apps/pleat/a.cpp": "context.comm = &ranks.comm();\n"}),
    ("names", "an unclear word in an identifier",
     {"src/pleat/rmsd/a.h": "constexpr int kMostRounds = 3;\n"},
     {"src/pleat/rmsd/a.h": "constexpr int kMaxRounds = 3; // most\nvoid least_squares_almost();\n"}),
    ("names", "an unclear word in a test", {"src/pleat/rmsd/tests/a.cpp": "int least_width = 3;\n"},
     {"src/pleat/rmsd/tests/a.cpp": 'std::string min_width = "least";\n'}),
    ("names", "a verb with several meanings",
     {"apps/pleat/a.cpp": "void settle_device();\n"}, {"apps/pleat/a.cpp": "void choose_device();\n"}),
    ("names", "a file name that says nothing",
     {"src/pleat/rmsd/needs.h": ""}, {"src/pleat/rmsd/memory_estimate.h": "", "src/a/least_squares.h": ""}),
    ("names", "NaN for a value that is not set",
     {"src/pleat/rmsd/rmsd.h":
      "struct Parameters {\n    double cutoff = std::numeric_limits<double>::quiet_NaN();\n};\n"},
     {"src/pleat/rmsd/rmsd.h": "struct Parameters {\n    std::optional<double> cutoff;\n};\n"
                               "double mean = std::numeric_limits<double>::quiet_NaN();\n"}),
    ("names", "-1 for a number that is not set",
     {"apps/pleat/a.h": "struct RunOptions {\n    std::int64_t threads = -1;\n};\n"},
     {"apps/pleat/a.h": "struct RunOptions {\n    int threads = 1;\n};\nint at = -1;\n"}),
    ("names", "a parameter compared with a text",
     {"src/pleat/rmsd/rmsd.h": 'struct Parameters {\n    std::string file, metric = "tm", other;\n};\n',
      "src/pleat/rmsd/a.cpp": 'if (parameters.metric == "tm") return;\n'},
     {"src/pleat/rmsd/rmsd.h": "struct Parameters {\n    std::string file;\n    Metric metric;\n};\n",
      "src/pleat/rmsd/a.cpp": 'if (p.file == "-" || metric == Metric::tm || name == "a") return;\n'}),
    ("names", "a text compared with a parameter",
     {"src/pleat/rmsd/rmsd.h": "struct ReadOptions { std::string format; };\n",
      "src/pleat/rmsd/a.cpp": 'bool b = "a3m" != options.format;\n'},
     {"src/pleat/rmsd/rmsd.h": "struct ReadOptions { Format format; };\n"}),
]


class EveryLintCanFail(unittest.TestCase):
    def complaints(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            module = importlib.import_module(check)
            return module.check(root, project_files(root))

    def test_cases(self):
        for check, wrong, bad, repaired in CASES:
            with self.subTest(check=check, wrong=wrong):
                told = self.complaints(check, bad)
                self.assertTrue(told, "the bad files passed")
                self.assertRegex(told[0], r"^[\w./]+:\d+: expected ")
                self.assertEqual(self.complaints(check, repaired), [])

    def test_each_check_has_a_case(self):
        self.assertEqual(set(CHECKS), {case[0] for case in CASES})


if __name__ == "__main__":
    unittest.main()
