"""Sphinx extension: names in signatures lead to where the public API documents them.

Annotations name classes by the module that defines them; the reference has them as
``theodolite.NAME``. Types that are not public, and those of other libraries, stay plain text.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.inspect import TypeAliasForwardRef

from theodolite import api


def find_public(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """The public name that is meant; plain text for types that nobody imports from here."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].rpartition(".")[2]
    if name in api.__all__:
        domain = env.domains["py"]
        kind = domain.objects.get(f"theodolite.{name}")
        if kind is not None:
            return domain.resolve_xref(
                env, node["refdoc"], app.builder, "obj", f"theodolite.{name}", node, content
            )
    # A name that a page mentions on purpose must exist; a type in a signature need not be ours.
    return None if node.get("refexplicit") or node["reftype"] == "obj" else content


def plain_defaults(
    app: Sphinx,
    what: str,
    name: str,
    subject: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Defaults that a dataclass makes anew are no Python that could be shown with its types."""
    found = None if signature is None else signature.replace("<factory>", "...")
    return found, returned


def setup(app: Sphinx) -> dict[str, Any]:
    # Within other types Sphinx shows an alias by its repr.
    TypeAliasForwardRef.__repr__ = lambda alias: alias.name
    app.connect("missing-reference", find_public)
    app.connect("autodoc-process-signature", plain_defaults)
    return {"parallel_read_safe": True}
