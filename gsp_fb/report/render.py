"""One report, three ways to write it: a page that needs nothing else, Markdown, JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._arguments import check_choice
from .._atomic import atomic_write
from .._document import Block, Heading, Text, to_markdown
from .._extras import require
from .._version import __version__
from ..errors import ParameterError
from .drawing import payload
from .facts import Report
from .figures import SHAPES
from .sections import sections
from .sentences import about_graph, answers, percent, striking

__all__ = ["FORMATS", "format_of", "render_html", "render_json", "render_markdown", "write_report"]


def render_html(report: Report) -> str:
    """Return the report as one HTML page: no other file, no network, and only its own script may run.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str

    See Also
    --------
    render_markdown : Text and tables alone.
    write_report : Write a file.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> "&lt;b&gt;" in render_html(gf.report.collect(gf.datasets.path(2), name="<b>"))
    True
    """
    script, style = static("view.js") + static("report.js"), static("view.css") + static("report.css")
    return rendered(
        "report.html.j2",
        report=report,
        lead=about_graph(report.graph),
        sections=list(sections(report)),
        version=__version__,
        cards=_cards(report),
        answers={question: answer.split("\n") for question, answer in answers(report).items()},
        striking=striking(report),
        shapes=SHAPES,
        payload=payload(report.drawing, report.family),
        prefix="",
        live=report.drawing.live,
        directed=report.graph.directed,
        script=script,
        style=style,
        script_hash=_csp_hash(script),
        style_hash=_csp_hash(style),
    )


def render_markdown(report: Report) -> str:
    """Return the report's sentences and tables as Markdown.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str

    See Also
    --------
    render_html : The page with figures.
    write_report : Write a file.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> render_markdown(gf.report.collect(gf.datasets.path(2), name="an edge")).splitlines()[0]
    '# an edge'
    """
    return to_markdown(_blocks(report), Path())


def render_json(report: Report) -> str:
    """Return the report's numbers as JSON; those that are not finite are null.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str

    See Also
    --------
    render_html : The page with figures.
    Report.as_dict : The same as a dictionary.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> json.loads(render_json(gf.report.collect(gf.datasets.path(2))))["graph"]["edges"]
    1
    """
    return json.dumps(report.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Report], str]] = {"html": render_html, "markdown": render_markdown, "json": render_json}
SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def write_report(report: Report, path: str | os.PathLike[str], *, format: str | None = None) -> Path:
    """Write the report, crash-safe, and return where; an existing file is replaced.

    Parameters
    ----------
    report : Report
    path : path_like
    format : {'html', 'markdown', 'json'}, optional
        By default inferred from the suffix of ``path``.

    Returns
    -------
    Path

    Raises
    ------
    ParameterError
        Neither ``format`` nor the ending is known.
    OSError
        The directory is missing or not writable, or the disk is full.

    See Also
    --------
    collect : Compute the facts of a report.
    format_of : The format that a suffix names.

    Examples
    --------
    >>> import tempfile
    >>> import gsp_fb as gf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(gf.report.collect(gf.datasets.path(2)), f"{folder}/edge.md").stat().st_size > 0
    True
    """
    path = Path(path)
    content = FORMATS[format_of(path, format)](report)
    with atomic_write(path, mode="w") as file:
        file.write(content)
    return path


def format_of(path: Path, format: str | None) -> str:
    """Return the format's name, given or inferred from the path's suffix.

    Parameters
    ----------
    path : Path
    format : str, optional
        Used as it is, if it is known.

    Returns
    -------
    {'html', 'markdown', 'json'}
        A name of ``FORMATS``.

    See Also
    --------
    write_report : Write a report in this format.

    Examples
    --------
    >>> format_of(Path("texas.md"), None)
    'markdown'
    """
    if format is not None:
        return check_choice(format, FORMATS, "format")
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{path} ends in none of {', '.join(SUFFIXES)}; give format= one of {', '.join(FORMATS)}")
    return SUFFIXES[path.suffix.lower()]


def _blocks(report: Report) -> Iterator[Block]:
    """Yield the report without its figures; names from the data are literal text."""
    yield from (Heading(1, report.name), Text(about_graph(report.graph), literal=True))
    for question, answer in answers(report).items():
        yield Text(f"{question} {answer.replace(chr(10), '. ')}", literal=True)
    if striking(report):
        yield Text(" ".join(striking(report)), literal=True)
    for section in sections(report):
        yield Heading(2, section.title)
        if section.reading:
            yield Text(section.reading, literal=True)
        yield from filter(None, (section.table, section.details))
        if section.note:
            yield Text(section.note, literal=True, emphasis=True)
    gamma = f"γ = {report.gamma:g} where a family has one"
    yield Text(
        f"Profiles and frequencies are those of `{report.family}`; {gamma}.\n"
        f"Graph fingerprint (SHA-256): `{report.graph.sha256}`. Made by gsp_fb {__version__}."
    )


def rendered(template: str, **values: Any) -> str:
    """Return a template of the package filled with ``values``, every one escaped."""
    jinja2 = require("jinja2", "a report")
    loader = jinja2.PackageLoader("gsp_fb.report", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    return str(environment.get_template(template).render(values))


def static(name: str) -> str:
    """Return the text of a script or style sheet of the package."""
    return files("gsp_fb.report").joinpath("static", name).read_text(encoding="utf-8")


def _csp_hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _cards(report: Report) -> dict[str, str]:
    """Return the few numbers at the top, by title."""
    facts = report.graph
    shown = {"nodes": f"{facts.nodes:,}", "arcs" if facts.directed else "edges": f"{facts.edges:,}"}
    shown["components"] = f"{facts.components:,}"
    if report.homophily is not None and math.isfinite(report.homophily.edge):
        shown["edges within a class"] = percent(report.homophily.edge)
    for row in report.energies:
        if row.family == report.family:
            shown[f"S, {row.signal} (expected {row.expected:.3f})"] = f"{row.s_value:.3f}"
    return shown
