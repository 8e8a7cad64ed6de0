"""``theodolite``: the verbs together, and what happens when one fails.

Exit codes: 0 done, 1 done but the result is bad, 2 wrong usage or input, 3 a bug in Theodolite,
130 interrupted by Ctrl-C, 141 the reader of the output is gone.

Nothing heavy is imported before ``run``, so that Ctrl-C is caught from the first moment on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer


class Code(IntEnum):
    """What the shell is told. The last two are 128 plus the number of the signal, as usual."""

    DONE = 0
    BAD_RESULT = 1
    WRONG_INPUT = 2
    DEFECT = 3
    INTERRUPTED = 130
    NOBODY_READS = 141


#: Why output cannot be written, other than that nobody reads it.
_NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


#: The verbs in the order of the help, each in a file of its own name; the last three are groups.
VERBS = (
    *("robots", "new", "check", "identifiable", "design", "plan", "sensitivity", "generate"),
    *("identify", "validate", "diagnose", "lens", "board", "compensate", "export", "compare"),
    *("study", "history"),
    *("report", "reproduce", "demo", "app", "iso9283", "fleet", "dynamics"),
)


def application(only: str | None = None) -> typer.Typer:
    """All verbs, or only the one that is asked for: most of the start-up goes into the others."""
    from importlib import import_module

    import typer

    import theodolite
    from theodolite.cli.help import Command
    from theodolite.kernels import switch

    app = typer.Typer(
        name="theodolite",
        help="Robot calibration: which parameters exist, what they are, and how sure we are.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in (only,) if only in VERBS else VERBS:
        verb = import_module(f"theodolite.cli.{name}")
        if hasattr(verb, "app"):
            app.add_typer(verb.app, name=verb.NAME)
        else:
            app.command(verb.NAME, cls=Command)(verb.command)

    def version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"theodolite {theodolite.__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=version, is_eager=True, help="Show the version and exit."
        ),
        threads: int | None = typer.Option(
            None,
            "--threads",
            metavar="N",
            min=1,
            help="Use this many threads for a large job; by default all cores.",
        ),
    ) -> None:
        """Robot calibration: which parameters exist, what they are, and how sure we are."""
        switch.use_threads(threads)
        if sys.stderr is not None and sys.stderr.isatty():
            switch.announce_with(_say)

    return app


def run() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character shows a question mark.
            stream.reconfigure(errors="replace")
    handle = _output()
    code = _flushed(_outcome())
    if code == Code.INTERRUPTED:
        _say("interrupted")
    elif code in (Code.BAD_RESULT, Code.NOBODY_READS) and _nobody_reads(handle):
        # Libraries leave with 1 where the output is closed; the result may be good.
        code = Code.NOBODY_READS
    if handle is not None:
        os.close(handle)
    sys.exit(int(code))


def _outcome() -> int:
    """Run a verb; say in one line what went wrong."""
    from theodolite.errors import TheodoliteError, bounded, printable

    try:
        verbs = application(only=sys.argv[1] if len(sys.argv) > 1 else None)
        return verbs(prog_name="theodolite", standalone_mode=False) or Code.DONE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except KeyboardInterrupt:
        return Code.INTERRUPTED
    except TheodoliteError as error:
        # Most errors are short by themselves; none is longer than a paragraph.
        _say(f"error: {bounded(printable(str(error)), 600)}")
        return Code.WRONG_INPUT
    except MemoryError:
        _say("error: there is not enough memory for this")
        return Code.WRONG_INPUT
    except Exception as error:
        return _refused(error)


def _refused(error: Exception) -> int:
    """Wrong usage, output that cannot be written, or a defect."""
    if type(error).__name__ == "Abort":
        return Code.INTERRUPTED
    if hasattr(error, "format_message"):
        _show_usage(error)
        return Code.WRONG_INPUT
    if isinstance(error, OSError) and error.filename is None:
        if error.errno == errno.EPIPE:
            return Code.NOBODY_READS
        if error.errno in _NO_OUTPUT:
            return _cannot_write(error)
    _report(error)
    return Code.DEFECT


def _show_usage(error: Any) -> None:
    """What is wrong with the command line, as typer says it, but short and without escapes."""
    from theodolite.errors import LONGEST, bounded, printable

    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    context = getattr(error, "ctx", None)
    if context is not None:
        _say(context.get_usage())
        _say(f"Try '{context.command_path} --help' for help.\n")
    _say(f"Error: {bounded(printable(error.format_message()), LONGEST)}")


def _report(error: Exception) -> None:
    """Keep the traceback of a defect in a file and say where."""
    import platform
    import tempfile
    import traceback

    import theodolite
    from theodolite.errors import bounded, printable

    place = "it could not be saved"
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="theodolite-", suffix="-traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"theodolite {theodolite.__version__}, Python {sys.version}\n")
            stream.write(f"{platform.platform()}\n{sys.argv!r}\n\n")
            stream.writelines(traceback.format_exception(error))
        place = name
    what = bounded(printable(f"{type(error).__name__}: {error}"), 200)
    _say(f"error: this is a bug in Theodolite, please report it: {what}. Traceback: {place}")


def _output() -> int | None:
    """A second handle of standard output, which shows at the end whether somebody still reads."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.dup(sys.stdout.fileno())
    return None


def _nobody_reads(handle: int | None) -> bool:
    """Has the program at the other end of a pipe ended?"""
    import select

    if handle is None or not hasattr(select, "poll"):
        return False
    watched = select.poll()
    # Errors are reported whatever one asks for.
    watched.register(handle, 0)
    return bool(watched.poll(0))


def _flushed(code: int) -> int:
    """The code, once all output is out; else the reason why it is not."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = Code.NOBODY_READS
    except (OSError, ValueError) as error:
        code = _cannot_write(error)
    else:
        return code
    # What is left in the buffer goes nowhere, without another error when Python ends.
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    return code


def _cannot_write(error: Exception) -> int:
    _say(f"error: standard output cannot be written: {getattr(error, 'strerror', error)}")
    return Code.WRONG_INPUT


def _say(line: str) -> None:
    """One line for people, if there is anywhere to say it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
