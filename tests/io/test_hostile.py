"""Files made to hang or to fill the memory are refused at once, with one short message."""

from __future__ import annotations

from pathlib import Path

import pytest

import theodolite as th
from tests.io.test_robot_file import TEXT
from tests.io.test_urdf import URDF
from theodolite.errors import InputError
from theodolite.io.mapping_file import read_mapping
from theodolite.io.priorities import read_priorities
from theodolite.io.reading import read_text

ROBOTS = {
    "huge hex": TEXT.replace("d = 100", "d = 0x" + "f" * 6000),
    "huge integer": TEXT.replace("d = 100", "d = " + "9" * 400),
    "more digits than Python reads": TEXT.replace("d = 100", "d = " + "9" * 5000),
    "huge sigma": TEXT.replace("sigma = 0", "sigma = 0x" + "f" * 6000),
    "huge priority": TEXT + "priorities = { d1 = 0x" + "f" * 6000 + " }",
    "huge matrix": TEXT + "Com = [[0x" + "f" * 6000 + ", 0], [0, 1]]",
    "a number as matrix": TEXT + "Com = 5",
    "a list as matrix": TEXT + "Com = [1, 2]",
    "a ragged matrix": TEXT + "Com = [[1, 2], [1]]",
    "deep": TEXT + "priorities = " + "[" * 5000 + "]" * 5000,
    "a date": TEXT.replace("d = 100", "d = 1979-05-27"),
    "a name with escapes": TEXT.replace('"two"', r'"\u001b]0;x\u0007"'),
    "a list as name": TEXT.replace('"two"', "[1]"),
    "a line behind a target": TEXT + 'targets = [ { name = "p1\\n", xyz = [1, 2, 3] } ]',
    "many frames": TEXT.replace("frames = [", "frames = [" + "{ sigma = 2 }," * 5000),
    "a long way": TEXT.replace("d = 100", "d = 1e11"),
    "many turns": TEXT.replace("Qmax = [180,", "Qmax = [1e9,"),
    "a long product": TEXT.replace(
        "{ sigma = 0, alpha = 90, d = 100 }",
        '{ convention = "product", sigma = 0, product = "' + "Tx(1) " * 100_000 + '" }',
    ),
    "much text": TEXT + "#" * (1 << 23),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.toml"
    path.write_text(ROBOTS[name])
    with pytest.raises(InputError, match=r"robot\.toml") as error:
        th.read_robot(path)
    assert len(str(error.value)) <= 420
    assert str(error.value).isprintable()


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
URDFS = {
    "entities": f'<!DOCTYPE robot [<!ENTITY l0 "ha">{LAUGHS}]>'
    + URDF.replace('name="odd"', 'name="&l9;"'),
    "files": '<!DOCTYPE robot [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    + URDF.replace("</robot>", "&e;</robot>").replace('type="revolute"', 'type="x"'),
    "many joints": URDF.replace(
        "</robot>",
        "".join(
            f'<joint name="k{n}" type="fixed"><parent link="m{n}"/><child link="m{n + 1}"/></joint>'
            for n in range(5000)
        )
        + "</robot>",
    ),
    "deep": "<robot>" + "<a>" * 100_000,
    "far away": URDF.replace('xyz="0.1 0.2 0.3"', 'xyz="1e8 0.2 0.3"'),
    "many digits": URDF.replace('xyz="0.1 0.2 0.3"', f'xyz="{"9" * 5000} 0.2 0.3"'),
    "no numbers": URDF.replace('xyz="0.1 0.2 0.3"', f'xyz="{"x" * 5000}"'),
}


@pytest.mark.parametrize("name", URDFS)
def test_urdf(name: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(URDFS[name])
    with pytest.raises(InputError, match=r"robot\.urdf") as error:
        th.read_urdf(path)
    assert len(str(error.value)) <= 420
    assert "root:" not in str(error.value)


TABLES = {
    "blanks in a name": "a" + " " * 500_000 + "b,c\n1,2\n",
    "brackets in names": "a [ " * 100_000 + "\n1 2\n",
    "underscores in a name": "_".join("x" * 200_000) + ",b\n1,2\n",
    "digits in a name": "q" + "1" * 500_000 + "x,b\n1,2\n",
    "one long line": "1," * 3_000_000,
    "quotation marks": '"' * 300_001 + "\n1,2\n",
    "many columns": ",".join(f"c{n}" for n in range(20_000)) + "\n" + "1," * 19_999 + "1\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(TABLES[name])
    for read in (lambda: th.read_measurements([path], th.robots.scara()), lambda: read_dh(path)):
        with pytest.raises(InputError, match=r"data\.csv") as error:
            read()
        assert len(str(error.value)) <= 420


def read_dh(path: Path) -> th.Robot:
    return th.read_dh_table(path)


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("1 2 " + "9" * 5000, "9" * 100_000, "1 2 3 4 5 6\n" * 10_000):
        path.write_text(text)
        with pytest.raises(InputError) as error:
            read_priorities(th.robots.scara(), path)
        assert len(str(error.value)) <= 420
    for text in ("[" * 100_000, "format = 0x" + "f" * 6000, "a = " + "9" * 5000):
        path.write_text(text)
        with pytest.raises(InputError) as error:
            read_mapping(path)
        assert len(str(error.value)) <= 420


def test_text_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"\xff\xfe\x00\xd8", b"\xef\xbb\xbf\xff", b"a\xff", b"\x00\x00\xfe\xff\xff"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not text"):
            read_text(path)
