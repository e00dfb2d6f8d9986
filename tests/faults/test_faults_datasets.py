"""Rows 76-81 of the catalogue of faults: foreign pickles, downloads that go wrong, offline mode, caches."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gsp_fb import datasets
from gsp_fb.datasets import fetch as fetch_module
from gsp_fb.datasets import loading
from gsp_fb.datasets.fetch import fetch
from gsp_fb.datasets.registry import SourceFile
from gsp_fb.errors import DownloadError, FormatError, IntegrityError

CONTENT = b"node_id\tnode_id\n" + b"".join(b"%d\t%d\n" % (i, i + 1) for i in range(2_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT in the way that the path asks for: /truncated/..., /corrupted/..., /good/..."""

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        getattr(self, f"send_{self.path.split('/')[1]}")()

    def answer(self, status: int, body: bytes, **headers: object) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": len(body), "Content_Type": "text/plain", **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def send_good(self) -> None:
        self.answer(200, CONTENT)

    def send_corrupted(self) -> None:
        self.answer(200, CONTENT[:-5] + b"wrong")

    def send_truncated(self) -> None:
        self.answer(200, CONTENT[:1000], Content_Length=len(CONTENT))

    def send_cut(self) -> None:
        """Truncated in a way that only the hash shows: the header agrees with what came."""
        self.answer(200, CONTENT[:1000])

    def send_page(self) -> None:
        self.answer(200, b"<!DOCTYPE html><p>Sign in", Content_Type="text/html; charset=utf-8")

    def send_missing(self) -> None:
        self.answer(404, b"<html>404", Content_Type="text/html")

    def send_broken(self) -> None:
        self.answer(500, b"oops")

    def send_insecure(self) -> None:
        self.answer(302, b"", Location="http://files.example/texas.txt")

    def send_moved(self) -> None:
        self.answer(302, b"", Location="/good/elsewhere.txt")

    def send_stalled(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:1000])
        self.wfile.flush()
        self.server.closing.wait(60)


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is what these tests are about."""


@pytest.fixture
def server():
    with Server(("127.0.0.1", 0), Handler) as running:
        running.requests, running.closing = [], threading.Event()
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    for name in ("GSP_FB_OFFLINE", "GSP_FB_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(fetch_module, "TIMEOUT_SECONDS", 0.5)


def source(server: Server, manner: str, sha256: str | None = SHA256) -> SourceFile:
    return SourceFile("edges", f"http://127.0.0.1:{server.server_address[1]}/{manner}/edges.txt", sha256)


def files_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*") if path.is_file())


def payload(target: Path) -> bytes:
    class Payload:
        def __reduce__(self) -> tuple[object, tuple[str, str]]:
            return open, (str(target), "w")

    return pickle.dumps(Payload(), protocol=2)


def put_planetoid(cache: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, sha256: str | None) -> None:
    row = datasets.info("cora")
    sources = tuple(replace(file, sha256=sha256 if file.role == "allx" else None) for file in row.sources)
    monkeypatch.setattr(loading, "info", {"cora": replace(row, sources=sources)}.__getitem__)
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    for file in sources:
        (cache / file.key).parent.mkdir(parents=True, exist_ok=True)
        (cache / file.key).write_bytes(content)


def test_fault_076_foreign_global_in_a_planetoid_pickle(cache, tmp_path, monkeypatch):
    content = payload(tmp_path / "executed")
    put_planetoid(cache, content, monkeypatch, hashlib.sha256(content).hexdigest())
    with pytest.raises(FormatError, match=r"ind\.cora\.allx: the pickle refers to (io|__builtin__|_io)\.open.*refused"):
        datasets.load("cora")
    assert not (tmp_path / "executed").exists()


def test_fault_076_the_hash_is_checked_before_anything_is_unpickled(cache, tmp_path, monkeypatch):
    put_planetoid(cache, payload(tmp_path / "executed"), monkeypatch, SHA256)
    with pytest.raises(IntegrityError, match=SHA256):
        datasets.load("cora")
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("manner", "error", "message"),
    [
        ("truncated", DownloadError, "IncompleteRead|broken"),
        ("cut", IntegrityError, f"expected {SHA256}"),
        ("corrupted", IntegrityError, f"has sha256 {hashlib.sha256(CONTENT[:-5] + b'wrong').hexdigest()}"),
        ("page", DownloadError, "returned a web page"),
        ("missing", DownloadError, "404"),
        ("broken", DownloadError, "500"),
        ("insecure", DownloadError, "http://files.example/texas.txt is refused: .*https only"),
        ("stalled", DownloadError, "timed out"),
    ],
)
@pytest.mark.parametrize("old", [None, b"what an older version left"])
@pytest.mark.usefixtures("impatient")
def test_fault_077_downloads_that_go_wrong(*, manner, error, message, old, server, cache):
    file = source(server, manner)
    path = cache / file.key
    if old is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(old)
    with pytest.raises(error, match=message) as refused:
        fetch(file, hint="; or put it there by hand")
    assert isinstance(refused.value, OSError)
    assert files_in(cache) == ([] if old is None else ["edges.txt"])
    assert old is None or path.read_bytes() == old


@pytest.mark.parametrize("manner", ["truncated", "page", "missing", "broken", "insecure", "stalled"])
@pytest.mark.usefixtures("impatient")
def test_fault_077_nothing_is_trusted_on_first_use_of_a_failed_download(manner, server, cache):
    with pytest.raises(DownloadError):
        fetch(source(server, manner, sha256=None))
    assert files_in(cache) == []


def test_fault_077_no_network_says_what_to_do(cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        file = SourceFile("edges", f"http://127.0.0.1:{unused.getsockname()[1]}/edges.txt", SHA256)
        with pytest.raises(DownloadError, match=r"could not be downloaded .*; or put it there by hand"):
            fetch(file, hint="; or put it there by hand")
    assert files_in(cache) == []


@pytest.mark.parametrize(
    "url", ["http://files.example/x", "ftp://files.example/x", "file://{here}/x", "https://{here}/x", "{here}/x"]
)
def test_fault_077_only_https_is_asked_for(url, cache, tmp_path):
    (tmp_path / "x").write_text("a file of this machine")
    with pytest.raises(DownloadError, match="https only"):
        fetch(SourceFile("edges", url.format(here=tmp_path)))
    assert files_in(tmp_path) == ["x"]
    assert not cache.exists()


def test_fault_077_a_killed_download_leaves_nothing_under_the_good_name(server, cache):
    file = source(server, "stalled")
    process = start(
        f"""
        from gsp_fb.datasets.fetch import fetch
        from gsp_fb.datasets.registry import SourceFile
        fetch({file!r})
        """
    )
    while not server.requests and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (cache / file.key).exists()
    assert all(name.startswith(".gsp_fb-") for name in files_in(cache))


def test_fault_077_a_good_download_is_whole_and_asked_for_once(server, cache):
    file = source(server, "moved")
    assert fetch(file).read_bytes() == CONTENT
    assert fetch(file) == cache / file.key
    assert server.requests == ["/moved/edges.txt", "/good/elsewhere.txt"]
    assert files_in(cache) == ["edges.txt"]


def start(script: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_fault_078_offline_opens_no_socket_and_names_file_hash_and_directory(cache, tmp_path):
    script = """
        import os, sys
        from gsp_fb import datasets
        from gsp_fb.errors import DownloadError
        sys.addaudithook(lambda event, args: event.startswith("socket.") and os._exit(99))
        for name in ("texas", "MUTAG"):
            try:
                datasets.load(name)
            except DownloadError as refused:
                print(refused)
        assert "pooch" not in sys.modules
    """
    process = start(script, GSP_FB_OFFLINE="1", GSP_FB_DATA_DIR=str(tmp_path / "data"))
    output, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    for name, message in zip(("texas", "MUTAG"), output.splitlines(), strict=True):
        row = datasets.info(name)
        assert f"put {name}.npz (sha256 {row.npz_sha256}) into {tmp_path / 'data'}" in message
        assert row.sources[0].url in message
        assert str((cache / row.sources[0].key).parent) in message
    assert not cache.exists()


def test_fault_078_offline_uses_what_the_cache_holds(server, monkeypatch):
    file = source(server, "good")
    fetch(file)
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    assert fetch(file).read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_fault_079_cache_path_with_spaces_and_unicode(server, tmp_path, monkeypatch):
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path / "mein Caché 数据"))
    assert fetch(source(server, "good")).read_bytes() == CONTENT
    assert files_in(tmp_path) == ["edges.txt"]


@pytest.mark.parametrize("where", ["a file", "read-only"])
def test_fault_079_cache_that_cannot_be_written(where, server, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("not a directory")
    unwritable = tmp_path / "taken" if where == "a file" else Path("/proc/self")
    if not unwritable.exists():
        pytest.skip("no directory here that even root cannot write to")
    monkeypatch.setenv("GSP_FB_CACHE", str(unwritable))
    with pytest.raises(OSError, match=f"cache directory {re.escape(str(unwritable))}.*set GSP_FB_CACHE"):
        fetch(source(server, "good"))
    assert server.requests == []


def test_fault_079_full_disk_leaves_nothing_behind(server, cache):
    pytest.importorskip("resource")
    file = source(server, "good")
    process = start(
        f"""
        import resource, signal
        from gsp_fb.datasets.fetch import fetch
        from gsp_fb.datasets.registry import SourceFile
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            fetch({file!r})
        except OSError as refused:
            print(refused)
        """,
        PYTHONDONTWRITEBYTECODE="1",
        COVERAGE_PROCESS_CONFIG="",  # its figures would not fit on this disk either
    )
    output, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert "File too large" in output
    assert str(cache) in output
    assert files_in(cache) == []


def test_fault_080_eight_processes_fetch_the_same_fifty_keys(server, cache):
    """Half of the keys have a known hash; the others are trusted on first use, which writes a second file each."""
    base = source(server, "good").url.removesuffix("edges.txt")
    script = f"""
        from gsp_fb.datasets.fetch import fetch
        from gsp_fb.datasets.registry import SourceFile
        for k in range(50):
            path = fetch(SourceFile("edges", {base!r} + f"{{k}}.txt", [{SHA256!r}, None][k % 2]))
            assert path.stat().st_size == {len(CONTENT)}
    """
    processes = [start(script) for _ in range(8)]
    ended = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, ended
    kept = sorted(path for path in cache.rglob("*.txt"))
    assert len(kept) == 50
    assert all(path.read_bytes() == CONTENT for path in kept)
    sidecars = sorted(cache.rglob("*.sha256"))
    assert len(sidecars) == 25
    assert all(path.read_text().strip() == SHA256 for path in sidecars)
    assert len(files_in(cache)) == len(kept) + len(sidecars)


@pytest.mark.parametrize("sha256", [SHA256, None], ids=["known", "first use"])
def test_fault_081_a_cached_file_that_was_damaged_is_fetched_again(sha256, server):
    file = source(server, "good", sha256)
    path = fetch(file)
    path.write_bytes(CONTENT[:-1] + b"?")
    assert fetch(file).read_bytes() == CONTENT
    assert len(server.requests) == 2


@pytest.mark.parametrize("sha256", [SHA256, None], ids=["known", "first use"])
def test_fault_081_offline_a_damaged_file_is_refused(sha256, server, monkeypatch):
    file = source(server, "good", sha256)
    path = fetch(file)
    path.write_bytes(b"damaged")
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    actual = hashlib.sha256(b"damaged").hexdigest()
    with pytest.raises(IntegrityError, match=f"{actual}, expected {SHA256}; remove the file"):
        fetch(file)


def test_fault_081_what_was_trusted_first_must_stay_the_same(server, cache):
    """The hash recorded at the first download holds when the file is lost and the server has another by then."""
    file = source(server, "corrupted", sha256=None)
    path = cache / file.key
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch(file) == path
    path.unlink()
    with pytest.raises(IntegrityError, match=f"expected {SHA256}"):
        fetch(file)
    assert files_in(cache) == ["edges.txt.sha256"]


def test_fault_081_a_damaged_npz_file_is_refused(tmp_path):
    (tmp_path / "texas.npz").write_bytes(b"PK damaged")
    with pytest.raises(IntegrityError, match="expected d2591331a9cb8b98"):
        datasets.load("texas", data_dir=tmp_path)


@pytest.mark.parametrize("at_terminal", [True, False])
def test_progress_is_shown_at_a_terminal_and_on_stderr_only(at_terminal, server, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: at_terminal, raising=False)
    fetch(source(server, "good"))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("100%" in shown.err) == at_terminal
