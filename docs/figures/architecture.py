"""Write the layers and the path of three calls into ``docs/architecture.md`` and its figure.

Layers are those of the import-linter contract in ``setup.cfg``, descriptions the first lines of the modules, and a test
traces the calls. Run ``python docs/figures/architecture.py`` after a change of either.
"""

import ast
import configparser
import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "gsp_fb"
PAGE = ROOT / "docs" / "architecture.md"
FIGURE = ROOT / "docs" / "_static" / "architecture.svg"
TABLE = re.compile(r"(<!-- layers -->\n).*?(<!-- end -->)", re.DOTALL)
# Modules in the order in which a call first enters them.
CALLS = {
    "gf.s_value(op, x)": ["energy.dirichlet", "graph", "_arguments", "_kernels.engine"],
    "bank.analyze(x)": [
        "filters.bank",
        "_arguments",
        "filters.plan",
        "filters.expansion",
        "filters._apply",
        "_kernels.engine",
    ],
    "nn.train(model, data, split)": [
        "nn.train",
        "nn.tasks",
        "datasets.targets",
        "nn.inputs",
        "operators",
        "nn.network",
        "nn.layer",
        "nn.propagation.operators",
        "_kernels.torch_matrix",
    ],
}
COLOURS = ("#0072B2", "#D55E00", "#007A5A")
LEFT, LANE, STEP, PAD = 330, 215, 26, 8


def exists(name: str) -> bool:
    """Return whether the package has a module or a subpackage of this name."""
    return PACKAGE.joinpath(f"{name}.py").exists() or PACKAGE.joinpath(name, "__init__.py").exists()


def layers() -> list[list[str]]:
    """Return the modules of each layer, top first, without those that are optional and absent."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = settings["importlinter:contract:layers"]["layers"].strip().splitlines()
    named = [[name.strip(" ()") for name in line.split("|")] for line in lines]
    found = [[name for name in names if exists(name)] for names in named]
    return [names for names in found if names]


def summary(name: str) -> str:
    """Return the first line of a module's docstring."""
    file = PACKAGE / f"{name}.py"
    source = (file if file.exists() else PACKAGE / name / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].replace("``", "`")


def table() -> str:
    """Return the layers as a Markdown table, one module a row."""
    rows = [
        f"| {number} | `{name}` | {summary(name)} |"
        for number, names in zip(range(len(layers()), 0, -1), layers(), strict=True)
        for name in names
    ]
    return "\n".join(["| layer | module | contents |", "|---|---|---|", *rows]) + "\n"


def page() -> str:
    """Return the page with the layers of today."""
    return TABLE.sub(lambda found: found[1] + table() + found[2], PAGE.read_text(encoding="utf-8"))


def figure() -> str:
    """Return the figure: a row a layer, a lane a call, boxes in the order in which the call enters the modules."""
    rows, top = {}, 70
    for names in layers():
        height = STEP * max(1, *(sum(_layer(step) in names for step in steps) for steps in CALLS.values())) + PAD
        rows |= dict.fromkeys(names, (top, height))
        top += height
    width = LEFT + LANE * len(CALLS) + 20
    parts = [*_bands(rows, width), *_lanes(rows)]
    box = f'viewBox="0 0 {width} {top + 20}" font-family="sans-serif" font-size="13"'
    paper = f'<rect width="{width}" height="{top + 20}" fill="#fff"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', paper, *parts, "</svg>"]) + "\n"


def _layer(step: str) -> str:
    return step.partition(".")[0]


def _bands(rows: dict[str, tuple[int, int]], width: int) -> list[str]:
    parts = [_text(20, 30, "Layers of gsp_fb", weight="bold"), _text(20, 50, "a layer imports only those below it")]
    for number, names in enumerate(layers()):
        top, height = rows[names[0]]
        shade = ("#f3f4f6", "#fff")[number % 2]
        parts.append(f'<rect x="10" y="{top}" width="{width - 20}" height="{height}" fill="{shade}"/>')
        parts.append(_text(20, top + height / 2 + 5, " · ".join(names)))
    return parts


def _lanes(rows: dict[str, tuple[int, int]]) -> list[str]:
    parts = []
    for lane, (call, steps) in enumerate(CALLS.items()):
        left, used, path = LEFT + LANE * lane, {}, []
        parts.append(_text(left, 50, call, weight="bold", fill=COLOURS[lane]))
        for number, step in enumerate(steps, start=1):
            top, _ = rows[_layer(step)]
            place = used.get(_layer(step), 0)
            used[_layer(step)] = place + 1
            y = top + PAD / 2 + STEP * place + 2
            path.append((left, y + 11))
            style = f'rx="4" fill="#fff" stroke="{COLOURS[lane]}"'
            parts.append(f'<rect x="{left}" y="{y}" width="{LANE - 20}" height="22" {style}/>')
            parts.append(_text(left + 8, y + 15, f"{number}  {step}"))
        points = " ".join(f"{x - 9},{y}" for x, y in path)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[lane]}" stroke-opacity=".5"/>')
        parts += [f'<circle cx="{x - 9}" cy="{y}" r="3" fill="{COLOURS[lane]}"/>' for x, y in path]
    return parts


def _text(x: float, y: float, words: str, **style: str) -> str:
    names = {"weight": "font-weight", "fill": "fill"}
    attributes = "".join(f' {names[key]}="{value}"' for key, value in ({"fill": "#1a1a1a"} | style).items())
    return f'<text x="{x:g}" y="{y:g}"{attributes}>{escape(words)}</text>'


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    FIGURE.write_text(figure(), encoding="utf-8")
