"""What the methods know of a machine: it has parameters, and a tip that moves with its joints."""

from __future__ import annotations

from theodolite.model.chain import Motion
from theodolite.model.loop_motion import LoopMotion
from theodolite.model.mechanism import Mechanism
from theodolite.model.robot import Robot

Machine = Robot | Mechanism

#: Where a tip is and how it moves with parameters and joints, loops closed if there are any.
Tip = Motion | LoopMotion
