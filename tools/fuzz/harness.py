"""One fuzzing process of one reader: ``python -m tools.fuzz.harness READER FOLDER [libFuzzer options]``.

Atheris counts the edges of our readers and of the parsers of the standard library that they call. Checksums would
keep every mutation from what lies behind them, so here, and only here, zip and gzip do not compare them.
"""

from __future__ import annotations

import resource
import sys
import warnings
from importlib import import_module
from pathlib import Path

import atheris

MAX_FILE_BYTES = 2**30
# Checksum and length at the end of gzip data.
TRAILER_BYTES = 8
# What is instrumented: Python code; the compiled parsers behind it run as they are.
INCLUDED = ["gsp_fb", "zipfile", "gzip", "json", "csv", "pickletools"]


def _trust_checksums() -> None:
    zipfile, gzip = import_module("zipfile"), import_module("gzip")
    zipfile.ZipExtFile._update_crc = lambda self, newdata: None
    gzip._GzipReader._read_eof = lambda self: self._fp.read(TRAILER_BYTES)


def main() -> None:
    """Fuzz until libFuzzer's own limits end it; a finding ends the process and leaves its input in the folder."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    with atheris.instrument_imports(include=INCLUDED):
        readers = import_module("tools.fuzz.readers")
        reader = readers.READERS[name]
        for content in readers.seeds(name).values():  # brings in what a reader imports when it is called
            reader.survives(content, folder)
    _trust_checksums()
    warnings.simplefilter("error")
    atheris.Setup([sys.argv[0], *sys.argv[3:]], lambda content: reader.survives(content, folder))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
