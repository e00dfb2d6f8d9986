"""Growth of every public function and command: seconds, peak memory and exponent at n = 1e3, 1e4, 1e5 and 1e6.

``python -m benchmarks.growth`` writes the table into GROWTH.md. Each call runs in a process of its own that is forked
from one with the graph in memory, on one thread.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import gsp_fb as gf

from .calls import CALLS, COLUMNS, COMMANDS, DEGREE, EXCLUDED, EXCLUDED_COMMANDS, EXCLUDED_MODULES, Call, Setting
from .measure import peak_megabytes

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_BYTES = 8_000_000_000
PAGE = Path(__file__).with_name("GROWTH.md")
# Figures of the last run, for one that continues it.
KEPT = Path(tempfile.gettempdir(), "gsp_fb-growth.json")
MARK = "<!-- every public function -->"
# Seconds below which a call is mostly its fixed cost, and shows no growth.
FIXED = 0.02
# Seconds on the wall for each second of the processor, before a call that waits is ended.
PATIENCE = 30
STOPPING = (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)

HEAD = """\
{mark}

# Every public function and command

Written by `python -m benchmarks.growth{options}` on one core; load of the machine at the start {load:.1f} on
{cpus} CPUs. A community graph of n nodes and mean degree {degree}, {columns} signals of standard normal numbers,
default options. CPU seconds / megabytes above those of graph and inputs. The exponent is that of the seconds between
the two
largest sizes that took more than {fixed} s. "> {seconds:g} s" is a call that was stopped, "-" one that was
expected to take longer than that by its growth so far; in words: how the function refuses. MemoryError: more than
{gigabytes:g} GB.

| function | {sizes} | exponent |
|---|{rules}---|
"""


def measure(call: Call, setting: Setting, seconds: float) -> dict[str, Any]:
    """Return what a call takes in a forked process: seconds and megabytes, or why there are none."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        _report(send, call, setting, seconds)
    os.close(send)
    with os.fdopen(receive) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if text:
        found: dict[str, Any] = json.loads(text)
        return found
    return {
        "stopped": os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
    }


def _report(send: int, call: Call, setting: Setting, seconds: float) -> None:
    """Do the call, write its figures to a pipe and end the process, whatever happens."""
    warnings.simplefilter("ignore")
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    found: dict[str, Any] = {}
    try:
        signal.alarm(PATIENCE)
        job = call(setting)
        signal.alarm(math.ceil(PATIENCE * seconds))
        limit = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES + 4_000_000_000,) * 2)
        begin = time.process_time()
        megabytes, _ = peak_megabytes(job)
        found = {"seconds": time.process_time() - begin, "megabytes": megabytes}
    except MemoryError:
        found = {"refused": "MemoryError"}
    except BaseException as error:  # noqa: BLE001  # whatever it is becomes a cell
        found = {"refused": f"{type(error).__name__}: {error}"}
    os.write(send, json.dumps(found).encode())
    os._exit(0)


def _expected(found: list[dict[str, Any]]) -> float:
    """Return the seconds to expect at the next size, ten times as large; at least a fixed cost and a linear one."""
    known = [entry["seconds"] for entry in found if "seconds" in entry]
    if len(known) == 1:
        return known[0]  # imports and other fixed costs look the same; the limit ends what grows
    before, last = known[-2:]
    growth = last / before if before > FIXED else 0.0
    return max(last + 10 * (last - before), growth * last)


def grow(
    sizes: tuple[int, ...], seconds: float, names: list[str], kept: dict[str, dict[str, Any]], end: float
) -> dict[str, list[dict[str, Any]]]:
    """Return the figures of each row at each size, as far as a row goes within the limits.

    ``kept`` are figures of a run before, by row and size, and receives those of this one; nothing is measured after
    ``end`` on the monotonic clock.
    """
    rows = {**CALLS, **{f"`gsp-fb {name}`": call for name, call in COMMANDS.items()}}
    rows = {name: call for name, call in rows.items() if not names or name in names}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in rows}
    for n in sizes:
        setting = None
        for name, call in rows.items():
            if found[name] and ("seconds" not in found[name][-1] or _expected(found[name]) > seconds):
                found[name].append({"pending": True} if "pending" in found[name][-1] else {})
                continue
            key = f"{name} {n}"
            if key not in kept and time.monotonic() < end:
                setting = setting or _prepared(n)
                kept[key] = measure(call, setting, seconds)
                sys.stderr.write(f"{key}: {kept[key]}\n")
            found[name].append(kept.get(key, {"pending": True}))
        if setting:
            shutil.rmtree(setting.folder)
    return found


def _prepared(n: int) -> Setting:
    """Return a setting whose inputs are in memory."""
    setting = Setting(n)
    _ = setting.op, setting.x, setting.x1, setting.y, setting.folder
    gc.freeze()  # collecting in a forked process would copy every page that objects lie on
    return setting


def exponent(found: list[dict[str, Any]], sizes: tuple[int, ...]) -> float | None:
    """Return the power of n with which the seconds grow at the largest sizes."""
    known = [(n, e["seconds"]) for n, e in zip(sizes, found, strict=True) if e.get("seconds", 0) > FIXED]
    if len(known) < 2:
        return None
    (n, before), (m, after) = known[-2:]
    return math.log(after / before) / math.log(m / n)


def _cell(entry: dict[str, Any], seconds: float) -> str:
    if "seconds" in entry:
        return f"{entry['seconds']:.3g} / {entry['megabytes']:.0f}"
    if "refused" in entry:
        return entry["refused"].split("\n")[0].replace("|", "\\|")[:110]
    if "pending" in entry:
        return "not measured"
    return f"> {seconds:g} s" if entry.get("stopped") else "-"


def page(found: dict[str, list[dict[str, Any]]], sizes: tuple[int, ...], seconds: float, options: str) -> str:
    """Return the section of the page."""
    head = HEAD.format(
        mark=MARK,
        options=options,
        load=os.getloadavg()[0],
        cpus=os.cpu_count(),
        degree=DEGREE,
        columns=COLUMNS,
        fixed=FIXED,
        seconds=seconds,
        gigabytes=MOST_BYTES / 1e9,
        sizes=" | ".join(f"{n:.0e}".replace("e+0", "e") for n in sizes),
        rules="---|" * len(sizes),
    )
    lines = []
    for name, entries in found.items():
        power = exponent(entries, sizes)
        cells = " | ".join(_cell(entry, seconds) for entry in entries)
        lines.append(f"| {name} | {cells} | {'' if power is None else f'{power:.2f}'} |\n")
    reasons: dict[str, list[str]] = {}
    for name, why in (EXCLUDED | {f"`gsp-fb {n}`": why for n, why in EXCLUDED_COMMANDS.items()}).items():
        reasons.setdefault(why, []).append(name)
    for module, why in EXCLUDED_MODULES.items():
        reasons.setdefault(why, []).append(f"all of `gsp_fb.{module}`")
    left = "".join(f"- {', '.join(sorted(names))}: {why}.\n" for why, names in reasons.items())
    return f"{head}{''.join(lines)}\nWithout a row:\n\n{left}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds after which a call is stopped")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", nargs="+", default=[], help="names of rows; the page is not written then")
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after this; --resume measures the rest")
    parser.add_argument("--resume", action="store_true", help="keep the figures of the run before, of the same options")
    args = parser.parse_args()
    gf.set_threads(1)
    _warm_up()
    load_options = "" if args.seconds == 60 else f" --seconds {args.seconds:g}"
    load_options += "" if tuple(args.sizes) == SIZES else " --sizes " + " ".join(map(str, args.sizes))
    kept = json.loads(KEPT.read_text("utf-8")) if args.resume else {}
    end = time.monotonic() + 60 * args.minutes
    found = grow(tuple(args.sizes), args.seconds, args.only, kept, end)
    text = page(found, tuple(args.sizes), args.seconds, load_options)
    if not args.only:
        KEPT.write_text(json.dumps(kept, indent=0), encoding="utf-8")
        before = PAGE.read_text("utf-8").split(MARK)[0].rstrip()
        PAGE.write_text(f"{before}\n\n{text}", encoding="utf-8")
    sys.stdout.write(text)


def _warm_up() -> None:
    """Import and compile what calls share, so that no row pays for it."""
    import pandas  # noqa: F401, PLC0415
    import torch  # noqa: PLC0415
    import torch_geometric.data  # noqa: F401, PLC0415

    torch.set_num_threads(1)  # a process that is forked has none of the other threads

    setting = Setting(20_000)
    for width in (1, COLUMNS):
        x = np.ones((setting.graph.n_nodes, width))
        gf.s_value(setting.op, x)
        gf.FilterBank(setting.op, [gf.filters.heat(1.0)]).analyze(x)
        setting.op @ x


if __name__ == "__main__":
    main()
