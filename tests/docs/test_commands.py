"""Every command in README and docs is run, and prints what is shown. Tutorials: `test_site`."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pages
import verbs
from commands import PROJECT, run_page

PAGES = {str(path.relative_to(PROJECT)): path for path in pages.all_pages(PROJECT)}
#: The rest is run when the site is built.
RUN = [
    name
    for name, path in PAGES.items()
    if not name.startswith("docs/tutorials/")
    and any(block.runs for block in pages.blocks(path.read_text(encoding="utf-8")))
]
SKIPPED = {
    f"{name}:{block.line}": block
    for name, path in PAGES.items()
    for block in pages.blocks(path.read_text(encoding="utf-8"))
    if block.skipped is not None and block.language == "console"
}
VERBS = verbs.verbs()


def check_python(names: dict[str, Any], folder: Path) -> None:
    """What the page on Python says of its own results."""
    assert names["result"].good
    assert names["check"].errors["position"].rms < 1e-4
    written = {"mine.toml", "tracker.csv", "calibrated.toml", "result.json"}
    assert {path.name for path in folder.iterdir()} == written


#: Pages with more to check than what they print.
CHECKS = {"docs/how-to/python.md": check_python}


@pytest.mark.parametrize("name", RUN)
def test_pages_print_what_they_show(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = PAGES[name]
    run = run_page(path.read_text(encoding="utf-8"), tmp_path, path.parent)
    assert not run.differences, "\n".join(map(str, run.differences))
    if name in CHECKS:
        CHECKS[name](run.names, tmp_path)


@pytest.mark.parametrize("place", SKIPPED)
def test_commands_that_cannot_be_run_exist(place: str) -> None:
    """There is a reason, and what they call is there."""
    block = SKIPPED[place]
    assert block.skipped
    missing = [
        file
        for file in re.findall(r"(?:[a-z_]+/)+\w+\.py", block.skipped)
        if not (PROJECT / file).is_file()
    ]
    assert not [*missing, *(c.text for c in block.commands() if not _calls_something(c.text))]


def _calls_something(text: str) -> bool:
    """Is all that a command calls of ours there: verbs, targets, scripts, extras?"""
    program, *words = shlex.split(text, comments=True)
    if program == "theodolite":
        return _exists(text)
    if program == "make":
        targets = re.findall(r"^(\w+):", (PROJECT / "Makefile").read_text(), flags=re.MULTILINE)
        return bool(words) and set(words) <= set(targets)
    if program == "python":
        script = PROJECT / words[0]
        return script.is_file() and all(f'"{word}"' in script.read_text() for word in words[1:])
    if program == "pip":
        project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
        extras = re.fullmatch(r"\.\[([\w,]+)\]", words[-1])
        known = project["project"]["optional-dependencies"]
        return extras is not None and set(extras[1].split(",")) <= set(known)
    # The shell's own, and where the project comes from.
    return program in (".", "git") or re.match(r"[A-Z]+=", program) is not None


@pytest.mark.parametrize("name", PAGES)
def test_no_command_escapes(name: str) -> None:
    """Commands stand in console blocks, where they are run, and nowhere else."""
    text = PAGES[name].read_text(encoding="utf-8")
    lines = pages.outside_blocks(text)
    for block in pages.blocks(text):
        if block.language not in ("console", "python"):
            lines += block.lines
    escaped = [line for line in lines if re.match(r"(\$ |\s{4,}theodolite |theodolite )", line)]
    assert not escaped


@pytest.mark.parametrize("name", PAGES)
def test_commands_in_sentences_exist(name: str) -> None:
    """``theodolite reproduce gautier`` within a sentence: the verb and its options exist."""
    text = "\n".join(pages.outside_blocks(PAGES[name].read_text(encoding="utf-8")))
    wrong = [found for found in re.findall(r"`(theodolite [^`]*)`", text) if not _exists(found)]
    # Options that stand alone belong to some verb.
    known = {option for verb in VERBS.values() for option in _options(verb)}
    alone = re.findall(r"`(--[a-z][a-z0-9-]*)", text)
    assert not [*wrong, *(option for option in alone if option not in known)]


def _exists(text: str) -> bool:
    words = shlex.split(text)[1:]
    if words[:1] == ["--threads"]:
        # An option of all verbs, before the verb.
        words = words[2:]
    if words and words[0] == "VERB":
        return True
    verb = next((verb for n in (2, 1) if (verb := " ".join(words[:n])) in VERBS), "")
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    return verb in VERBS and options <= _options(VERBS[verb])


def _options(verb: Any) -> set[str]:
    found = {name for option in verb.params for name in (*option.opts, *option.secondary_opts)}
    return found | {"--help"}


@pytest.mark.parametrize("name", PAGES)
def test_files_that_are_named_exist(name: str) -> None:
    """Modules and tests that a page names, and the links of README, which is not on the site."""
    text = PAGES[name].read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+\w+\.py)`", text)
    places = (PROJECT, PROJECT / "src" / "theodolite")
    missing = [file for file in named if not any((place / file).is_file() for place in places)]
    if name == "README.md":
        links = re.findall(r"\]\(([^)#]+)", text)
        assert links
        missing += [link for link in links if not (PROJECT / link).is_file()]
    assert not missing


def test_papers_are_cited_in_full() -> None:
    """What code and pages cite as [Name 1999] stands in the list of literature."""
    listed = (PROJECT / "docs" / "reference" / "literature.md").read_text(encoding="utf-8")
    known = {_key(found) for found in re.findall(r"^\[([^\]]+)\]$", listed, flags=re.MULTILINE)}
    cited = set()
    sources = [*PAGES.values(), *(PROJECT / "src").rglob("*.py")]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        cited |= {_key(name) for name in re.findall(r"\[([A-Z][\w&. -]*? ?\d{4})[,:\]]", text)}
    assert len(cited) > 8
    assert cited <= known


def _key(citation: str) -> str:
    """First author and year: ``Khalil & Lemoine 1996`` and ``Khalil1996`` are the same."""
    return re.match(r"[A-Za-z]+", citation)[0] + citation[-4:]
