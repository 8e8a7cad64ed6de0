"""Every error a user can meet. Each composes its own sentence."""

from __future__ import annotations

from collections.abc import Iterable


class TheodoliteError(Exception):
    """Anything Theodolite refuses to do, with the reason."""


class InputError(TheodoliteError):
    """Wrong input: what is wrong, where it stands, what is allowed and what to do."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        allowed: str | Iterable[str] | None = None,
        remedy: str | None = None,
    ) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        self.allowed = allowed if isinstance(allowed, str | None) else ", ".join(allowed)
        sentence = f"{where}: {what}" if where else what
        if self.allowed:
            sentence += f"; allowed: {self.allowed}"
        if remedy:
            sentence += f". {remedy}"
        super().__init__(sentence)

    def at(self, where: str) -> InputError:
        """The same error with its place."""
        return InputError(self.what, where=where, allowed=self.allowed, remedy=self.remedy)


class MissingExtraError(InputError):
    """An optional library is not installed: what needs it, and which extra brings it."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{what} needs the extra '{extra}', which is not installed",
            remedy=f"Install it with: pip install 'theodolite[{extra}]'",
        )


class InfeasibleError(TheodoliteError):
    """Parameter values with which the machine cannot be where it was measured."""

    def __init__(self, what: str, rows: Iterable[int] = ()) -> None:
        self.rows = tuple(rows)
        super().__init__(what)


class UnreachableError(TheodoliteError):
    """No configuration of the robot satisfies what was asked for."""
