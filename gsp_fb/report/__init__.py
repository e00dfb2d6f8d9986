"""A report on one graph for a person to read: facts, what each of them means on this data, and a page to play with.

>>> from gsp_fb import Graph
>>> from gsp_fb.report import collect, render_markdown
>>> report = collect(Graph.from_edges([(0, 1), (1, 2)]), y=[0, 0, 1], name="path")
>>> print(render_markdown(report).splitlines()[0])
# path
"""

from .collecting import collect
from .facts import Report
from .render import FORMATS, format_of, render_html, render_json, render_markdown, write_report

__all__ = ["FORMATS", "Report", "collect", "format_of", "render_html", "render_json", "render_markdown", "write_report"]
