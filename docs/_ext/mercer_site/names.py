"""Public names in running text become links to the reference: ``Gaussian``, ``Gaussian(0.3)``, ``mc.SVC``.

Once for each section, and not on the page of the name itself. Names in small letters that are also words of the
language or of NumPy are linked only as ``mercer.exp``.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

from mercer_site import table

_CALL = re.compile(r"(mc\.|mercer\.)?((?:[a-z]+\.)?[A-Za-z_]\w*)(\(.*\))?", re.DOTALL)


def meant(text: str) -> str | None:
    """The full name of what a literal names, if it is in the reference."""
    found = _CALL.fullmatch(text.strip())
    if not found:
        return None
    name = f"mercer.{found[2]}"
    plain = not found[1] and found[2].islower() and "_" not in found[2]
    return name if name in table.documents() and not (plain and found[2] != "tune") else None


class LinkNames(SphinxTransform):
    """After parsing, so that the links are resolved with all others."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        here = self.env.docname
        seen: set[tuple[int, str]] = set()
        for literal in list(self.document.findall(nodes.literal)):
            name = meant(literal.astext())
            if name is None or table.documents()[name] == here or _is_linked(literal):
                continue
            place = (id(_section(literal)), name)
            if place in seen:
                continue
            seen.add(place)
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True, refdoc=here, refwarn=True
            )
            literal.replace_self(link)
            link += literal


def _is_linked(node: Any) -> bool:
    """Within a link, a heading or a signature."""
    while node is not None:
        if isinstance(node, nodes.reference | addnodes.pending_xref | nodes.title | addnodes.desc_signature):
            return True
        node = node.parent
    return False


def _section(node: Any) -> Any:
    while node is not None and not isinstance(node, nodes.section | addnodes.desc):
        node = node.parent
    return node


def resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """A name as docstrings have it, without its module: ``KernelRidge`` in a docstring of ``mercer.losses``."""
    target = node.get("reftarget", "").removeprefix("mc.")
    full = next((n for n in table.documents() if n == f"mercer.{target}" or n.endswith(f".{target}")), None)
    if node.get("refdomain") != "py" or full is None:
        return None
    return env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, "obj", full, _as_plain(node, full), contnode
    )


def _as_plain(node: Any, full: str) -> Any:
    plain = node.copy()
    for key in ("py:module", "py:class"):
        plain.attributes.pop(key, None)
    plain["reftarget"] = full
    return plain
