"""Each method in three sentences with its equation, for the pages and the help."""

from __future__ import annotations

METHODS = {
    "frame": (
        "A sensor measures the whole pose of the tool for known joint angles. The residual is "
        "the difference of pose: T(q, p)^-1 T_measured, three lengths and three small angles. "
        "It determines the most parameters with the fewest configurations."
    ),
    "position": (
        "A sensor, such as a laser tracker, measures where a point of the tool is. The "
        "residual is P_measured - P(q, p) in metres. Parameters that only turn the tool about "
        "that point cannot be seen."
    ),
    "orientation": (
        "A sensor measures how the tool is turned, and not where it is. The residual is the "
        "small rotation from the computed to the measured orientation. Lengths cannot be "
        "seen."
    ),
    "inclination": (
        "An inclinometer on the tool measures its tilt against gravity. The residual is the "
        "difference of two tilts. Turns about the vertical cannot be seen."
    ),
    "camera": (
        "A camera sees a target of known shape; camera or target is on the robot. The "
        "residual is the difference of pixels, u - projection(q, p). Lens, mounting and robot "
        "are found together."
    ),
    "point-sensor": (
        "The tool brings known points of a fixture to one sensor, or a pointer. The residual "
        "is the place of the sensor in the fixture, P_fixture - P(q, p). It needs no "
        "metrology beyond the fixture [Everett 1988]."
    ),
    "position-link": (
        "No sensor: the tip touches the same unknown point from several configurations. The "
        "residual is P(q_a, p) - P(q_b, p). The scale of the robot cannot be seen."
    ),
    "frame-link": (
        "No sensor: the tool takes the same unknown pose in several configurations. The "
        "residual is T(q_a, p)^-1 T(q_b, p), lengths and small angles. Only redundant arms or "
        "several postures for a pose allow it."
    ),
    "plane": (
        "No sensor: the tip touches one unknown plane in many configurations. The residual is "
        "a x + b y + c z + 1, its coefficients being found too. Scale and the pose of the "
        "plane are lost."
    ),
    "plane-known": (
        "The tip touches planes whose equations are known. The residual is n . P(q, p) - h in "
        "metres. Several planes in different directions see what one does not."
    ),
    "line": (
        "The tip touches one straight edge in many configurations. The residual is the "
        "distance from the line in two directions. The line itself may be unknown."
    ),
    "sphere": (
        "The tip touches a ball in many places. The residual is |P(q, p) - c| - r. Centre and "
        "radius may be unknown; with a known radius the scale is seen."
    ),
    "distance": (
        "A ball bar or a wire measures the distance from a fixed point to the tool. The "
        "residual is measured - |P(q, p) - c|. The fixed point is found too."
    ),
    "implicit": (
        "For parallel robots: the pose of the platform and the joints are measured, and the "
        "closed loops must hold. The residual is how far each loop is open, f(q, X, p). No "
        "forward kinematics is needed."
    ),
    "inverse": (
        "For parallel robots: the joints that the measured pose of the platform needs are "
        "compared with those that were read. The residual is q - q(X, p). It is weighted by "
        "the noise of the joints."
    ),
}

DYNAMICS = (
    "Torques are linear in the inertial parameters: tau = W(q, q', q'') p. Only base "
    "parameters, combinations of them, can be seen; QR finds which. Friction and rotor "
    "inertias are found with them, from a motion that excites all of them [Gautier 1991]."
)

ABOUT = (
    "Theodolite finds which parameters of a robot can be identified by a method, what they "
    "are, and how sure one can be. Robot describes it; each method has what can be "
    "identified, points to measure, the identification itself, and the design of "
    "measurements; Use makes a better robot of the result."
)
