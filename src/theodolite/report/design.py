"""Designs, accuracy tables and sensitivities, for people, for JSON and as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from theodolite.arrays import FloatArray
from theodolite.design.designing import Design
from theodolite.design.mixture import Mixture
from theodolite.design.sensitivity import Sensitivity
from theodolite.report.plots import new_figure, save_figure
from theodolite.report.terminal_table import Table

#: Parameters that are shown.
SHOWN = 12


def design_data(found: Design) -> dict[str, Any]:
    """What ``design --json`` prints."""
    return {
        "measurements": int(found.data.groups().max(initial=-1)) + 1,
        "rows": len(found.data),
        "candidates": found.candidates,
        "criterion": found.criterion.value,
        "expected_mm": 1e3 * found.expected,
        "random_mm": 1e3 * found.random,
        "without_mm": 1e3 * found.without,
        "curve": [
            {"measurements": int(count), "expected_mm": 1e3 * float(error)}
            for count, error in zip(found.counts, found.curve, strict=True)
        ],
        "indices": found.indices,
        "travel_s": found.travel,
        "travel_before_s": found.travel_before,
    }


def show_design(console: Console, found: Design) -> None:
    """What is chosen, and what it is worth."""
    content = design_data(found)
    console.print(
        f"{content['measurements']} of {found.candidates} candidates, by {found.criterion.value}: "
        f"expected error {content['expected_mm']:.3g} mm, as many random ones "
        f"{content['random_mm']:.3g} mm, before any measurement {content['without_mm']:.3g} mm"
    )
    table = Table(title="Expected error over the number of measurements", title_justify="left")
    for heading in ("measurements", "mm"):
        table.add_column(heading, justify="right")
    for one in content["curve"]:
        table.add_row(str(one["measurements"]), f"{one['expected_mm']:.3g}")
    console.print(table)
    indices = ", ".join(f"{name} {value:.3g}" for name, value in found.indices.items())
    console.print(f"observability: {indices}")
    console.print(
        f"moves take {found.travel:.0f} s in this order, {found.travel_before:.0f} s as chosen"
    )


def draw_design(found: Design, path: Path, *, force: bool) -> None:
    """The expected error over the number of measurements."""
    figure, axes = new_figure(6.0, 3.4)
    axes.plot(found.counts, 1e3 * found.curve, "C0.-", label=f"chosen by {found.criterion.value}")
    axes.plot(found.counts[-1:], [1e3 * found.random], "C1s", label="as many random ones")
    axes.set_xlabel("measurements")
    axes.set_ylabel("expected error, rms (mm)")
    axes.set_ylim(bottom=0.0)
    axes.legend()
    save_figure(figure, path, force=force)


def plan_table(
    counts: Sequence[int], noises: Sequence[float], unit: str, table: FloatArray
) -> dict[str, Any]:
    """What ``plan --json`` prints."""
    return {
        "noise_unit": unit,
        "noises": list(noises),
        "measurements": list(counts),
        "expected_mm": (1e3 * table).tolist(),
    }


def show_plan_table(console: Console, content: dict[str, Any]) -> None:
    """Expected errors over numbers of measurements and noises."""
    table = Table(title="Expected error after calibration (mm)", title_justify="left")
    table.add_column("measurements", justify="right")
    for noise in content["noises"]:
        table.add_column(f"noise {noise:g} {content['noise_unit']}", justify="right")
    for count, row in zip(content["measurements"], content["expected_mm"], strict=True):
        table.add_row(str(count), *(f"{value:.3g}" for value in row))
    console.print(table)


def mixture_data(found: Mixture) -> dict[str, Any]:
    """What ``plan --offer --json`` prints."""
    return {
        "expected_mm": 1e3 * found.expected,
        "spent": found.spent,
        "kinds": [
            {
                "method": share.offer.method.name,
                "price": share.offer.price,
                "measurements": share.count,
                "alone_mm": 1e3 * share.alone,
            }
            for share in found.shares
        ],
    }


def show_mixture(console: Console, found: Mixture) -> None:
    """How many measurements of each kind, and what they are worth."""
    console.print(
        f"Expected error {1e3 * found.expected:.3g} mm, for {found.spent:g} of the budget"
    )
    table = Table(title="What to measure", title_justify="left")
    table.add_column("method")
    for heading in ("price", "measurements", "all money here (mm)"):
        table.add_column(heading, justify="right")
    for share in found.shares:
        table.add_row(
            share.offer.method.name,
            f"{share.offer.price:g}",
            str(share.count),
            f"{1e3 * share.alone:.3g}",
        )
    console.print(table)


def sensitivity_data(found: Sensitivity) -> dict[str, Any]:
    """What ``sensitivity --json`` prints."""
    return {
        "linear_mm": 1e3 * found.linear,
        "drawn_mm": 1e3 * found.drawn,
        "drawn_95_mm": 1e3 * found.drawn_95,
        "largest_mm": 1e3 * float(found.errors.max()),
        "calibrated_mm": 1e3 * found.calibrated,
        "measurements": found.measurements,
        "noise_mm": 1e3 * found.noise,
        "parameters": [
            {"name": name, "contribution_mm": 1e3 * float(size), "share": float(share)}
            for name, size, share in zip(
                found.names, found.contributions, found.shares, strict=True
            )
        ],
    }


def show_sensitivity(console: Console, found: Sensitivity) -> None:
    """How far off the tip may be, and which tolerances do it."""
    console.print(
        f"The tolerances allow {1e3 * found.linear:.3g} mm rms at the tip (linear), "
        f"{1e3 * found.drawn:.3g} mm of robots drawn from them; 95 % are below "
        f"{1e3 * found.drawn_95:.3g} mm. A calibration by {found.measurements} positions, noise "
        f"{1e3 * found.noise:g} mm, would leave {1e3 * found.calibrated:.3g} mm"
    )
    table = Table(title="Which tolerances matter", title_justify="left")
    table.add_column("parameter")
    for heading in ("alone (mm)", "share"):
        table.add_column(heading, justify="right")
    for name, size, share in list(zip(found.names, found.contributions, found.shares, strict=True))[
        :SHOWN
    ]:
        table.add_row(name, f"{1e3 * size:.3g}", f"{100 * share:.1f} %")
    console.print(table)


def draw_sensitivity(found: Sensitivity, path: Path, *, force: bool) -> None:
    """A bar for each tolerance, and the error over the workspace."""
    figure, first = new_figure(9.0, 4.0)
    figure.delaxes(first)
    bars = figure.add_subplot(1, 2, 1)
    names = list(found.names[:SHOWN])[::-1]
    bars.barh(names, [1e3 * size for size in found.contributions[:SHOWN]][::-1], color="C0")
    bars.set_xlabel("error of the tip from its tolerance (mm)")
    space = figure.add_subplot(1, 2, 2, projection="3d")
    shown = space.scatter(*(1e3 * found.places.T), c=1e3 * found.errors, cmap="viridis", s=12)
    for name in "xyz":
        getattr(space, f"set_{name}label")(f"{name} (mm)")
    figure.colorbar(shown, ax=space, label="expected error (mm)", shrink=0.7, pad=0.15)
    save_figure(figure, path, force=force)
