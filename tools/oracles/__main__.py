"""Run oracle sweeps, update ``RESULTS.md`` here: ``python -m tools.oracles [NAME ...] [--count N]``."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from paper.store import head_commit

RESULTS = Path(__file__).parent / "RESULTS.md"
SWEEPS = ("numbers", "spectra", "filters")


def _sections(page: Path) -> dict[str, str]:
    """Return the sections of a page that sweeps have written so far, by their titles."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    parts = ["## " + part.rstrip("\n") + "\n" for part in text.split("\n## ")[1:]]
    return {part.splitlines()[0]: part for part in parts}


def main() -> int:
    """Run the named sweeps; return 1 if any value is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.oracles", description=__doc__)
    parser.add_argument("names", nargs="*", default=SWEEPS, metavar="NAME", help=f"of {', '.join(SWEEPS)}")
    parser.add_argument("--output", type=Path, default=RESULTS, help="page to write (default: %(default)s)")
    parser.add_argument("--count", type=int, help="number of random kernels of the sweep of filters")
    chosen = parser.parse_args()
    sections, n_wrong, commit = _sections(chosen.output), 0, head_commit()
    for name in chosen.names:
        options = {"count": chosen.count} if name == "filters" and chosen.count else {}
        section, wrong = import_module(f"tools.oracles.{name}").sweep(**options)
        sections[section.splitlines()[0]] = f"{section.rstrip()}\n\nMeasured at commit `{commit}`.\n"
        n_wrong += wrong
        page = "\n".join(sections[title] for title in sorted(sections))
        chosen.output.write_text(f"# Oracle sweeps\n\n{page}", encoding="utf-8")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
