"""How ``--help`` looks: options in groups, and a word for what each takes."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

#: Options by what they are about; those in no group come first.
GROUPS = {
    "The method": ("plane", "line", "radius_mm", "between", "tool_turn"),
    "The model": (
        "gains",
        "terms",
        "masses",
        "only",
        "rows_as_time",
        "priorities",
        "tolerance_mm",
        "tolerance_mrad",
    ),
    "Noise": ("noise_mm", "noise_mrad", "noise_joint_deg", "noise_slide_mm", "noise_px"),
    "The true robot": ("true", "error_mm", "error_mrad", "error_gain", "save_true"),
    "Pictures": (
        *("images", "board", "board_tolerance", "lens_images", "lens_board", "lens", "lens_model"),
        *("keep_lens", "mount", "drawings"),
    ),
    "Reading files": ("columns", "ignore", "ignore_limits", "map_", "mapping", "tip", "root"),
    "Output": (
        "out",
        "urdf_out",
        "residuals",
        "details",
        "plot",
        "plots",
        "save_mapping",
        "force",
        "json",
    ),
}
#: What an option takes, by the name of its type as releases of Typer write it.
WORDS = {"int": "N", "integer": "N", "float": "X", "path": "F", "str": "NAME", "text": "NAME"}
_TYPE = re.compile(r"<(\w+).*?>|\b(INTEGER|FLOAT|PATH|TEXT)\b( RANGE)?")
#: Limits as ``x>=0`` or ``1<=x<=5``: messages say them where they are broken.
_LIMITS = re.compile(r"(; )?([\d.e+-]+<=?)?x[<>]=?[\d.e+-]+|(; )?[\d.e+-]+<=?x\b")


class Command(TyperCommand):
    """A verb."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """``ROBOT DATA...`` instead of ``{ROBOT} {DATA...}...``."""
        pieces = super().collect_usage_pieces(ctx)
        return [re.sub(r"[{}]", "", piece).replace("......", "...") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        sections |= {name: [] for name in GROUPS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            group = next((g for g, names in GROUPS.items() if parameter.name in names), "Options")
            if parameter.param_type_name == "argument":
                group = "Arguments"
            name, words = record
            sections[group].append((_plain(name), _without_limits(words)))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _plain(name: str) -> str:
    """``--points N`` instead of ``--points <int range>``; an argument's own name says enough."""
    if not name.startswith("-"):
        return re.sub(r" <.*?>", "", name)
    return _TYPE.sub(lambda found: WORDS.get((found[1] or found[2]).lower(), "NAME"), name)


def _without_limits(words: str) -> str:
    return _LIMITS.sub("", words).replace("  []", "").rstrip()
