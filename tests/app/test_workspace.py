"""The folder of the application: what is in it, and that nothing outside can be reached."""

from __future__ import annotations

import pytest

from theodolite import robots
from theodolite.app.forms import parts_of
from theodolite.app.workspace import LARGEST_UPLOAD, Kind, Workspace, kind_of
from theodolite.errors import InputError


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    return Workspace(folder)


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.txt", "a/../../secret.txt", "/etc/passwd", "..", "a/..", "~/../../x\0", ""),
        *("..\\secret.txt", "C:\\x", "a\nb", "\x1b[31m", "x" * 3000),
    ],
)
def test_nothing_outside_is_reached(workspace, name):
    with pytest.raises(InputError):
        workspace.path(name)


def test_encoded_names_are_just_names(workspace):
    # What a browser sends has been decoded once; nothing decodes it again.
    assert workspace.path("%2e%2e%2fsecret.txt").parent == workspace.root
    assert not workspace.path("%2e%2e%2fsecret.txt").exists()


def test_links_must_not_lead_outside(workspace, tmp_path):
    (workspace.root / "out").symlink_to(tmp_path / "secret.txt")
    (workspace.root / "up").symlink_to(tmp_path)
    for name in ("out", "up/secret.txt", "up/work/../secret.txt"):
        with pytest.raises(InputError):
            workspace.path(name)
    (workspace.root / "in.csv").write_text("x")
    (workspace.root / "also.csv").symlink_to(workspace.root / "in.csv")
    assert workspace.path("also.csv").read_text() == "x"
    assert workspace.files() == ["also.csv", "in.csv"]


@pytest.mark.parametrize(
    "values",
    [
        {"lens": ["/etc/passwd"]},
        {"lens": "/etc/passwd"},
        {"sources": ["position:../secret.txt"]},
        {"sources": ["position:out", "plane:b.csv"]},
        {"drive_gains": "out"},
        {"x": "a\\..\\..\\secret.txt"},
    ],
)
def test_options_that_may_be_files_are_looked_at(workspace, tmp_path, values):
    (workspace.root / "out").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(InputError):
        workspace.check_parts(parts_of(values))
    workspace.check_parts(parts_of({"board": "charuco:8x6:30:22", "terms": "auto", "n": None}))


def test_names_that_cannot_be_opened_are_not_offered(workspace):
    (workspace.root / "run 10:30.csv").write_text("x")
    assert workspace.files() == []
    assert workspace.stamp("run 10:30.csv") is None


@pytest.mark.parametrize("name", [".hidden", "-option", "a/.b", " x", "x ", "y" * 300, "a/b/-c"])
def test_names_of_new_files(workspace, name):
    with pytest.raises(InputError):
        workspace.new(name)
    assert workspace.new("cell/robot 7.toml").name == "robot 7.toml"


def test_uploads(workspace, monkeypatch):
    assert workspace.upload("data.csv", b"1").name == "data.csv"
    assert workspace.upload("data.csv", b"2").name == "data-2.csv"
    assert (workspace.root / "data.csv").read_bytes() == b"1"
    for name in ("../x.csv", "a/b.csv", ".bashrc", "-x", "<img src=x>.csv", "a\0b"):
        with pytest.raises(InputError):
            workspace.upload(name, b"3")
    monkeypatch.setattr("theodolite.app.workspace.LARGEST_UPLOAD", 3)
    with pytest.raises(InputError, match="larger than"):
        workspace.upload("big.csv", b"1234")
    assert LARGEST_UPLOAD == 200 * 1024**2
    assert workspace.files() == ["data-2.csv", "data.csv"]


def test_files_are_listed_by_what_they_hold(workspace):
    (workspace.root / "cell").mkdir()
    (workspace.root / "cell" / "puma.toml").write_text(robots.text("puma560"))
    (workspace.root / "other.toml").write_text("a = 1")
    (workspace.root / "arm.urdf").write_text("<?xml version='1.0'?><robot name='x'></robot>")
    (workspace.root / "data.csv").write_text("q1_deg\n1\n")
    (workspace.root / "notes.json").write_text("{}")
    assert workspace.files(Kind.ROBOT) == ["arm.urdf", "cell/puma.toml"]
    assert workspace.files(Kind.DATA) == ["data.csv"]
    assert kind_of(workspace.root / "notes.json") is Kind.OTHER
    assert workspace.folders() == ["cell"]


def test_what_is_kept_survives_damage(workspace):
    workspace.keep({"a": 1}, "forms", "x.json")
    assert workspace.recall("forms", "x.json") == {"a": 1}
    workspace.own("forms", "x.json").write_text("{damaged")
    assert workspace.recall("forms", "x.json") == {}
    assert workspace.files() == []


def test_a_folder_is_needed(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nothing", tmp_path / "file"):
        with pytest.raises(InputError):
            Workspace(path)
