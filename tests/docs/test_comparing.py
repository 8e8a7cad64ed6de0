"""What counts as the same output: words, counts, digits, omissions."""

from __future__ import annotations

from pathlib import Path

import pytest

import comparing
import pages
from commands import run_page, update


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        ("rms 0.0283 mm", "rms 0.0283 mm", True),
        ("rms 0.0283 mm", "rms 0.0284 mm", True),
        ("rms 0.0283 mm", "rms 0.0285 mm", False),
        ("rms 0.0283 mm", "rms -0.0283 mm", False),
        ("rms 0.0283 mm", "max 0.0283 mm", False),
        ("27 parameters", "28 parameters", False),
        ("27 parameters", "27.0 parameters", False),
        ("theta2 and r3", "theta3 and r3", False),
        ("gap 1.5e+14", "gap 9.0e+13", True),
        ("gap 1.5e+14", "gap 9.0e+11", False),
        ("gap 1.5e+14", "gap 1.5e-14", False),
        ("1.5e+03", "1.6e+03", True),
        ("1.5e+03", "1.7e+03", False),
        ("│ d3 │  1.25 │", "│ d3     │ 1.25 │", True),
        ("┏━━━┳━━┓", "┏━━━━━┳━━━┓", True),
        ("┏━━━┳━━┓", "┏━━━━━┓", False),
        ("wrote a.csv: ...", "wrote a.csv: 80 configurations", True),
        ("wrote a.csv: ...", "wrote b.csv: 80 configurations", False),
        ("a b", "a b c", False),
    ],
)
def test_lines(shown: str, real: str, same: bool) -> None:
    assert comparing.same_line(shown, real) is same


REAL = ["one", "two 1.25", "three", "four"]


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        (["one", "two 1.25", "three", "four"], True),
        (["one", "two 1.26", "three", "four"], True),
        (["one", "..."], True),
        (["...", "four"], True),
        (["one", "...", "three", "..."], True),
        (["..."], True),
        (["...", "three", "...", "one", "..."], False),
        (["two 1.25", "..."], False),
        (["...", "three"], False),
        (["one", "two 1.25", "three"], False),
        ([], False),
    ],
)
def test_omissions(shown: list[str], same: bool) -> None:
    assert comparing.agrees(shown, REAL) is same


def test_updates_keep_their_omissions() -> None:
    shown = ["one", "...", "two ...", "..."]
    assert comparing.updated(shown, ["one", "new", "two 2.5", "x"]) == shown
    assert comparing.updated(["...", "two 9.99", "..."], REAL) == ["...", "two 1.25", "..."]
    assert comparing.updated(["...", "gone", "..."], REAL) == REAL
    assert comparing.updated(["old"], REAL) == REAL
    assert comparing.filled(["one", "two ...", "..."], REAL) == ["one", "two 1.25", "..."]


PAGE = """
```text data.txt
1.5
```

```console
$ cat data.txt
1.2
$ cat nothing.txt \\
      2>&1
cat: nothing.txt: No such file or directory
[exit 1]
$ theodolite robots --wrong
...
[exit 2]
```

```python
x = 1
print(x + 1)
```

```text output
3
```

```console skip: it is not there
$ no-such-program
```
"""


def test_pages_run_in_their_order(tmp_path: Path) -> None:
    run = run_page(PAGE, tmp_path, tmp_path)
    assert [difference.command for difference in run.differences] == ["cat data.txt", "python"]
    assert run.names["x"] == 1


def test_wrong_exit_codes_are_told(tmp_path: Path) -> None:
    (found,) = run_page("```console\n$ false\n```\n", tmp_path, tmp_path).differences
    assert "exit code 1, not 0" in str(found)


def test_update_writes_the_real_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    update(page)
    changed = page.read_text()
    assert "$ cat data.txt\n1.5\n$ cat nothing.txt" in changed
    assert "```text output\n2\n```" in changed
    assert "[exit 1]\n" in changed
    assert pages.blocks(changed)[-1].skipped == "it is not there"
