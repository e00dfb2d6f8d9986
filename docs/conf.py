"""How the documentation is built: `make docs`."""

import importlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from docutils.utils.math import latex2mathml

import gsp_fb
from gsp_fb import __version__

sys.path.insert(0, str(Path(__file__).with_name("figures")))

project = "gsp_fb"
author = "the gsp_fb authors"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "figures", "browser"]
nitpicky = True
nitpick_ignore = [
    # Built offline, so without the inventories of other projects.
    ("py:class", "numpy.float64"),
    # A property of the estimators' private base, documented in their lists of attributes.
    ("py:obj", "graph_"),
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# A doctest ends with an empty line, which is nothing to look at.
highlight_options = {"python": {"stripnl": True}}

autosummary_generate = True
# Public is what a package's __init__ lists, wherever it is written.
autosummary_imported_members = True
autosummary_ignore_module_all = False
templates_path = ["_templates"]


def _modules():
    """Return the modules of the API reference by name."""
    listed = re.findall(
        r"^   (gsp_fb\S*)$", Path(__file__).with_name("api").joinpath("index.md").read_text(), re.MULTILINE
    )
    return {name: importlib.import_module(name) for name in listed}


def _tables():
    """Return by module the tables that it exports and the names of their rows: data, so without a page of their own."""
    return {
        name: {table: list(getattr(module, table)) for table in module.__all__ if _is_table(getattr(module, table))}
        for name, module in _modules().items()
    }


def _repeated():
    """Return by module the names that gsp_fb itself exports: the same objects, documented there."""
    return {
        name: [] if module is gsp_fb else [key for key in module.__all__ if getattr(module, key) in _exported()]
        for name, module in _modules().items()
    }


def _exported():
    return [thing for thing in (getattr(gsp_fb, name) for name in gsp_fb.__all__) if callable(thing)]


def _is_table(thing):
    return isinstance(thing, Mapping | tuple) and all(isinstance(row, str) for row in thing)


autosummary_context = {"repeated": _repeated(), "tables": _tables()}
autodoc_typehints = "none"
numpydoc_show_class_members = False
# Words of a docstring's type line that are English, not names of objects.
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    # Values of plotting calls are not printed; figures and printed text are.
    "capture_repr": (),
    "thumbnail_size": (680, 440),
    "min_reported_time": 10**6,
    "write_computation_times": False,
    # Letters that can still be read on a thumbnail, set before every script.
    "reset_modules": ("matplotlib", "letters.enlarge"),
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
# A question that is typed into the search leads to the heading that asks it; apostrophes stay as they are typed.
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
smartquotes_action = "De"
html_title = f"gsp_fb {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "**": ["all-pages.html"]}
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_center": [],
}

# Without it the theme complains in the browser's console before it chooses the reader's own.
html_context = {"default_mode": "auto"}

# Formulas as MathML, which browsers draw by themselves: the pages then need no script from elsewhere.
html_math_renderer = "mathml"
# Without the empty group the converter puts the index of an accented letter below it, as under a sum.
_ACCENTED = re.compile(r"\\(?:tilde|hat|bar) ?(?:\\[a-zA-Z]+|\w|\{[^{}]*\})")


def _math(translator, node):
    tex = _ACCENTED.sub(r"{\g<0>{}}", node.astext())
    translator.body.append(latex2mathml.tex2mathml(tex, as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def _wheel(folder):
    """Build the wheel of the package that is documented; what an earlier build left behind stays out of it."""
    settings = Path(folder, "setup.cfg")
    settings.write_text(f"[build]\nbuild_base = {folder}/build\n[egg_info]\negg_base = {folder}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    root = Path(__file__).resolve().parents[1]
    subprocess.run(
        [*command, "--wheel-dir", folder, root], check=True, env={**os.environ, "DIST_EXTRA_CONFIG": str(settings)}
    )
    return next(Path(folder).glob("*.whl"))


def _browser(app, error):
    """Add the notebooks that run in the reader's browser: JupyterLite, with our wheel beside its own.

    The extension jupyterlite-sphinx is not used: it builds six applications where one serves, and adds a font from
    elsewhere to every page.
    """
    if error is not None or app.builder.format != "html":
        return
    out, notebooks = Path(app.outdir, "lite"), Path(app.srcdir, "browser")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "jupyter", "lite", "build", "--apps", "notebooks", "--no-sourcemaps"]
        command += ["--lite-dir", folder, "--contents", notebooks, "--output-dir", out, "--piplite-wheels"]
        done = subprocess.run([*command, _wheel(folder)], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"JupyterLite was not built:\n{done.stdout}\n{done.stderr}")


def _named_defaults(_app, _what, _name, _object, _options, signature, returns):
    """Show a default that is a function by its name, without its address in memory."""
    return signature and re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", signature), returns


def setup(app):
    """Tell Sphinx how to draw formulas, to name defaults and to add the notebooks of the browser."""
    app.connect("autodoc-process-signature", _named_defaults)
    app.connect("build-finished", _browser)
    app.add_html_math_renderer("mathml", inline_renderers=(_math, None), block_renderers=(_math, None))
