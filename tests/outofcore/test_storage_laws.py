"""The laws of storages in memory and on disk, under a limit that leaves room for a few rows and a few columns."""

import os

import pytest

import gsp_fb as gf
from gsp_fb.outofcore import write_folder
from tests.laws.storage_laws import *  # noqa: F403  # the laws themselves


def _on_disk(path):
    def opened(graph):
        name = path / f"{len(os.listdir(path))}.npyd"
        write_folder(graph, name)
        return gf.open_graph(name, memory=600 * graph.n_nodes + 4000)

    return opened


STORAGES = {"memory": lambda path: lambda graph: graph, "disk": _on_disk}


@pytest.fixture(params=STORAGES)
def stored(request, tmp_path):
    """Return a function that takes a graph in memory to a storage."""
    return STORAGES[request.param](tmp_path)
