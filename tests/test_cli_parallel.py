"""What the command line makes of an MPI launcher's environment; the ranks themselves are in tests/mpi."""

import pytest

from gsp_fb.cli import exits, main
from gsp_fb.cli.exits import collective_exit, root_only_output
from gsp_fb.errors import GraphError
from gsp_fb.opening import LAUNCHERS, n_ranks


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch):
    for name in (name for pair in LAUNCHERS for name in pair):
        monkeypatch.delenv(name, raising=False)


def launched(monkeypatch, launcher, rank, size):
    for name, value in zip(launcher, (rank, size), strict=True):
        monkeypatch.setenv(name, str(value))


def test_without_a_launcher_there_is_one_process(monkeypatch):
    assert n_ranks() == 1
    monkeypatch.setenv(LAUNCHERS[0][0], "3")  # half of a launcher is none
    assert n_ranks() == 1


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_every_launcher_is_known(monkeypatch, launcher):
    launched(monkeypatch, launcher, 2, 5)
    assert n_ranks() == 5


def test_only_the_first_rank_speaks(monkeypatch, capfd):
    for rank in (1, 0):
        launched(monkeypatch, LAUNCHERS[0], rank, 2)
        with root_only_output():
            print(f"rank {rank}")
    assert capfd.readouterr().out == "rank 0\n"


@pytest.mark.parametrize("arguments", [("info", "graph.npyd"), ("energy", "texas"), ("models",)])
def test_what_ranks_cannot_share_is_wrong_usage_that_the_first_rank_prints(monkeypatch, capfd, arguments):
    launched(monkeypatch, LAUNCHERS[0], 1, 2)
    with pytest.raises(SystemExit, match=r"^0$"):  # a failing rank would make the launcher end the first one
        main([*arguments])
    launched(monkeypatch, LAUNCHERS[0], 0, 2)
    assert main([*arguments]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert error.count("was started 2 times by an MPI launcher") == 1


def test_one_rank_is_one_process(monkeypatch, capfd):
    launched(monkeypatch, LAUNCHERS[0], 0, 1)
    assert main(["models", "--json"]) == 0
    assert capfd.readouterr().out.startswith("{")


def test_an_error_that_only_one_rank_knows_of_ends_the_job(monkeypatch, capfd):
    ended = []
    monkeypatch.setattr(exits, "abort", ended.append)
    launched(monkeypatch, LAUNCHERS[0], 1, 2)
    with pytest.raises(ZeroDivisionError), root_only_output(), collective_exit():
        1 / 0  # noqa: B018  # the error is what counts
    assert ended == [3]
    assert "rank 1: ZeroDivisionError: division by zero" in capfd.readouterr().err


def test_an_error_of_all_ranks_ends_each_by_itself(monkeypatch):
    monkeypatch.setattr(exits, "abort", lambda code: pytest.fail("the job was ended"))
    launched(monkeypatch, LAUNCHERS[0], 1, 2)
    with pytest.raises(GraphError), collective_exit():
        raise GraphError("known to all")
