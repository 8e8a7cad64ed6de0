"""Widgets for the fields of a form, each with a label and the verb's own words about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nicegui import ui

from theodolite.app.forms import ROBOTS, Field, Kind
from theodolite.app.site import Site
from theodolite.app.workspace import Kind as FileKind

#: Kinds of files that a field for files offers, by the name of the field; all otherwise.
OFFERED = {
    "data": (FileKind.DATA,),
    "at": (FileKind.DATA,),
    "given": (FileKind.DATA,),
    "results": (FileKind.RESULT,),
}


class Form:
    """The fields of a verb; what is filled in is kept in the workspace at once."""

    def __init__(
        self,
        site: Site,
        page: str,
        fields: Iterable[Field],
        changed: Callable[[], None],
        usual: Mapping[str, Any] | None = None,
    ) -> None:
        self.site, self.page, self._changed = site, page, changed
        self.fields = {field.name: field for field in fields}
        kept = site.filled(page)
        self.values: dict[str, Any] = {
            name: kept.get(name, (usual or {}).get(name, field.default))
            for name, field in self.fields.items()
        }
        self._widgets: dict[str, Any] = {}

    def show(self, names: Iterable[str]) -> None:
        """Widgets for some fields, side by side where there is room."""
        with (
            ui.element("div")
            .classes("grid gap-x-4 gap-y-1 w-full")
            .style("grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr))")
        ):
            for name in names:
                self._widgets[name] = self._widget(self.fields[name])

    def show_groups(self, names: Iterable[str]) -> None:
        """The other fields, by what they are about."""
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(self.fields[name].group or "More", []).append(name)
        for title, members in groups.items():
            ui.label(title).classes("text-subtitle2 q-mt-sm")
            self.show(members)

    def set(self, name: str, value: Any) -> None:
        """Fill in one field, as if by hand."""
        widget = self._widgets.get(name)
        if widget is None:
            self._keep(name, value)
        elif value not in (None, "", []) and hasattr(widget, "options"):
            options = list(widget.options)
            for one in value if isinstance(value, list) else [value]:
                if one not in options:
                    options.append(one)
            widget.set_options(options, value=value)
        else:
            widget.set_value(value)

    def _keep(self, name: str, value: Any) -> None:
        self.values[name] = value
        # Another tab may have filled in other fields.
        self.site.keep_filled(self.page, {**self.site.filled(self.page), name: value})
        self._changed()

    def _widget(self, field: Field) -> Any:
        value = self.values[field.name]
        label = field.label + (" *" if field.required else "")

        def keep(event: Any) -> None:
            self._keep(field.name, event.value)

        if field.kind is Kind.SWITCH and field.default is None:
            words = {None: "let cross-validation decide", True: "yes", False: "no"}
            widget: Any = ui.select(words, label=label, value=value, on_change=keep)
        elif field.kind is Kind.SWITCH:
            widget = ui.checkbox(label, value=bool(value), on_change=keep)
        elif field.kind in (Kind.NUMBER, Kind.WHOLE):
            widget = ui.number(label, value=value, on_change=keep, precision=None)
        elif field.kind in (Kind.FILE, Kind.ROBOT) or field.choices:
            widget = self._choice(field, label, value, keep)
        else:
            shown = "; ".join(map(str, value)) if isinstance(value, list) else value
            widget = ui.input(label, value=shown or "", on_change=keep)
            if field.several:
                widget.on_value_change(lambda event: self._several(field.name, event.value))
        widget.props["aria-label"] = field.label
        widget.props("dense")
        if field.kind is not Kind.SWITCH:
            widget.props("outlined")
        if field.help and hasattr(widget, "options"):
            # A tooltip would lie over the list.
            widget.props["hint"] = field.help
            widget.props("hide-hint")
        elif field.help:
            widget.tooltip(field.help)
        return widget

    def _several(self, name: str, text: str) -> None:
        self._keep(name, [part.strip() for part in text.split(";") if part.strip()])

    def _choice(self, field: Field, label: str, value: Any, keep: Callable[[Any], None]) -> Any:
        if field.kind is Kind.ROBOT or field.name in ROBOTS:
            options = self.site.robots()
        elif field.kind is Kind.FILE:
            options = self.site.workspace.files(*OFFERED.get(field.name, ()))
            if field.name in ("images", "lens_images", "pictures"):
                options = [*self.site.workspace.folders_with_pictures(), *options]
        else:
            options = list(field.choices)
        kept = value if isinstance(value, list) else [] if value in (None, "") else [value]
        # A file that has gone since is still shown as what was chosen.
        options = [*options, *(one for one in kept if one not in options)]
        return ui.select(
            options,
            label=label,
            value=(kept if field.several else value) or ([] if field.several else None),
            multiple=field.several,
            with_input=True,
            clearable=not field.required,
            new_value_mode="add-unique" if field.kind is Kind.TEXT else None,
            on_change=keep,
        )
