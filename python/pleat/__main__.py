# The program: `python -m pleat couplings family.a3m -o run`, and the command `pleat` that wheels install.
import os
import signal
import sys

from . import _pleat


def main():
    # As in the program, a signal ends the process; it does not become an exception of Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_pleat.run_program(["pleat", *map(os.fsencode, sys.argv[1:])]))


if __name__ == "__main__":
    main()
