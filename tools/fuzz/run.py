"""Run the harness of one reader in a process of its own, under limits, and report the result."""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tools.fuzz.readers import CORPUS

__all__ = ["FIGURES", "HANG_SECONDS", "MEMORY_MB", "Outcome", "circumstances", "fuzz", "record", "recorded"]

HANG_SECONDS = 10
MEMORY_MB = 2048
# A process that ignores libFuzzer's own clock is ended this much later, and counts as hanging.
GRACE_SECONDS = 600
FINDINGS = Path(__file__).parent / "findings"
# Inputs that reached something new; the next round starts from them.
GROWN = Path(__file__).parent / "grown"
# One line for each round of each reader, so that a run that is cut short keeps what it did.
FIGURES = Path(__file__).parent / "figures.jsonl"
# Every input goes through a file; on a disk the fuzzer would wait for it most of the time.
IN_MEMORY = Path("/dev/shm")
LIBRARIES = ("gsp-fb", "atheris", "numpy", "scipy", "pyarrow", "safetensors", "torch")
SUMMED = ("executions", "cpu_seconds", "crashes", "hangs", "memory")
# What libFuzzer calls the input that it leaves behind, and the column it counts in.
KINDS = {"crash": "crashes", "timeout": "hangs", "slow-unit": "hangs", "oom": "memory", "leak": "memory"}


@dataclass(frozen=True)
class Outcome:
    """The figures of one reader's run; the findings are the inputs left in ``tools/fuzz/findings``."""

    reader: str
    executions: int
    edges: int
    features: int
    corpus: int
    cpu_seconds: float
    peak_mb: int
    crashes: int
    hangs: int
    memory: int
    tail: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not (self.crashes or self.hangs or self.memory)


def fuzz(reader: str, seconds: int) -> Outcome:
    """Fuzz ``reader`` for so many seconds and return the figures."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as scratch:
        folders = {"work": Path(scratch, "work"), "left": Path(scratch, "left"), "grown": GROWN / reader}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        log = Path(scratch, "log")
        usage, hung = _process(_command(reader, seconds, folders), log, seconds)
        text = log.read_text("utf-8", "replace")
        left = _kept(reader, folders["left"])
        ended = {"hangs": int(hung), "crashes": int(not left and not hung and "stat::" not in text)}
    counts = {name: ended.get(name, 0) + left.count(name) for name in ("crashes", "hangs", "memory")}
    status = re.findall(r"#(\d+)\s.*cov: (\d+) ft: (\d+) corp: (\d+)/", text)
    executions, edges, features, corpus = (int(number) for number in (status[-1] if status else (0, 0, 0, 0)))
    executions = max([executions, *map(int, re.findall(r"number_of_executed_units: (\d+)", text))])
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024
    return Outcome(reader, executions, edges, features, corpus, cpu, peak, **counts, tail=text[-3000:])


def record(outcome: Outcome, figures: Path) -> None:
    """Add one round to the figures."""
    facts = {name: value for name, value in asdict(outcome).items() if name != "tail"}
    facts |= {"date": str(datetime.now(UTC).date()), "versions": versions()}
    with open(figures, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(facts) + "\n")


def versions() -> str:
    """Return the versions of what is run."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)])


def circumstances(figures: Path) -> tuple[list[str], list[str]]:
    """Return the dates of the rounds, and the versions they were run with."""
    lines = [json.loads(line) for line in figures.read_text("utf-8").splitlines()]
    return sorted({line["date"] for line in lines}), sorted({line["versions"] for line in lines})


def recorded(figures: Path) -> list[Outcome]:
    """Return one outcome for each reader: the sum of its rounds."""
    lines = [json.loads(line) for line in figures.read_text("utf-8").splitlines()]
    names = [field.name for field in fields(Outcome)]
    rounds = [Outcome(**{name: line[name] for name in names if name in line}) for line in lines]
    readers = dict.fromkeys(row.reader for row in rounds)
    return [_sum_of_rounds([row for row in rounds if row.reader == reader]) for reader in readers]


def _sum_of_rounds(rounds: Sequence[Outcome]) -> Outcome:
    """Return the sums of what adds up, and the highest of what does not."""
    names = [name for name in asdict(rounds[0]) if name not in ("reader", "tail")]
    merged = {name: (sum if name in SUMMED else max)(getattr(row, name) for row in rounds) for name in names}
    return Outcome(rounds[0].reader, **merged)


def _command(reader: str, seconds: int, folders: dict[str, Path]) -> list[str]:
    options = {
        "max_total_time": seconds,
        "timeout": HANG_SECONDS,
        "report_slow_units": HANG_SECONDS,
        "rss_limit_mb": MEMORY_MB,
        "max_len": 8192,
        "print_final_stats": 1,
        "artifact_prefix": f"{folders['left']}/",
    }
    settings = [f"-{name}={value}" for name, value in options.items()]
    corpora = [str(folders["grown"]), str(CORPUS / reader)]
    return [sys.executable, "-m", "tools.fuzz.harness", reader, str(folders["work"]), *settings, *corpora]


def _process(command: list[str], log: Path, seconds: int) -> tuple[resource.struct_rusage, bool]:
    """Run ``command`` and return what it used, and whether it had to be ended."""
    hung = threading.Event()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    root = CORPUS.parents[2]
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=root, env=environment)

    def end() -> None:
        hung.set()
        process.kill()

    clock = threading.Timer(seconds + GRACE_SECONDS, end)
    clock.start()
    _, process.returncode, usage = os.wait4(process.pid, 0)
    clock.cancel()
    return usage, hung.is_set()


def _kept(reader: str, left: Path) -> list[str]:
    """Keep the inputs that libFuzzer left, and return their columns."""
    columns = []
    for path in sorted(left.iterdir()):
        columns.append(KINDS.get(path.name.rpartition("-")[0], "crashes"))
        (FINDINGS / reader).mkdir(parents=True, exist_ok=True)
        (FINDINGS / reader / path.name).write_bytes(path.read_bytes())
    return columns
