"""Programs of four controllers: only the numbers of targets change, and they change rightly."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import theodolite as th
from theodolite.compensation.compensate import compensate, compensate_joints
from theodolite.compensation.controller import ControllerFrames, controlled
from theodolite.compensation.inverse import Targets, all_joints, inverse
from theodolite.compensation.programs import Kind, Wanted, correct_program
from theodolite.io.programs import fanuc, krl, rapid, urscript
from theodolite.io.programs.files import corrected_program, turning
from theodolite.io.programs.text import euler, near_euler
from theodolite.model.poses import Poses

NOMINAL = th.robots.irb120()
RNG = np.random.default_rng(5)
TRUE = th.perturb(NOMINAL, th.ParameterErrors(1e-3, 2e-3, 1e-3), RNG)
LANGUAGES = {"rapid": rapid, "krl": krl, "urscript": urscript, "fanuc": fanuc}

#: Joints well within limits and away from singular ones, degrees.
JOINTS = np.array(
    [
        [10, 20, -10, 15, 40, 5],
        [-35, -15, 20, -40, 60, -70],
        [60, 30, -40, 20, -50, 100],
        [5, -30, 30, 80, 35, -20],
    ],
    dtype=float,
)


def poses() -> tuple[np.ndarray, np.ndarray]:
    """Where the nominal robot has its tip, in its base: rotations and millimetres."""
    rotation, position = NOMINAL.poses(np.radians(JOINTS))
    return rotation, 1e3 * position


def quadrants(joints: np.ndarray) -> list[int]:
    q1, q4, q6 = (int(np.floor(joints[place] / 90)) for place in (0, 3, 5))
    return [q1, q4, q6, int(joints[4] < 0)]


def rapid_text() -> str:
    """Three robtargets, one inline, and a jointtarget; numbers as ABB writes them."""
    rotation, position = poses()
    quaternions = Rotation.from_matrix(rotation).as_quat()[:, [3, 0, 1, 2]]
    external = "[9E+09,9E+09,9E+09,9E+09,9E+09,9E+09]"
    literals = []
    for p, q, joints in zip(position, quaternions, JOINTS, strict=True):
        parts = [",".join(f"{x:.6f}" for x in p), ",".join(f"{x:.8f}" for x in q)]
        parts += [",".join(map(str, quadrants(joints)))]
        literals.append("[" + ",".join(f"[{part}]" for part in parts) + f",{external}]")
    return (
        "MODULE M\r\n  ! tested: [[1,2,3],[1,0,0,0],[0,0,0,0],[0,0,0,0,0,0]] in a comment\r\n"
        '  CONST string s:="[[1,2,3],[1,0,0,0],[0,0,0,0],[0,0,0,0,0,0]]"; ! \xe9\r\n'
        f"  CONST robtarget p1:={literals[0]};\r\n"
        f"  PERS robtarget p{{2}}:=[{literals[1]},\r\n     {literals[2]}];\r\n"
        f"  CONST jointtarget j1:=[[{','.join(f'{x:g}' for x in JOINTS[3])}],{external}];\r\n"
        "  PROC main()\r\n    MoveL Offs(p1,0,0,10),v100,fine,tool0;\r\n"
        f"    MoveJ {literals[3]} ,v100,z10,tool0\\WObj:=w;\r\n  ENDPROC\r\nENDMODULE\r\n"
    )


def krl_text() -> str:
    rotation, position = poses()
    angles = Rotation.from_matrix(rotation).as_euler("ZYX", degrees=True)
    lines = ["DEFDAT prog PUBLIC", ";DECL E6POS XP9={X 1,Y 2,Z 3,A 4,B 5,C 6}"]
    for number, (p, a, joints) in enumerate(zip(position, angles, JOINTS, strict=True)):
        turn = sum(1 << axis for axis in range(6) if joints[axis] < 0)
        numbers = ",".join(f"{k} {v:.6f}" for k, v in zip("XYZABC", (*p, *a), strict=True))
        kind = "E6POS" if number % 2 else "POS"
        lines.append(f"DECL {kind} XP{number}={{{numbers},S 2,T {turn},E1 0.0}}")
    axes = ",".join(f"A{n} {v:g}" for n, v in enumerate(JOINTS[1], start=1))
    lines += [f"DECL E6AXIS XHOME={{{axes},E1 0.0}}", "DECL FDAT F={TOOL_NO 1,BASE_NO 0}"]
    lines += ["BASE_DATA[1]={X 10,Y 20,Z 30,A 0,B 0,C 0}", "LIN_REL {X 10}", "XP1.Z = XP1.Z + 1"]
    lines += ["PTP {A1 10}", "LIN XP1:XP2", "ENDDAT", ""]
    return "\n".join(lines)


def ur_text() -> str:
    rotation, position = poses()
    vectors = Rotation.from_matrix(rotation).as_rotvec()
    lines = ["def prog():", "  # movel(p[1,2,3,0,0,0])", '  textmsg("p[1,2,3,4,5,6]")']
    lines.append("  set_tcp(p[0,0,0.1,0,0,0])")
    for number, (p, v) in enumerate(zip(position / 1e3, vectors, strict=True)):
        literal = "p[" + ", ".join(f"{x:.9f}" for x in (*p, *v)) + "]"
        lines.append(f"  w{number} = {literal}" if number % 2 else f"  movel({literal}, a=1.2)")
    joints = ", ".join(f"{x:.9f}" for x in np.radians(JOINTS[0]))
    lines += [f"  movej([{joints}], a=1.4, v=1)", f"  q_home = [{joints}]", "  movej(q_home)"]
    lines += ["  movel(w1)", "  movel(pose_trans(w1, p[0,0,0.1,0,0,0]))", "  movej(get_target())"]
    return "\n".join([*lines, "end", ""])


def fanuc_text() -> str:
    rotation, position = poses()
    angles = Rotation.from_matrix(rotation).as_euler("ZYX", degrees=True)
    lines = [
        "/PROG  TEST",
        "/MN",
        "   1:J P[1] 100% FINE    ;",
        "   2:L P[2] 100mm/sec FINE Offset,PR[1] ;",
    ]
    lines += ["   3:L PR[4] 100mm/sec FINE ;", "   4:  !P[9]=P[2] ;", "   5:  PR[1]=P[1] ;", "/POS"]
    for number, (p, a) in enumerate(zip(position, angles, strict=True), start=1):
        x, y, z, (r, b, w) = *p, a
        lines += [
            f"P[{number}]{{",
            "   GP1:",
            "\tUF : 0, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',",
            f"\tX = {x:9.3f}  mm,\tY = {y:9.3f}  mm,\tZ = {z:9.3f}  mm,",
            f"\tW = {w:9.3f} deg,\tP = {b:9.3f} deg,\tR = {r:9.3f} deg",
            "};",
        ]
    joints = ",\t".join(f"J{n}= {v:9.3f} deg" for n, v in enumerate(JOINTS[2], start=1))
    lines += ["P[5]{", "   GP1:", "\tUF : 0, UT : 1,", f"\t{joints}", "};"]
    lines += ["P[6]{", "   GP1:", "\tUF : 0, UT : 1,\tCONFIG : 'N U T, 0, 0, 0',"]
    lines += ["\tX = ********  mm,\tY = ********  mm,\tZ = ********  mm,"]
    lines += ["\tW = ******** deg,\tP = ******** deg,\tR = ******** deg", "};", "/END", ""]
    return "\n".join(lines)


TEXTS = {"rapid": rapid_text, "krl": krl_text, "urscript": ur_text, "fanuc": fanuc_text}
TARGETS = {"rapid": (4, 1), "krl": (4, 1), "urscript": (4, 2), "fanuc": (4, 1)}


def corrected(language: str, text: str, calibrated=TRUE, **options):
    program = LANGUAGES[language].parse(text.encode("latin-1"))
    wanted = program.wanted(turning(NOMINAL))
    start = np.radians(JOINTS[0])
    made = correct_program(calibrated, NOMINAL, wanted, start=start, **options)
    return program, made, corrected_program(program, made, NOMINAL).decode("latin-1")


@pytest.mark.parametrize("language", LANGUAGES)
def test_targets_are_found_and_nothing_else(language):
    program, _, _ = corrected(language, TEXTS[language]())
    kinds = [spot.kind for spot in program.spots]
    assert (kinds.count(Kind.POSE), kinds.count(Kind.JOINTS)) == TARGETS[language]
    # Read rightly: the poses are those of the nominal robot.
    rotation, position = poses()
    found = [one for one in program.wanted(turning(NOMINAL)) if one.kind is Kind.POSE]
    for one, R, p in zip(found, rotation, position, strict=True):
        np.testing.assert_allclose(1e3 * one.position, p, atol=1e-3)
        np.testing.assert_allclose(one.rotation, R, atol=2e-5)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_robot_without_errors_leaves_the_file_as_it_is(language):
    text = TEXTS[language]()
    _, made, after = corrected(language, text, NOMINAL)
    assert after == text
    assert made.good, made.poses.counts()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_corrected_program_makes_the_true_robot_arrive(language):
    text = TEXTS[language]()
    program, made, after = corrected(language, text)
    assert made.good, made.poses.counts()
    # Only numbers changed.
    strip = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")
    assert strip.sub("#", after) == strip.sub("#", text)
    # The controller reads it again, solves its own inverse, and the true robot moves there.
    again = LANGUAGES[language].parse(after.encode("latin-1"))
    true = controlled(TRUE, NOMINAL, None, world=False)
    for number, (old, new) in enumerate(
        zip(program.wanted(turning(NOMINAL)), again.wanted(turning(NOMINAL)), strict=True)
    ):
        part, row = made.of(number)
        motors = new.joints
        if new.kind is Kind.POSE:
            command = Targets(new.position[None], new.rotation[None])
            motors = inverse(NOMINAL, command, part.motors[row][None]).motors[0]
        reached = true.tips(motors[None])
        position, rotation = old.position, old.rotation
        if old.kind is Kind.JOINTS:
            rotation, position = (one[0] for one in NOMINAL.poses(old.joints))
        # As exactly as the language writes numbers.
        close = {"rapid": 1e-7, "krl": 2e-7, "urscript": 2e-7, "fanuc": 1e-5}[language]
        assert np.linalg.norm(reached.position[0] - position) < close * 3
        turn = Rotation.from_matrix(reached.rotation[0] @ rotation.T).magnitude()
        assert turn < close * 10


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("rapid", {"Offs"}),
        ("krl", {"LIN_REL", "lacks A2", "XP1:XP2", "XP1.Z"}),
        ("urscript", {"pose_trans", "get_target"}),
        ("fanuc", {"Offset", "register", "PR[1] is computed"}),
    ],
)
def test_relative_and_computed_targets_are_named_by_line(language, lines):
    text = TEXTS[language]()
    program, _, _ = corrected(language, text)
    said = [f"{one.what} @ {text.splitlines()[one.line - 1]}" for one in program.refused]
    for words in lines:
        assert any(words in sentence for sentence in said), (words, said)


def test_frames_and_untaught_positions_are_left_alone():
    program, _, _ = corrected("krl", krl_text())
    assert any("BASE_DATA" in one.what for one in program.left_alone)
    program, _, _ = corrected("fanuc", fanuc_text())
    assert any("never taught" in one.what for one in program.left_alone)
    program, _, _ = corrected("urscript", ur_text())
    assert any("set_tcp" in one.what for one in program.left_alone)


@pytest.mark.parametrize(
    "line",
    [
        "LIN {X 300-dx,Y 0,Z 400,A 0,B 90,C 0}",
        "LIN {X 300 + dx,Y 0,Z 400,A 0,B 90,C 0}",
        "LIN {X 2*150,Y 0,Z 400,A 0,B 90,C 0}",
        "PTP {A1 10+5,A2 0,A3 0,A4 0,A5 30,A6 0}",
        "P1={X 300+5,Y 0,Z 400,A 0,B 90,C 0}",
    ],
)
def test_computed_numbers_of_krl_are_refused(line):
    program = krl.parse(line.encode())
    assert not program.spots
    assert "computed" in program.refused[0].what


@pytest.mark.parametrize(
    "line",
    [
        "$LOAD={M 5,CM {X 300,Y 0,Z 400,A 0,B 80,C 0},J {X 0,Y 0,Z 0}}",
        "LOAD_DATA[1]={M 5,CM {X 300,Y 0,Z 400,A 0,B 80,C 0}}",
        "MYSTRUCT={N 5,CM {X 300,Y 0,Z 400,A 0,B 80,C 0}}",
        "IF $POS_ACT=={X 300,Y 0,Z 400,A 0,B 80,C 0} THEN",
    ],
)
def test_what_only_looks_like_a_target_is_left_alone(line):
    program = krl.parse(line.encode())
    assert not program.spots
    assert program.left_alone


def test_every_target_is_corrected_or_named():
    text = "servoj([0.1,-1.2,1.0,0.2,0.5,0.1], t=0.1)\n"
    assert len(urscript.parse(text.encode()).spots) == 1
    text = "MoveL [[300,0,400],a.rot,[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v1,fine,tool0;"
    program = rapid.parse(text.encode())
    assert not program.spots and "not all numbers" in program.refused[0].what


def test_frames_that_a_program_names_are_asked_for():
    fanuc_program = fanuc.parse(fanuc_text().replace("UF : 0, UT : 1", "UF : 3, UT : 2").encode())
    assert len(fanuc_program.frame_doubts(base=False, tool=False)) == 2
    assert fanuc_program.frame_doubts(base=True, tool=True) == []
    text = rapid_text().replace("tool0\\WObj:=w;", "gripper\\WObj:=w;")
    program = rapid.parse(text.encode("latin-1"))
    assert program.bases == ("w",)
    said = " ".join(program.frame_doubts(base=False, tool=True))
    assert "base w" in said
    two = program.frame_doubts(base=True, tool=True)
    assert not two
    text = "MoveL a,v1,fine,t1\\WObj:=w1;\nMoveL a,v1,fine,t2;\n"
    said = " ".join(rapid.parse(text.encode()).frame_doubts(base=True, tool=True))
    assert "several tools, t1, t2" in said and "several bases, w1, wobj0" in said


def test_targets_off_their_branch_are_not_called_reached():
    text = rapid_text().replace(",[0,0,0,0],", ",[3,3,3,1],")
    _, made, after = corrected("rapid", text)
    if made.off_branch:
        assert not made.good
        assert not made.poses.found.good.all()
    assert after.count("[3,3,3,1]") == text.count("[3,3,3,1]")


def test_where_a_sensor_stood_does_not_move_a_mechanism():
    nominal = th.robots.delta()
    elsewhere = nominal.with_values({"bTc_x": 0.5, "bTc_rz": 0.2})
    motors = np.radians([[20.0, 20.0, 20.0], [10.0, 20.0, 30.0]])
    made = compensate_joints(elsewhere, nominal, nominal.assembled(motors)[0])
    assert made.before.max() < 1e-9
    far = compensate_joints(elsewhere, nominal, nominal.assembled(motors)[0], world=True)
    assert far.before.max() > 0.1


def test_a_pose_is_reached_on_the_branch_that_the_program_names():
    """Of the solutions of one pose, each is named by its own configuration."""
    rotation, position = poses()
    target = Targets(position[:1] / 1e3, rotation[:1])
    solutions = all_joints(NOMINAL, target, np.random.default_rng(1))[0]
    assert len(solutions) >= 2
    for joints in solutions:
        # What RAPID and KRL say of the configuration.
        names = (rapid._branch(quadrants(np.degrees(joints))), krl._branch(
            sum(1 << axis for axis in range(6) if joints[axis] < 0)))  # fmt: skip
        for branch in names:
            agree = branch(solutions)
            assert agree.any()
            assert agree[[np.allclose(one, joints) for one in solutions].index(True)]


def pose(angles, position) -> Poses:
    turned = Rotation.from_euler("ZYX", angles, degrees=True).as_matrix()
    return Poses.one(turned, np.array(position))


def test_frames_of_the_controller():
    """Targets in a work object with a tool: the same joints as in the base with the flange."""
    rotation, position = poses()
    base = pose([20, 5, -10], [0.3, -0.1, 0.05])
    tool = pose([90, 0, 15], [0.01, 0.02, 0.15])
    # The tip of the file is 72 mm in front of the last joint's frame: its own tool.
    own = pose([0, 0, 0], [0.0, 0.0, 0.072])
    tips = Poses(rotation, position / 1e3)
    given = base.inverse.then(tips).then(tool)
    seed = np.radians(JOINTS)
    plain, again = (
        compensate(TRUE, NOMINAL, Targets(targets.position, targets.rotation), seed=seed, frames=f)
        for targets, f in (
            (tips, ControllerFrames(tool=own)),
            (given, ControllerFrames(base, own.then(tool))),
        )
    )
    assert plain.good and again.good
    np.testing.assert_allclose(plain.motors, again.motors, atol=1e-9)
    # The tool is said to be as the nominal robot has it: errors of the file's own do not matter.
    better = TRUE.with_values({"e7x": 0.0, "e7z": 0.0})
    same = compensate(
        better,
        NOMINAL,
        Targets(tips.position, tips.rotation),
        seed=seed,
        frames=ControllerFrames(tool=own),
    )
    np.testing.assert_allclose(plain.motors, same.motors, atol=1e-9)


@given(st.lists(st.floats(-720, 720), min_size=3, max_size=3), st.floats(-0.02, 0.02))
def test_angles_stay_near_those_that_were_written(angles, turn):
    before = np.radians(angles)
    R = Rotation.from_rotvec([turn, -turn, 0.5 * turn]).as_matrix() @ euler(before)
    after = near_euler(R, before)
    np.testing.assert_allclose(euler(after), R, atol=1e-9)
    # No whole turns, also where B is a quarter turn.
    assert np.linalg.norm(after - before) <= np.pi * np.sqrt(1.5)
    if abs(np.cos(before[1])) > 0.2:
        assert np.abs(after - before).max() < 0.5


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_angles_of_a_tool_that_points_upright(pitch):
    """Only the difference or the sum of the other two angles matters: they share a change."""
    before = np.array([0.3, pitch, -1.0])
    assert near_euler(euler(before), before) == pytest.approx(before, abs=1e-9)
    turned = near_euler(euler(before + np.array([0.02, 0.0, 0.0])), before)
    assert turned - before == pytest.approx([0.01, 0.0, -0.01 * np.sign(pitch)], abs=1e-9)


def _damaged(text: str, rng: np.random.Generator) -> bytes:
    content = bytearray(text.encode("latin-1"))
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(0, len(content)))
        kind = rng.integers(0, 4)
        if kind == 0:
            content[place] = int(rng.integers(0, 256))
        elif kind == 1:
            del content[place : place + int(rng.integers(1, 40))]
        elif kind == 2:
            content[place:place] = bytes(rng.choice(list(b"[]{}(),;:=.-9Ee*\n"), 3).tolist())
        else:
            other = int(rng.integers(0, len(content)))
            content[place:place] = content[other : other + 60]
    return bytes(content)


@pytest.mark.parametrize("language", LANGUAGES)
def test_damaged_programs_are_read_or_refused(language):
    """500 of each: no traceback, and what is written back without correction is the same."""
    rng = np.random.default_rng(7)
    text = TEXTS[language]()
    for _ in range(500):
        content = _damaged(text, rng)
        program = LANGUAGES[language].parse(content)
        wanted = program.wanted([True] * 6) if all(
            spot.kind is Kind.POSE or len(spot.values) == 6 for spot in program.spots
        ) else []  # fmt: skip
        for one in wanted:
            if one.kind is Kind.POSE:
                assert np.isfinite(one.position).all() and np.isfinite(one.rotation).all()
        assert program.changed([None] * len(program.spots)) == content
        assert program.changed([np.array(spot.values) for spot in program.spots]) == content


@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(-2000, 2000), min_size=3, max_size=3),
            st.lists(st.floats(0.1, 1), min_size=4, max_size=4),
            st.integers(0, 6),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_generated_rapid_is_put_back_as_it_was(targets):
    lines = []
    for number, (p, q, digits) in enumerate(targets):
        q = np.array(q) / np.linalg.norm(q)
        a, b = (",".join(f"{x:.{digits + 2}f}" for x in part) for part in (p, q))
        lines.append(f"CONST robtarget p{number} := [ [{a}],\n [{b}] ,[0,0,0,0],[0,0,0,0,0,9E9]];")
    content = "\n".join(lines).encode()
    program = rapid.parse(content)
    new = []
    for spot, one in zip(program.spots, program.wanted([True] * 6), strict=True):
        new.append(program.notation.write(one.position, one.rotation, np.array(spot.values)))
    assert program.changed(new) == content


def test_frames_of_a_program_are_no_targets():
    krl_frame = b"TABLE={X 300,Y 0,Z 0,A 0,B 0,C 0}\n$BASE=TABLE\nLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n"
    program = krl.parse(krl_frame)
    assert [spot.line for spot in program.spots] == [3]
    assert "TABLE" in program.frame_doubts(base=False, tool=False)[0]
    feature = "f = p[0.5,0.2,0.3,0,0,0]\nmovel(pose_trans(f, w), a=1)\nmovel(p[0.4,0,0.3,0,3,0])\n"
    script = urscript.parse(feature.encode())
    assert [spot.line for spot in script.spots] == [3]
    assert "f: a frame" in script.left_alone[0].what


@pytest.mark.parametrize(
    "text",
    [
        "LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n$BASE={X 1,Y 0,Z 0,A 0,B 0,C 0}\n",
        "BAS(#BASE,3)\nLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n",
        "BAS (#TOOL, 2)\nLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n",
        "$TOOL=MYTOOL\nLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n",
        "BASE_NO 0\nBASE_NO 3\n",
    ],
)
def test_frames_of_krl_are_asked_for(text: str):
    assert krl.parse(text.encode()).frame_doubts(base=False, tool=False)


def test_the_usual_frame_beside_another_is_a_second_one():
    text = "MoveL a,v1,fine,tool0;\nMoveL b,v1,fine,tGrip\\WObj:=wTable;\n"
    said = rapid.parse(text.encode()).frame_doubts(base=True, tool=True)
    assert len(said) == 2 and "tool0" in said[1] and "wobj0" in said[0]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (rapid, "p3:=MyShift(p1,10);\nMoveL p3,v1,fine,tool0;\n"),
        (krl, "LIN FUNC(XP1)\n"),
        (krl, "XP2=INVERSE(XP1)\nLIN XP2\n"),
        (krl, "PTP $POS_ACT\n"),
        (urscript, "w1 = p[0.4,0,0.3,0,3,0]\nw1[2] = w1[2]+0.1\nmovel(w1)\n"),
    ],
)
def test_computed_targets_are_refused_by_line(language, text: str):
    assert language.parse(text.encode()).refused


def test_targets_of_other_modules_are_named():
    (remark,) = rapid.parse(b"MoveL pOther,v1,fine,tool0;\n").left_alone
    assert remark == type(remark)(1, "pOther: declared elsewhere")


def test_a_correction_across_the_border_of_a_branch_is_named():
    """q1 just below zero is quadrant -1; corrected it would be just above."""
    nominal = th.robots.irb120()
    true = nominal.with_values(
        nominal.values - 0.005 * np.eye(len(nominal.values))[_theta1(nominal)]
    )
    joints = np.array([[-0.002, 0.3, 0.2, 0.5, 0.6, 0.4]])
    rotation, position = nominal.poses(joints)
    wanted = Wanted(
        Kind.POSE,
        position=position[0],
        rotation=rotation[0],
        branch=lambda q: q[:, 0] <= 0.0,
    )
    made = correct_program(true, nominal, [wanted], world=True)
    assert made.off_branch == (0,)
    assert not made.good
    # RAPID and KRL can name the other side instead.
    free = correct_program(true, nominal, [replace(wanted, restated=True)], world=True)
    assert free.good and free.off_branch == ()
    reached = free.of(0)[0].motors[0, :6]
    assert reached[0] > 0.0
    text = "CONST robtarget p:=[[1,2,3],[1,0,0,0],[-1,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];"
    program = rapid.parse(text.encode())
    after = program.changed([np.array([1.0, 2, 3, 1, 0, 0, 0])], [reached]).decode()
    assert after == text.replace("[-1,0,0,0]", "[0,0,0,0]")
    text = "P={X 1,Y 2,Z 3,A 0,B 0,C 0,S 2,T 1}\n"
    after = krl.parse(text.encode()).changed([np.array([1.0, 2, 3, 0, 0, 0])], [reached]).decode()
    assert after == text.replace("T 1", "T 0")


def _theta1(robot) -> int:
    return [parameter.name for parameter in robot.parameters].index("theta1")
