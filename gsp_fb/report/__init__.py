"""A report on one graph for a person to read: facts, what each of them means on this data, and a page to play with."""

from .collecting import collect
from .facts import Report
from .render import FORMATS, format_of, render_html, render_json, render_markdown, write_report

__all__ = ["FORMATS", "Report", "collect", "format_of", "render_html", "render_json", "render_markdown", "write_report"]
