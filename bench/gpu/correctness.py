# The CUDA tests of every test program, and what compute-sanitizer says of them.
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

CUDA = "*Cuda*:*cuda*"
TESTS = ("test_core", "test_weights", "test_couplings", "test_mutual_information", "test_rmsd",
         "test_saxs")
# The memory tests count what is free, which a checker changes; tests against the exact null take 10,000
# shuffles each, and a session 100,000 moves. racecheck makes programs far slower: it leaves out tests that do the same over many
# shapes and steps. Those that are left evaluate couplings each way once and do the vector work on shapes
# that are no multiple of a tile, and count tables of columns both short and too long for shared memory
# (CountsOneOddShape, CountsOneLongShape).
UNCHECKED = ("*Memory*:*CertifiedGap*:*ExactNull*:*LikeTheReference*:*LargeShapes*:*EveryFormat*:"
             "*ClustersByTheDefinition*:*HundredThousand*")
CHECKS = {"memcheck": f"{CUDA}-{UNCHECKED}",
          "racecheck": f"{CUDA}-{UNCHECKED}:*AgreesWithTheReference*:*AgreesCoarsely*:*SameBits*:*IsShared*:Fit.*:"
                       "*InSteps*:*LargeAlignment*:*SameSums*:*LongColumns*:*SmallestShapes*:"
                       "*OraclesProfiles*:*TakesWhat*"}
CHECKED = ("test_weights", "test_couplings", "test_mutual_information", "test_rmsd", "test_saxs")
TEST_LIMIT, CHECK_LIMIT = 200.0, 150.0


def counted(text):
    """Numbers and names of passed, skipped and failed tests in GoogleTest's text."""
    def names(word):
        found = re.findall(rf"^\[ +{word} +\] ([A-Za-z]\w*[./][\w./]+)", text, re.MULTILINE)
        return list(dict.fromkeys(found))
    passed, skipped, failed = names("OK"), names("SKIPPED"), names("FAILED")
    return {"passed": len(passed), "skipped": len(skipped), "failed": len(failed),
            "names_passed": passed, "names_skipped": skipped, "names_failed": failed}


def tests(session):
    """Every CUDA test of every program."""
    bad = 0
    for program in TESTS:
        done = session.call([session.program(program), f"--gtest_filter={CUDA}"], TEST_LIMIT)
        found = counted(done.text)
        session.record.add("tests", **{program: {"status": done.status, "seconds": done.seconds,
                                                 **found}})
        bad += found["skipped"] + found["failed"]
        # Crashed, stopped, or nothing there: no name tells of it.
        bad += int(found["failed"] == 0 and (done.status != 0 or found["passed"] == 0))
        print(f"{program}: {found['passed']} passed, {found['skipped']} skipped, "
              f"{found['failed']} failed, status {done.status}", flush=True)
        if done.status != 0:
            print(done.text[-12000:], flush=True)
    session.record.bar("CUDA tests that failed or were skipped", bad)


def sanitizers(session):
    """compute-sanitizer's tools over the programs that launch kernels, at the same time."""
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        session.record.add("sanitizers", absent="compute-sanitizer is not on PATH")
        print("compute-sanitizer: absent", flush=True)
        return

    def check(what):
        name, program = what
        return session.call([tool, "--tool", name, "--error-exitcode", "1",
                             session.program(program), f"--gtest_filter={CHECKS[name]}"], CHECK_LIMIT)
    pairs = [(name, program) for name in CHECKS for program in CHECKED]
    with ThreadPoolExecutor(len(pairs)) as pool:
        ended = dict(zip(pairs, pool.map(check, pairs)))
    for name in CHECKS:
        unclean = 0
        for program in CHECKED:
            done = ended[name, program]
            found = counted(done.text)
            summary = re.findall(r"=+ ((?:\w+ )?SUMMARY: .*)", done.text)
            clean = done.status == 0 and found["passed"] > 0 and found["skipped"] == 0
            unclean += not clean
            session.record.add("sanitizers", **{f"{name} {program}": {
                "status": done.status, "seconds": done.seconds, "summary": summary, **found}})
            print(f"{name} {program}: status {done.status}, {found['passed']} passed, "
                  f"{done.seconds:.0f} s, {' '.join(summary)}", flush=True)
            if not clean:
                print(done.text[-6000:], flush=True)
        session.record.bar(f"{name}: programs not clean", unclean)
