"""Files are there whole or not at all, and nothing is overwritten unasked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from theodolite.errors import InputError
from theodolite.io import writing as module
from theodolite.io.reading import read_text
from theodolite.io.writing import check_outputs, check_writable, write_bytes, write_text, writing

#: Waits for a line on its input, so that all of them start together, then writes its number.
WRITER = """
import sys
from pathlib import Path
from theodolite.errors import InputError
from theodolite.io.writing import write_text
sys.stdout.write("ready\\n"); sys.stdout.flush()
sys.stdin.readline()
try:
    write_text(Path(sys.argv[1]), sys.argv[2] * 200_000, force=sys.argv[3] == "force")
except InputError as error:
    sys.exit("exists already" not in str(error) and str(error) or 7)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def race(path: Path, count: int, mode: str) -> list[int]:
    """The exit codes of many writers of one file that start at the same moment."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(number), mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    codes = []
    for writer in writers:
        writer.communicate()
        codes.append(writer.returncode)
    return codes


def test_of_many_writers_exactly_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    codes = race(path, 8, "exclusive")
    assert sorted(codes) == [0] + [7] * 7
    assert path.read_text() == str(codes.index(0)) * 200_000
    assert names(tmp_path) == ["out.csv"]


def test_forced_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    assert race(path, 6, "force") == [0] * 6
    content = path.read_text()
    assert len(content) == 200_000
    assert len(set(content)) == 1
    assert names(tmp_path) == ["out.csv"]


def test_without_hard_links_a_name_is_still_taken_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write_text(tmp_path / "out.csv", "one")
    monkeypatch.setattr(module, "check_writable", lambda *_, **__: None)
    with pytest.raises(InputError, match="exists already"):
        write_text(tmp_path / "out.csv", "two")
    assert (tmp_path / "out.csv").read_text() == "one"
    assert names(tmp_path) == ["out.csv"]


def test_content_and_name_are_brought_to_the_disk_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        is_folder = Path(f"/proc/self/fd/{handle}").resolve() == tmp_path.resolve()
        synced.append(("folder" if is_folder else "file", (tmp_path / "out.csv").exists()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "out.csv", "one")
    assert synced == [("file", False), ("folder", True)]


def test_part_files_of_dead_writers_are_removed_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    dead = tmp_path / ".theodolite-0123.part"
    dead.write_text("half")
    with writing(tmp_path / "slow.csv") as living:
        write_text(tmp_path / "quick.csv", "quick")
        assert living.exists()
        assert not dead.exists()
        living.write_text("slow")
    assert names(tmp_path) == ["quick.csv", "slow.csv"]
    assert (tmp_path / "slow.csv").read_text() == "slow"


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("old")
    for trouble in (KeyboardInterrupt, ZeroDivisionError, OSError(28, "No space left on device")):
        expected = InputError if isinstance(trouble, OSError) else trouble
        with pytest.raises(expected), writing(tmp_path / "old.csv", force=True) as part:
            part.write_text("half")
            raise trouble
    assert names(tmp_path) == ["old.csv"]
    assert (tmp_path / "old.csv").read_text() == "old"


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    code = f"""
import resource, signal
from pathlib import Path
from theodolite.errors import InputError
from theodolite.io.writing import write_bytes
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_bytes(Path({str(tmp_path / "big.bin")!r}), bytes(10_000))
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "big.bin: cannot be written: File too large" in done.stdout
    assert names(tmp_path) == []


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "new.csv", "new")
    finally:
        os.umask(mask)
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("new.csv")
    with pytest.raises(InputError, match="exists already"):
        write_text(tmp_path / "link.csv", "x")
    write_text(tmp_path / "link.csv", "through", force=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "new.csv").read_text() == "through"
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("force", [False, True])
def test_names_that_cannot_be_written_are_refused(tmp_path: Path, force: bool) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    for name in ("loop", "loop/x", "n" * 300, "a/" * 3000, "folder", "no/where", "/dev/full", "\0"):
        with pytest.raises(InputError) as error:
            check_outputs([tmp_path / name], force=force)
        assert len(str(error.value)) < 400
        with pytest.raises(InputError):
            write_bytes(tmp_path / name, b"x", force=force)
        with pytest.raises(InputError):
            read_text(tmp_path / name)
    assert names(tmp_path) == ["folder", "loop"]


def test_a_name_of_full_length_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_text(path, "x")
    assert read_text(path) == "x"


def test_outputs_are_not_inputs(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("in")
    with pytest.raises(InputError, match="already an input or another output"):
        check_outputs([tmp_path / "in.csv"], force=True, inputs=[tmp_path / "in.csv"])
    with pytest.raises(InputError, match="already an input or another output"):
        check_outputs([tmp_path / "out", None, tmp_path / "." / "out"], force=True)
    check_writable(tmp_path / "out", force=False)


def test_text_that_no_file_can_hold_is_written_with_question_marks(tmp_path: Path) -> None:
    write_text(tmp_path / "odd.txt", "robot \udcff")
    assert read_text(tmp_path / "odd.txt") == "robot ?"
