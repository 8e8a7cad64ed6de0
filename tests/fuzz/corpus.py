"""Small valid inputs of every kind, and command lines that use them."""

from __future__ import annotations

import io

import numpy as np

import theodolite as th
from theodolite.calibration.catalogue import method_named
from theodolite.dynamics.drives import FRICTION
from theodolite.io.robot_file import parse_robot

ARM = """format = "theodolite robot 1"
name = "arm"
source = "made for these tests"
units = { length = "mm", angle = "deg" }
convention = "kk"

frames = [
  { sigma = 2, theta = 30, r = 400 },
  { sigma = 0, alpha = 20, d = 300, theta = 0, r = 0 },
  { sigma = 0, alpha = 90, d = 0, theta = 10, r = 0, K = 1 },
  { sigma = 1, alpha = -90, d = 50, theta = 0, r = 100 },
  { convention = "pose", sigma = 2, xyz = [20, 0, 72], rpy = [0, 5, 0] },
]

Offset = [0, 0, 0]
Qmin = [-160, -100, 0]
Qmax = [160, 100, 300]
Com = [[1, 0, 0], [0, 1, 0], [0, 0.5, 1]]
Coa = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
targets = [ { name = "p1", xyz = [10, 0, 50] } ]
priorities = { theta0 = 0, K1 = 5 }
"""
BARE = ARM.replace("targets = [", "# [")
BENT = (
    BARE
    + """gravity = [0, 0.1, -1]
terms = [
  { row = 2, on = "q", basis = "moment(z2, x2)", value = 0.01 },
  { row = 1, on = "q", basis = "sin(2*q1)*cos(q2)" },
  { row = 0, on = "z", basis = "1-exp(-time_s/300)", value = 0.1 },
  { row = 3, on = "alpha", basis = "direction1*temperature_c/100" },
]
"""
)
PRODUCT = """format = "theodolite robot 1"
name = "product"
units = { length = "m", angle = "rad" }
convention = "product"
frames = [
  { sigma = 2, product = "Tz(0.4) Rx(=0.3)" },
  { sigma = 0, product = "Rz(q+0.1) Tx(0.3) Ry(0.01)" },
  { sigma = 0, product = "Ry(-q) Tx(0.25) Tz(=0.1)" },
  { convention = "dh", sigma = 0, theta = 0.1, d = 0.2, a = 0.1, alpha = 1.5 },
  { convention = "hayati", sigma = 0, theta = 0.1, a = 0.1, alpha = 0.0, beta = 0.1 },
]
Qmin = [-2, -2, -2, -2]
Qmax = [2, 2, 2, 2]
"""
URDF = """<?xml version="1.0"?>
<robot name="urdf arm">
  <link name="a"><inertial><mass value="2"/><origin xyz="0 0 0.1" rpy="0 0 0"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="b"/><link name="c"/><link name="d"/>
  <joint name="j1" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.1 1.57 -2"/><axis xyz="1 2 -2"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="j2" type="prismatic"><parent link="b"/><child link="c"/>
    <origin xyz="0.3 0 0" rpy="1 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-0.1" upper="0.4" effort="1" velocity="1"/></joint>
  <joint name="j3" type="continuous"><parent link="c"/><child link="d"/>
    <origin xyz="0 0 0.2"/><axis xyz="-1 0 0"/></joint>
</robot>
"""
TABLE = """joint,sigma,theta_deg,d_mm,a_mm,alpha_deg,sign,qmin_deg,qmax_deg
S,0,0,450,150,-90,1,-170,170
L,0,-90,0,614,180,-1,-60,150
U,0,0,0,200,-90,1,-80,90
"""
PRIORITIES = "# alpha d theta r beta K\n" + "1 2 3 4 5 6\n" * 5
MAPPING = """format = "theodolite mapping 1"
[columns]
q1_deg = "J1"
q2_deg = "J2"
q3_mm = "1.0*J3"
x_mm = "X"
y_mm = "Y"
z_mm = "-Z+5"
"""


#: A mechanism with all that may act inside.
FORCES = """
format = "theodolite robot 1"
name = "forces"
units = { length = "mm", angle = "deg" }
tool = "hand"
joints = [
  { name = "m1", min = -60, max = 60, home = 0 },
  { name = "m2", min = -60, max = 60, home = 0 },
]
bodies = [
  { name = "arm", product = "Ry(m1) Tz(400)" },
  { name = "hand", on = "arm", product = "Ry(0.5*m2-m1) Tx(300)" },
  { name = "hook", product = "Tx(=100)" },
]
shafts = [{ name = "elbow", turns = { m2 = 0.5, m1 = -1 }, friction = ["viscous", "curve"] }]
springs = [
  { name = "lift", ends = ["hook", "arm"], free_length = 350 },
  { name = "stay", ends = ["hook", "hand"], free_length = 300, stiffness = 500 },
]
torques = [
  { on = "m1", polynomial = [0.1, 0.2] },
  { on = "elbow", table = [[-90, 0.3], [0, 0.1], [90, 0.2]] },
]
"""


def files() -> dict[str, bytes]:
    """Valid files by name."""
    found = {
        "arm.toml": BARE,
        "targets.toml": ARM,
        "bent.toml": BENT,
        "product.toml": PRODUCT,
        "fourbar.toml": th.robots.text("fourbar"),
        "arm.urdf": URDF,
        "table.csv": TABLE,
        "priorities.txt": PRIORITIES,
        "mapping.toml": MAPPING,
    }
    content = {name: text.encode() for name, text in found.items()}
    rng = np.random.default_rng(0)
    arm = parse_robot(BARE, "arm")
    true = th.perturb(arm, th.ParameterErrors(1e-3, 2e-3, 0.0), rng)
    for method, points in (("position", 25), ("frame", 15), ("plane", 30), ("point-sensor", 20)):
        data = method_named(method).observe(true, points, rng)
        content[f"{method}.csv"] = _csv(data, arm)
    content["touches.csv"] = content.pop("point-sensor.csv")
    header, *rows = content["position.csv"].decode().split()
    timed = [f"{row},{10 * i},{(-1) ** i},{20 + i / 5}" for i, row in enumerate(rows)]
    content["timed.csv"] = "\n".join(
        [f"{header},time_s,direction1,temperature_c", *timed, ""]
    ).encode()
    # Four joints reach a point in many ways.
    product = parse_robot(PRODUCT, "product")
    data = method_named("position-link").observe(product, 12, rng, per_set=3)
    content["position-link.csv"] = _csv(data, product)
    fourbar = th.robots.load("fourbar")
    content["loop.csv"] = _csv(method_named("position").observe(fourbar, 12, rng), fourbar)
    foreign = content["position.csv"].decode().replace("q1_deg,q2_deg,q3_mm", "J1,J2,J3")
    foreign = foreign.replace("x_mm,y_mm,z_mm", "X,Y,Z").replace(",", ";")
    content["foreign.csv"] = b"Report\n" + foreign.encode()
    arrays = np.genfromtxt(io.BytesIO(content["position.csv"]), delimiter=",", names=True)
    stream = io.BytesIO()
    np.savez(stream, **{name: arrays[name] for name in arrays.dtype.names})
    content["position.npz"] = stream.getvalue()
    content["recording.csv"] = _recording(rng)
    content["forces.toml"] = FORCES.encode()
    content["known.json"] = _known(arm, content["recording.csv"])
    content["gains.json"] = (
        b'{"format": "theodolite drive gains 1", "robot": "arm", "gains_Nm_A": [2.0, 3.0, 4.0], '
        b'"covariance": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]}'
    )
    return content


def _csv(data: th.Dataset, robot: th.Robot | th.Mechanism) -> bytes:
    """The text of a measurement file."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.csv"
        th.write_measurements(data, robot, path)
        return path.read_bytes()


def _known(arm: th.Robot | th.Mechanism, recording: bytes) -> bytes:
    """What identifying the dynamics of that recording writes."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.csv"
        path.write_bytes(recording)
        dynamics = th.build_dynamics(arm)
        found = th.identify_dynamics(dynamics, th.read_recording(path, arm), drives=FRICTION)
        th.write_dynamics(Path(folder) / "k.json", found, th.judge_identification(found))
        return (Path(folder) / "k.json").read_bytes()


def _recording(rng: np.random.Generator) -> bytes:
    times = np.arange(0, 12, 0.02)
    waves = np.sin(times[:, None] * rng.uniform(2, 6, 3)) * [0.8, 0.6, 0.05]
    torques = 5 * waves + rng.normal(size=waves.shape)
    table = np.column_stack([times, waves, torques, torques / 3])
    header = "t_s,q1_rad,q2_rad,q3_m,tau1_Nm,tau2_Nm,tau3_N,i1_A,i2_A,i3_A"
    return "\n".join([header, *(",".join(map(repr, row)) for row in table.tolist())]).encode()


#: Words that name a file are replaced by a mutated copy of it.
COMMANDS = [
    "check targets.toml",
    "check product.toml",
    "check bent.toml",
    "identifiable bent.toml --method position",
    "identify bent.toml timed.csv --method position --no-gains --terms none --out out.toml",
    "identify arm.toml timed.csv --method position --no-gains --terms drift,play --hold-out 0",
    "validate bent.toml timed.csv --method position",
    "check fourbar.toml",
    "check arm.urdf",
    "check arm.toml position.csv",
    "check position.npz --robot arm.toml",
    "check foreign.csv --robot arm.toml",
    "check foreign.csv --robot arm.toml --mapping mapping.toml --json",
    "check fourbar.toml loop.csv",
    "new table.csv out.toml",
    "new table.csv out.toml --convention kk --json",
    "new arm.urdf out.toml --tip d",
    "new targets.toml out.toml --convention pose",
    "new product.toml out.toml --convention kk",
    "identifiable arm.toml --method frame --gains",
    "identifiable product.toml --method position --model own",
    "identifiable arm.toml --method position --data position.csv --json",
    "identifiable arm.toml --method frame --priorities priorities.txt",
    "identifiable fourbar.toml --method position",
    "generate arm.toml --method position --points 5 --out out.csv --noise-mm 0.1",
    "generate arm.urdf --method frame --points 5 --out out.csv",
    "generate fourbar.toml --method position --points 4 --out out.csv",
    "generate product.toml --method plane --points 5 --out out.csv --plane 0,0,1,300",
    "identify arm.toml position.csv --method position --out out.toml --no-gains",
    "identify arm.toml frame.csv --method frame --json --no-gains --terms none --hold-out 0",
    "identify product.toml position-link.csv -m position-link --no-gains --terms none --hold-out 0",
    "identify arm.toml plane.csv --method plane --no-gains --terms none --hold-out 0",
    "identify arm.toml position.csv --method position --loss huber --start locate --noise-mm 0.1",
    "identify arm.toml foreign.csv --method position --columns q1_deg,q2_deg,q3_mm,x_mm,y_mm,z_mm",
    "identify fourbar.toml loop.csv --method position --no-gains --terms none --hold-out 0",
    "identify arm.toml touches.csv --method point-sensor --no-gains --terms none --hold-out 0",
    "generate arm.toml --method position --out out.csv --error-mm 1 --save-true out.toml",
    "validate arm.toml position.csv",
    "validate arm.toml plane.csv --method plane --plane 0,0,1,300",
    "validate arm.toml frame.csv --nominal arm.toml --json",
    "dynamics identifiable arm.toml --json",
    "dynamics identify arm.toml recording.csv --way ordinary --cutoff 8 --json",
    "dynamics identify arm.toml recording.csv --way weighted --out out.csv",
    "dynamics identify arm.toml recording.csv --friction viscous,coulomb --out out.csv",
    "dynamics identify arm.toml recording.csv --skip-bad --friction viscous,load",
    "dynamics identify arm.toml recording.csv --drive-gains gains.json --friction coulomb --json",
    "dynamics validate arm.toml known.json recording.csv --json",
    "dynamics predict arm.toml known.json recording.csv --out out.csv",
    "dynamics simulate arm.toml known.json recording.csv --out out.csv --noise-Nm 0.1",
    "dynamics base-values arm.toml known.json",
    "dynamics gains arm.toml recording.csv --out out.toml",
    "check forces.toml",
    "dynamics identifiable forces.toml --friction",
]
#: Options, some with nonsense, that are thrown in now and then.
OPTIONS = [
    *("--json", "--force", "--seed", "--columns", "--ignore", "--map", "--method", "--points"),
    *("--noise-mm", "--plane", "--hold-out", "--start", "--loss", "--tip", "--convention", "-h"),
    *("--priorities", "--ignore-limits", "--gains", "--out", "--robot", "--mapping", "--data"),
]
