# Reports what a test run skipped and what took longest: skips.py RESULTS.xml [MAXIMUM OF SKIPS]
import re
import sys
import xml.etree.ElementTree as ElementTree

# Tests of what a machine may lack; all others should run in any clone.
OPTIONAL = re.compile(r"cuda|gpu|browser|report\.built|gromacs|gmx", re.IGNORECASE)
SLOWEST = 10


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(f"{sys.argv[0]}: expected RESULTS.xml and perhaps a number")
    cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    skipped = [case.get("name") for case in cases if case.find("skipped") is not None]
    others = [name for name in skipped if not OPTIONAL.search(name)]
    slowest = sorted(cases, key=lambda case: -float(case.get("time")))[:SLOWEST]
    print(f"{len(cases)} tests, {sum(float(case.get('time')) for case in cases):.0f} s in sum; the slowest: "
          + ", ".join(f"{case.get('name')} {float(case.get('time')):.0f} s" for case in slowest))
    print(f"{len(skipped)} skipped, {len(others)} of them without need of a GPU, browser or gmx: "
          + (", ".join(others) or "none"))
    if len(sys.argv) == 3 and sys.argv[2] and len(others) > int(sys.argv[2]):
        sys.exit(f"expected at most {sys.argv[2]} such tests skipped, found {len(others)}")


if __name__ == "__main__":
    main()
