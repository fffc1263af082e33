# Progress: a bar on a terminal or in a notebook, for progress=True.
import contextlib
import sys
import time

WIDTH = 30


class Bar:
    """Draws the stage that is in progress: on standard error, or in a notebook below the cell."""

    def __init__(self):
        self._shown, self._stage, self._started = None, None, 0.0

    def __call__(self, stage, done, total, note):
        if stage != self._stage:
            self.close()
            self._stage, self._started = stage, time.monotonic()
        share = min(1.0, done / total) if total > 0 else 0.0
        filled = round(share * WIDTH)
        seconds = time.monotonic() - self._started
        self._draw(f"{stage} [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}, {seconds:.0f} s"
                   + (f", {note}" if note else ""))

    def _draw(self, text):
        display = _notebook()
        if display is None:
            # Blanks hide the rest of a longer line.
            before = len(self._shown) if self._shown else 0
            sys.stderr.write("\r" + text.ljust(before))
            sys.stderr.flush()
            self._shown = text
        elif self._shown is None:
            self._shown = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._shown.update({"text/plain": text}, raw=True)

    def close(self):
        """Ends the line of the bar."""
        if isinstance(self._shown, str):
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._shown = None


def _notebook():
    """IPython's display in a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    return ipython.display.display


@contextlib.contextmanager
def heard(progress):
    """What `progress` of a call means to the library: True is a bar."""
    bar = Bar() if progress is True else None
    try:
        yield bar or (None if progress is False else progress)
    finally:
        if bar is not None:
            bar.close()
