"""Measure every job of the table and write the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from gsp_fb._kernels import set_threads
from gsp_fb._kernels.threads import n_threads

from . import growth, kernels, report
from .jobs import JOBS
from .measure import compare, gather_rate, stream_rate

RESULTS = Path(__file__).with_name("RESULTS.md")
GROWTH = Path(__file__).with_name("GROWTH.md")
PARTS = ("jobs", "kernels")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="timed repeats of each job (default 7)")
    parser.add_argument("--large", action="store_true", help="only growth, up to nnz = 1e8: minutes, 20 GB")
    parser.add_argument("--only", default="", help="jobs whose title contains this; nothing is written")
    parser.add_argument("--part", choices=PARTS, nargs="+", default=PARTS, help="sections of the page to write anew")
    options = parser.parse_args()
    if options.large:
        # The table of all functions, behind the mark, is written by benchmarks.growth.
        _, mark, functions = GROWTH.read_text("utf-8").partition("<!-- every public function -->")
        GROWTH.write_text(f"{growth.table(large=True)}\n{mark}{functions}", encoding="utf-8")
        return
    before = dict(zip(PARTS, _parts(RESULTS.read_text("utf-8")), strict=True))
    made = {"jobs": lambda: _jobs(options.only, options.repeats), "kernels": lambda: kernels.table(options.only)}
    # Kernels last: they set the threads of this process and of torch and MKL.
    page = {part: made[part]() if part in options.part else before[part] for part in PARTS}
    if not options.only:
        RESULTS.write_text("\n".join(text.rstrip() + "\n" for text in page.values()), encoding="utf-8")


def _parts(page: str) -> tuple[str, str]:
    jobs, mark, table = page.partition(kernels.TITLE)
    return jobs, mark + table


def _jobs(only: str, repeats: int) -> str:
    set_threads(n_threads())
    stream, gather = stream_rate(), gather_rate()
    page = report.head(stream, gather)
    print(page, end="", flush=True)
    for job in (job for job in JOBS if only in job.title):
        case = job.make()
        page += report.row(job, case, compare(case.ours, case.peer, repeats, case.back), stream, gather)
        print(page.splitlines()[-1], flush=True)
    return page


if __name__ == "__main__":
    main()
