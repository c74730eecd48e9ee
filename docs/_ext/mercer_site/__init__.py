"""What the site of Mercer adds to Sphinx: one module for each idea."""

from __future__ import annotations

from typing import Any


def setup(app: Any) -> dict[str, Any]:
    from mercer_site import names, pictures, reference, troubleshooting, weight

    app.connect("builder-inited", reference.write)
    app.connect("builder-inited", pictures.draw)
    app.connect("builder-inited", troubleshooting.write)
    app.connect("source-read", troubleshooting.link_copies)
    app.connect("autodoc-process-docstring", reference.before_numpydoc, priority=100)
    app.connect("autodoc-process-docstring", reference.after_numpydoc, priority=900)
    app.add_transform(names.LinkNames)
    app.connect("missing-reference", names.resolve)
    app.connect("build-finished", weight.lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
