"""A write is all or nothing, also when the process is killed in the middle of it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from gsp_fb import _atomic
from gsp_fb._atomic import atomic_write, sha256_file, sweep_stale, write_json

NAMES = ["plain.bin", "with space.bin", "größe-图.bin", "n" * 255]


@pytest.mark.parametrize("name", NAMES)
def test_a_new_file_and_a_replaced_one_hold_what_was_written(name: str, tmp_path: Path) -> None:
    for content in (b"old", b"the new content"):
        with atomic_write(tmp_path / name) as file:
            file.write(content)
        assert (tmp_path / name).read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_nothing_is_seen_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_leaves_the_old_file_and_no_other(error: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write() -> None:
        with atomic_write(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_rename_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_json(tmp_path / "a.json", {})
    assert not list(tmp_path.iterdir())


def test_bytes_reach_the_disk_before_the_name_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, real=real, name=name: (calls.append(name), real(*args))[1])
    write_json(tmp_path / "a.json", [1])
    assert calls == ["fsync", "replace", "fsync"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_follow_the_umask_or_the_old_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_json(tmp_path / "new", 1)
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new").chmod(0o604)
    write_json(tmp_path / "new", 2)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    write_json(tmp_path / "link", {"a": 1})
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "elsewhere" / "file").read_text()) == {"a": 1}


def test_errors_name_the_directory_or_the_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        write_json(tmp_path / "missing" / "a.json", 1)
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        write_json(tmp_path, 1)


def test_errors_are_those_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as refused:
        write_json(tmp_path, 1)
    assert (refused.value.errno, refused.value.filename) == (errno.EISDIR, str(tmp_path))
    assert refused.value.strerror == os.strerror(errno.EISDIR)
    with pytest.raises(FileNotFoundError) as refused_too:
        write_json(tmp_path / "missing" / "a.json", 1)
    assert refused_too.value.errno == errno.ENOENT
    assert refused_too.value.strerror == "no such directory"
    assert refused_too.value.filename == str(tmp_path / "missing")


def test_text_is_utf8_with_the_same_line_ends_on_every_system(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.txt", mode="w") as file:
        assert file.encoding == "utf-8"
        file.write("größe\n")
    assert (tmp_path / "a.txt").read_bytes() == "größe\n".encode()


def test_a_temporary_file_of_another_is_never_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_atomic.secrets, "token_hex", lambda size: "ab" * size)
    other = tmp_path / f".gsp_fb-{os.getpid()}-{'ab' * 6}.tmp"
    other.write_bytes(b"another's")
    for mode in ("wb", "w"):
        with pytest.raises(FileExistsError):
            _atomic._create(other, mode)
    assert other.read_bytes() == b"another's"


def _fails(number: int) -> Callable[[int], None]:
    def fsync(handle: int) -> None:
        raise OSError(number, os.strerror(number))

    return fsync


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_that_cannot_sync_directories_is_no_error(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", _fails(number))
    before = set(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else set()
    _atomic._sync_directory(tmp_path)
    after = set(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else set()
    assert len(after) == len(before), "the directory stays open"


def test_a_disk_that_fails_to_sync_a_directory_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", _fails(errno.EIO))
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        _atomic._sync_directory(tmp_path)


def test_windows_opens_no_directory_and_signals_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_atomic, "os", SimpleNamespace(name="nt"))  # anything else it calls is missing here
    _atomic._sync_directory(tmp_path)
    assert not _atomic._is_alive(os.getpid())


@pytest.mark.parametrize(
    ("error", "alive"), [(PermissionError, True), (ProcessLookupError, False), (OverflowError, False)]
)
def test_a_process_of_another_user_is_alive(
    error: type[Exception], alive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(pid: int, signal: int) -> None:
        assert (pid, signal) == (7, 0)
        raise error

    monkeypatch.setattr(os, "kill", kill)
    assert _atomic._is_alive(7) is alive


def test_json_is_readable_and_refuses_what_json_has_not(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"größe": [1, 2.5, None]})
    assert "größe" in (tmp_path / "a.json").read_text(encoding="utf-8")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "größe": [\n    1,\n    2.5,\n    null\n  ]\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", float("nan"))
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"größe": [1, 2.5, None]}


def test_sha256_is_that_of_the_content(tmp_path: Path) -> None:
    content = random.Random(0).randbytes(3_000_000)
    (tmp_path / "a").write_bytes(content)
    assert sha256_file(tmp_path / "a") == hashlib.sha256(content).hexdigest()


WRITER = """
    import importlib.util, sys
    spec = importlib.util.spec_from_file_location("atomic", sys.argv[1])
    atomic = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(atomic)
    print("ready", flush=True)
    for byte in range(1, 256):
        with atomic.atomic_write(sys.argv[2]) as file:
            for _ in range(64):
                file.write(bytes([byte]) * 4096)
"""


def _kill_a_writer(path: Path, delay: float) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), _atomic.__file__, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(delay)
        process.kill()


def _age(path: Path, days: float) -> None:
    then = time.time() - days * 86400
    os.utime(path, (then, then))


def test_a_killed_writer_leaves_the_old_or_the_new_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "große Datei.bin"
    path.write_bytes(bytes(64 * 4096))
    rng = random.Random(1)
    for _ in range(30):
        _kill_a_writer(path, rng.uniform(0.0, 0.03))
        content = path.read_bytes()
        assert len(content) == 64 * 4096
        assert len(set(content)) == 1
    left = [temp for temp in tmp_path.iterdir() if temp != path]
    assert left, "no kill fell into a write, so nothing was tested"
    assert sweep_stale(tmp_path) == []
    for temp in left:
        _age(temp, 1.1)
    write_json(tmp_path / "another", 1)
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "another"}


def test_sweep_keeps_what_is_young_alive_or_not_ours(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    dead = process.pid
    kept = [f".gsp_fb-{os.getpid()}-ab.tmp", f".gsp_fb-{dead}-xyz.tmp", f"gsp_fb-{dead}-ab.tmp", ".gsp_fb-1-ab.tmp"]
    for name in (*kept, f".gsp_fb-{dead}-ab.tmp", f".gsp_fb-{10**12}-ab.tmp"):
        (tmp_path / name).touch()
        _age(tmp_path / name, 2)
    (tmp_path / f".gsp_fb-{dead}-cd.tmp").touch()
    assert {p.name for p in sweep_stale(tmp_path)} == {f".gsp_fb-{dead}-ab.tmp", f".gsp_fb-{10**12}-ab.tmp"}
    assert {p.name for p in tmp_path.iterdir()} == {*kept, f".gsp_fb-{dead}-cd.tmp"}


def _stale(folder: Path) -> Path:
    """Return the name that a temporary file of a dead process would have."""
    return folder / f".gsp_fb-{10**12}-ab.tmp"


def test_sweep_takes_folders_too_and_says_only_what_it_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _stale(tmp_path).mkdir()
    (_stale(tmp_path) / "part").touch()
    _age(_stale(tmp_path), 2)
    assert sweep_stale(tmp_path) == [_stale(tmp_path)]
    assert not list(tmp_path.iterdir())

    _stale(tmp_path).touch()
    _age(_stale(tmp_path), 2)
    monkeypatch.setattr(Path, "unlink", lambda self: (_ for _ in ()).throw(PermissionError))
    assert sweep_stale(tmp_path) == []
    assert _stale(tmp_path).exists()


def test_a_file_that_another_process_swept_first_is_not_ours_to_name(tmp_path: Path) -> None:
    assert not _atomic._is_stale(_stale(tmp_path), time.time())
    assert not _atomic._removed(_stale(tmp_path))


@pytest.mark.parametrize(("age", "swept"), [(10.0, False), (30.0, True)])
def test_how_old_is_stale_can_be_given(age: float, swept: bool, tmp_path: Path) -> None:
    _stale(tmp_path).touch()
    _age(_stale(tmp_path), age / 86400)
    assert bool(sweep_stale(str(tmp_path), older_than=20.0)) is swept
