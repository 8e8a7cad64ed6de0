"""``python -m theodolite``, the same as the command ``theodolite``."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line; Ctrl-C is clean from here to the end of the interpreter."""
    sys.unraisablehook = _not_lost
    try:
        from theodolite.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # What is left is the interpreter's own end, which a late Ctrl-C must not disturb.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _not_lost(dropped: Any) -> None:
    """Send Ctrl-C again where it hit a callback, out of which Python lets no exception."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    from threading import Timer

    again = Timer(0.01, signal.raise_signal, [signal.SIGINT])
    again.daemon = True
    again.start()


if __name__ == "__main__":
    main()
