"""A process that has everything loaded and waits for a command line, so that verbs start at once.

It is told one command on standard input, runs it as the command line would, and ends.
"""

from __future__ import annotations

import json
import os
import sys

#: How it ends where it cannot even start: as the command line does for its own defects.
DEFECT = 3


def main() -> None:
    """Load, wait, run."""
    try:
        import theodolite.api
        from theodolite.__main__ import main as run
        from theodolite.cli.main import application

        del theodolite
        application()
        line = sys.stdin.readline()
        if not line:
            # Whoever started it has ended.
            return
        asked = json.loads(line)
    except Exception as error:
        sys.stderr.write(f"error: {type(error).__name__}: {error}\n")
        sys.exit(DEFECT)
    out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(out, sys.stdout.fileno())
    os.close(out)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    sys.argv = ["theodolite", *asked["command"]]
    run()


if __name__ == "__main__":
    main()
