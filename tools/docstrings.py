"""Validate the docstrings of the API reference with numpydoc: ``python -m tools.docstrings``.

Every function and class in the ``__all__`` of a package that ``docs/api/index.md`` lists needs Parameters, Returns, See
Also and Examples. The exit status is 1 if a docstring is incomplete.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from pydoc import locate
from typing import Protocol

from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "api" / "index.md"
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
    broken = {name: _broken(name) for name in public_names()}
    return {name: codes for name, codes in broken.items() if codes}


def _broken(name: str) -> tuple[str, ...]:
    codes = {code for code, _ in validate(name)["errors"] if code in RULES}
    # A protocol is not instantiated; numpydoc sees the ``*args, **kwargs`` of the constructor that typing adds.
    return tuple(sorted(codes - {"PR01"} if Protocol in getattr(locate(name), "__bases__", ()) else codes))


def main() -> int:
    """Print every finding and return the exit status."""
    found = findings()
    for name, codes in found.items():
        for code in codes:
            sys.stdout.write(f"{name}: {code} {RULES[code]}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
