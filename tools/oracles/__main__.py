"""Run oracle sweeps, write ``RESULTS.md`` here: ``python -m tools.oracles [spectra] [filters --count N]``."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"
SWEEPS = ("spectra", "filters")


def main() -> int:
    """Run the named sweeps; return 1 if any value is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.oracles", description=__doc__)
    parser.add_argument("names", nargs="*", default=SWEEPS, metavar="NAME", help=f"of {', '.join(SWEEPS)}")
    parser.add_argument("--output", type=Path, default=RESULTS, help="page to write (default: %(default)s)")
    parser.add_argument("--count", type=int, help="number of random kernels of the sweep of filters")
    chosen = parser.parse_args()
    sections, n_wrong = [], 0
    for name in chosen.names:
        options = {"count": chosen.count} if name == "filters" and chosen.count else {}
        section, wrong = import_module(f"tools.oracles.{name}").sweep(**options)
        sections.append(section)
        n_wrong += wrong
    chosen.output.write_text("# Oracle sweeps\n\n" + "\n".join(sections), encoding="utf-8")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
