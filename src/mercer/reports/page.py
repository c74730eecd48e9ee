"""A page as HTML: one file, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from mercer.files.places import check_place
from mercer.reports.blocks import Page

_FORBIDDEN = re.compile(
    r"<\s*(script|foreignObject|iframe)|<[^>]*\bon\w+\s*=|<[^>]*\b(href|src)\s*=\s*[\"'](javascript|https?):",
    re.IGNORECASE,
)


def html(page: Page) -> str:
    """The page; texts of users are escaped, pictures are what ``figures`` and ``items`` have drawn."""
    return str(_template().render(page=page))


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def vector(svg: str) -> Any:
        if _FORBIDDEN.search(svg):  # no text of a user becomes a part of the page by way of a picture
            raise ValueError("A drawing has a script in it.")
        return Markup(svg)

    environment = Environment(
        loader=PackageLoader("mercer.reports", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["vector"] = vector
    return environment.get_template("page.html.jinja")


class Report:
    """What a model says of itself, as a page: ``save`` writes it, ``str`` is the short form, a notebook shows it.

    Made by ``report`` and by the ``report`` of a model of a table.

    Parameters
    ----------
    page : Page
        The sections and what is in them.
    text : str
        The same in some lines.

    Attributes
    ----------
    html : str
        The whole page: one file without anything from elsewhere.

    See Also
    --------
    report : The report of a fitted estimator.
    TableModel.report : That of a model of a table.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> page = mc.report(mc.SVC(kernel=mc.Gaussian(0.5)).fit(X, y), X, y)
    >>> page.html[:15], "Gaussian" in page.html
    ('<!doctype html>', True)
    """

    def __init__(self, page: Page, text: str) -> None:
        self.page, self.text = page, text

    @property
    def html(self) -> str:
        """The page."""
        return html(self.page)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            Its name, with the ending .html.

        Returns
        -------
        Path
            Where it is.
        """
        path = Path(path)
        check_place(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Report: {self.page.title}>"

    def _repr_html_(self) -> str:
        from markupsafe import escape

        # apart from the notebook's own styles
        style = "width:100%;height:80vh;border:0"
        return f'<iframe sandbox title="report" style="{style}" srcdoc="{escape(self.html)}"></iframe>'
