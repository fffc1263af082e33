# Errors: what pleat raises on purpose, with the texts of the program.
"""Exceptions of pleat. Each is also the kind of error that Python has for it."""


class Error(Exception):
    """Base of all errors that pleat raises on purpose. The text says what was expected and found."""


class UsageError(Error, ValueError):
    """The call asks for something that cannot be: an option out of range, options that exclude
    each other. The text names the keyword: `cutoff: expected ...`."""


class InputError(Error, ValueError):
    """A file or an array is not what it should be: `family.a3m:17: expected ..., found ...`."""


class DeviceError(Error, RuntimeError):
    """The device that was named is absent or failed, or memory does not suffice."""


class OutputError(Error, OSError):
    """A result could not be written."""
