"""Mutants of a module: copies of its syntax tree, each with one small mistake.

Comparisons are moved by their boundary and turned round, arithmetic operators swapped, numbers
doubled or raised by one, ``and`` and ``or`` swapped, ``not`` and signs dropped, results negated.

Constants assigned at module level are judgements (iteration limits, tolerances, thresholds): no
test can say that 50 iterations are right and 51 are wrong. They are left alone. So are annotations
and texts, and results that are neither numbers nor truth values: a negated object fails at once
and proves nothing.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NUMBERS = {"float", "int", "FloatArray"}


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it is, how the line reads before and after, and the tree with it."""

    line: int
    before: str
    after: str
    tree: ast.Module

    @property
    def label(self) -> str:
        return f"{self.before}  ->  {self.after}"


#: What replaces the node in a copy of the tree.
Change = Callable[[ast.AST], ast.AST]


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    tree = ast.parse(source)
    places = [
        (index, change)
        for index, (node, result) in enumerate(_judged(tree))
        for change in _changes(node, result)
    ]
    return [_mutant(tree, index, change) for index, change in places]


def _mutant(tree: ast.Module, index: int, change: Change) -> Mutant:
    tree = copy.deepcopy(tree)
    node = list(_judged(tree))[index][0]
    statement = _statement(tree, node)
    before = _shown(statement)
    replacement = ast.copy_location(change(copy.deepcopy(node)), node)
    _Replace(node, replacement).visit(tree)
    ast.fix_missing_locations(tree)
    return Mutant(node.lineno, before, _shown(statement), tree)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _judged(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Expressions that a test can judge, each with the type if it is a function's result."""

    def within(node: ast.AST, returns: str) -> Iterator[tuple[ast.expr, str]]:
        if isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns) if node.returns else ""
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value, returns
            yield from (found for found in within(node.value, returns) if found[0] != node.value)
            return
        if isinstance(node, ast.expr):
            yield node, ""
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") or isinstance(
                node, ast.JoinedStr
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from within(child, returns)

    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield from within(statement, "")


def _changes(node: ast.expr, result: str) -> Iterator[Change]:
    """All mistakes to make in one expression."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield lambda n, place=place, other=other: _with_comparison(n, place, other())
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield lambda n: ast.BinOp(n.left, OPERATORS[type(n.op)](), n.right)
    if isinstance(node, ast.BoolOp):
        yield lambda n: ast.BoolOp(ast.Or() if isinstance(n.op, ast.And) else ast.And(), n.values)
    if isinstance(node, ast.UnaryOp):
        yield lambda n: n.operand
    if isinstance(node, ast.Constant):
        yield from _other_constants(node.value)
    if result in NUMBERS:
        yield lambda n: ast.UnaryOp(ast.USub(), n)
    if result == "bool":
        yield lambda n: ast.UnaryOp(ast.Not(), n)


def _with_comparison(node: ast.Compare, place: int, operator: ast.cmpop) -> ast.Compare:
    node.ops[place] = operator
    return node


def _other_constants(value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield lambda n: ast.Constant(not n.value)
    elif isinstance(value, int):
        yield lambda n: ast.Constant(n.value + 1)
    elif isinstance(value, float):
        yield lambda n: ast.Constant(2 * n.value or 1.0)


def _statement(tree: ast.Module, wanted: ast.AST) -> ast.stmt:
    """The innermost statement around a node."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and any(child is wanted for child in ast.walk(node))
    ]
    return around[-1]


def _shown(statement: ast.stmt) -> str:
    """The statement's text without the block below it, on one line."""
    lines = ast.unparse(statement).split("\n")
    return lines[0].strip()
