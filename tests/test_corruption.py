"""Damaged files: whatever is cut, flipped, spliced or put in, a reader returns or refuses by name, and soon.

The readers and the files that are damaged here are the fuzzer's: ``tools/fuzz``.
"""

from __future__ import annotations

import importlib.util
import io
import signal
import sys
import tempfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsp_fb import Graph

ROOT = Path(__file__).parents[1]
HANG_SECONDS = 10
MAX_BYTES = 64 * 2**20


def _table():
    """Load the fuzzer's table by its path: the repository is not installed, only the package is."""
    spec = importlib.util.spec_from_file_location("fuzz_readers", ROOT / "tools" / "fuzz" / "readers.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLE = _table()
ZIPPED = [name for name in TABLE.READERS if TABLE.READERS[name].file_name.endswith((".npz", ".zip"))]
# Numbers at the edges of what machines count with, and the marks that the formats give a meaning to.
NOISE = st.binary(min_size=1, max_size=8) | st.sampled_from(
    [b"9" * 20, b"-1", b"1e999", b"nan", b"INFE5", b"[" * 500, b"{" * 500, b"\n", b'"', b"'", b"\0", b",", b"\t", b"%"]
    + [value.to_bytes(8, "little") for value in (2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1)]
)


@st.composite
def damages(draw: st.DrawFn):
    """Draw one way to cut, flip, remove, repeat, splice or put in."""
    kind = draw(st.sampled_from(["cut", "flip", "remove", "repeat", "splice", "insert", "replace"]))
    at, length, other = draw(st.floats(0, 1)), draw(st.integers(1, 40)), draw(st.floats(0, 1))
    noise = draw(NOISE)

    def damage(content: bytes, donor: bytes) -> bytes:
        i, j = int(at * len(content)), int(other * len(donor))
        flipped = bytes(byte ^ noise[0] for byte in content[i : i + 1])
        return {
            "cut": content[:i],
            "flip": content[:i] + flipped + content[i + 1 :],
            "remove": content[:i] + content[i + length :],
            "repeat": content[: i + length] + content[i:],
            "splice": content[:i] + donor[j:],
            "insert": content[:i] + noise + content[i:],
            "replace": content[:i] + noise + content[i + len(noise) :],
        }[kind]

    return damage


@contextmanager
def bounded() -> Iterator[None]:
    """Fail where the block takes longer than a reader may, or more memory than these files can be worth."""

    def hangs(number, frame):
        raise AssertionError(f"more than {HANG_SECONDS} s in a reader")

    before = signal.signal(signal.SIGALRM, hangs)
    tracemalloc.start()
    signal.alarm(HANG_SECONDS)
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MAX_BYTES
    finally:
        signal.alarm(0)
        tracemalloc.stop()
        signal.signal(signal.SIGALRM, before)


def check(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, bounded():
        read = TABLE.READERS[name].survives(content, Path(folder))
    if isinstance(read, Graph):
        assert Graph.from_adjacency(read.adjacency, directed=read.directed).sha256 == read.sha256


several = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the clock of POSIX")
@pytest.mark.parametrize("name", TABLE.READERS)
@several
@given(data=st.data())
def test_a_damaged_file_is_refused_by_name_or_still_read(name, data):
    files = list(TABLE.seeds(name).values())
    content, donor = data.draw(st.sampled_from(files)), data.draw(st.sampled_from(files))
    for damage in data.draw(st.lists(damages(), min_size=1, max_size=3)):
        content = damage(content, donor)
    check(name, content)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the clock of POSIX")
@pytest.mark.parametrize("name", ZIPPED)
@several
@given(data=st.data())
def test_a_damaged_member_of_a_whole_archive_too(name, data):
    """The checksum of the archive is right, so that the damage reaches what lies behind it."""
    members = _members(data.draw(st.sampled_from(list(TABLE.seeds(name).values()))))
    at, donor = data.draw(st.sampled_from(sorted(members))), data.draw(st.sampled_from(sorted(members)))
    for damage in data.draw(st.lists(damages(), min_size=1, max_size=3)):
        members[at] = damage(members[at], members[donor])
    check(name, _zip(members))


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", TABLE.READERS)
def test_the_files_that_are_damaged_are_whole(name, tmp_path):
    for content in TABLE.seeds(name).values():
        assert TABLE.READERS[name].survives(content, tmp_path) is not None
