"""Validate the docstrings of the API reference with numpydoc: ``python -m tools.docstrings``.

Every function and class in the ``__all__`` of a package that ``docs/api/index.md`` lists needs Parameters, Returns, See
Also and Examples. ``tools/numpydoc_pending.txt`` lists the findings that are still open, one name a line; any other
finding fails. ``--write`` removes what has been mended from the list.
"""

import argparse
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "api" / "index.md"
PENDING = Path(__file__).with_name("numpydoc_pending.txt")
RULES = {
    "GL08": "no docstring",
    "PR01": "parameters without a description",
    "PR02": "descriptions of parameters that do not exist",
    "PR03": "parameters in another order than in the signature",
    "RT01": "no Returns section",
    "YD01": "no Yields section",
    "SA01": "no See Also section",
    "EX01": "no Examples section",
}

Findings = dict[str, tuple[str, ...]]


def public_names() -> Iterator[str]:
    """Yield the dotted name of every function and class of the reference, each once, where it is listed first."""
    seen: set[int] = set()
    for module_name in re.findall(r"^   (gsp_fb\S*)$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE):
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, Callable) and hasattr(thing, "__name__") and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{module_name}.{name}"


def findings() -> Findings:
    """Return by name the rules that its docstring breaks."""
    broken = {name: tuple(code for code, _ in validate(name)["errors"] if code in RULES) for name in public_names()}
    return {name: tuple(sorted(set(codes))) for name, codes in broken.items() if codes}


def pending() -> Findings:
    """Return by name the findings that are still open."""
    lines = (line.split() for line in PENDING.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: tuple(codes) for name, *codes in lines}


def main(argv: list[str] | None = None) -> int:
    """Print every finding that is not pending and return how the process ends."""
    parser = argparse.ArgumentParser(prog="python -m tools.docstrings", description=__doc__)
    parser.add_argument("--write", action="store_true", help="remove mended findings from the list of pending ones")
    args = parser.parse_args(argv)
    found, allowed = findings(), pending()
    new = {name: set(codes) - set(allowed.get(name, ())) for name, codes in found.items()}
    for name, codes in new.items():
        for code in sorted(codes):
            sys.stdout.write(f"{name}: {code} {RULES[code]}\n")
    if args.write:
        _write({name: sorted(set(codes) - new[name]) for name, codes in found.items()})
    return int(any(new.values()))


def _write(rows: dict[str, list[str]]) -> None:
    head = next(line for line in PENDING.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
    lines = [f"{name} {' '.join(codes)}" for name, codes in sorted(rows.items()) if codes]
    PENDING.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
