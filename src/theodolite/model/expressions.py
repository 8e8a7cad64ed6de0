"""Basis functions as users write them: ``sin(2*q2)*cos(q3)``.

A small grammar: numbers, names, ``+ - * / **``, some functions, and ``moment(z2, x4)``, the moment
about axis z of joint 2 of a unit weight that hangs at a unit distance along axis x of link 4, and
``load(z2)``, the moment of all known loads about that axis. The text is parsed and checked, never
run as code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, shown

#: A longer text is no basis function that anybody wrote.
LONGEST = 200
LARGEST = 1e100
FUNCTIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "abs": np.abs,
    "sign": np.sign,
}
_CONSTANTS = {"pi": np.pi}
_OPERATORS: Mapping[type[ast.operator], Callable[..., FloatArray]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_AXIS = re.compile(r"[xyz][1-9]\d?")
ALLOWED = (
    f"numbers, q1 ..., columns of the data, + - * / **, {', '.join(FUNCTIONS)}, "
    "moment(z2, x4), load(z2)"
)

#: Values by name; an array has one entry per sample.
Environment = Mapping[str, FloatArray]
_Compiled = Callable[[Environment], FloatArray]


@dataclass(frozen=True)
class Expression:
    """A parsed basis function."""

    text: str
    #: What it needs to be told: joints, columns of the data.
    names: frozenset[str]
    #: Pairs of axes whose moments it needs.
    moments: frozenset[tuple[str, str]]
    #: Axes about which it needs the known loads.
    loads: frozenset[str]
    _evaluate: _Compiled

    def __call__(self, environment: Environment) -> FloatArray:
        """Its value for every sample.

        Moments and loads stand in the environment under their own text.
        """
        with np.errstate(all="ignore"):
            return self._evaluate(environment)


def moment_name(first: str, second: str) -> str:
    """Under which name a moment stands in the environment."""
    return f"moment({first}, {second})"


def load_name(axis: str) -> str:
    """Under which name a known load stands in the environment."""
    return f"load({axis})"


def parse(text: str) -> Expression:
    """An expression from its text."""
    if len(text) > LONGEST:
        raise _wrong(text, "it is too long", allowed=f"up to {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _wrong(text, "it cannot be read") from error
    reader = _Reader(text)
    compiled = reader.compile(tree.body)
    return Expression(
        text.strip(),
        frozenset(reader.names),
        frozenset(reader.moments),
        frozenset(reader.loads),
        compiled,
    )


def _wrong(text: str, what: str, *, allowed: str = ALLOWED) -> InputError:
    return InputError(f"basis {shown(text)}: {what}", allowed=allowed)


class _Reader:
    """One text on its way to becoming an expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: set[str] = set()
        self.moments: set[tuple[str, str]] = set()
        self.loads: set[str] = set()

    def compile(self, node: ast.expr) -> _Compiled:
        compiled = self._atom(node) or self._operation(node)
        if compiled is None:
            raise _wrong(self.text, f"'{ast.unparse(node)}' is not in the grammar")
        return compiled

    def _atom(self, node: ast.expr) -> _Compiled | None:
        """A number, a name or a function of something."""
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int() | float() as value) if abs(value) < LARGEST:
                return lambda _: np.asarray(float(value))
            case ast.Name(id=name):
                return self._name(name)
            case ast.Call(func=ast.Name(id="moment"), args=[one, other], keywords=[]):
                return self._moment(one, other)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
                return self._load(argument) if name == "load" else self._function(name, argument)
        return None

    def _operation(self, node: ast.expr) -> _Compiled | None:
        """A sum, product or power, or a sign."""
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.compile(operand)
                return lambda environment: -inner(environment)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.compile(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                operator = _OPERATORS[type(op)]
                first, second = self.compile(left), self.compile(right)
                return lambda environment: operator(first(environment), second(environment))
        return None

    def _name(self, name: str) -> _Compiled:
        if name in _CONSTANTS:
            return lambda _: np.asarray(_CONSTANTS[name])
        self.names.add(name)
        return lambda environment: environment[name]

    def _function(self, name: str, argument: ast.expr) -> _Compiled:
        if name not in FUNCTIONS:
            raise _wrong(self.text, f"there is no function '{name}'")
        function, inner = FUNCTIONS[name], self.compile(argument)
        return lambda environment: function(inner(environment))

    def _moment(self, one: ast.expr, other: ast.expr) -> _Compiled:
        first, second = self._axis(one), self._axis(other)
        self.moments.add((first, second))
        name = moment_name(first, second)
        return lambda environment: environment[name]

    def _load(self, node: ast.expr) -> _Compiled:
        axis = self._axis(node)
        self.loads.add(axis)
        name = load_name(axis)
        return lambda environment: environment[name]

    def _axis(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name) or not _AXIS.fullmatch(node.id):
            raise _wrong(
                self.text, f"'{ast.unparse(node)}' is not an axis", allowed="x1, y1, z1, x2 ..."
            )
        return node.id
