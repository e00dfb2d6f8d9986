"""Kill training and searching until they are through, and compare with uninterrupted runs."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from gsp_fb import Graph
from gsp_fb.nn import TrainConfig, build, read_checkpoint, search, train
from tools.chaos.killing import Tally, ended, forked, sweep_after_a_day, temporary_files

__all__ = ["kill_searching", "kill_training"]

CONFIG = {"lr": 0.02, "epochs": 60, "patience": 60, "checkpoint_every": 3}
SPACE = {"lr": [0.01, 0.02, 0.05, 0.1], "hidden": [4, 8, 16]}
N_TRIALS = 12


def toy(n_nodes: int = 40) -> Any:
    """Return a small data set, the same in every process."""
    rng = np.random.default_rng(0)
    y = np.arange(n_nodes) % 2
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, n_nodes, (4 * n_nodes, 2)).tolist() if pair[0] != pair[1]}
    split = SimpleNamespace(train=np.arange(0, 20), val=np.arange(20, 30), test=np.arange(30, n_nodes))
    graph, x = Graph.from_edges(sorted(pairs), n_nodes=n_nodes), rng.normal(size=(n_nodes, 6)) + y[:, None]
    return SimpleNamespace(name="toy", graph=graph, x=x, y=y, splits=(split,))


def _train(folder: Path, model: str, seed: int) -> None:
    torch.set_num_threads(1)
    ds = toy()
    net = build(model, ds, hidden=8, dropout=0.4, seed=seed)
    train(net, ds, ds.splits[0], TrainConfig(**CONFIG), directory=folder)


def _search(folder: Path) -> Any:
    torch.set_num_threads(1)
    ds = toy()
    few = TrainConfig(epochs=8)
    return search("gcn", ds, ds.splits, folder, n_trials=N_TRIALS, sampler="random", space=SPACE, config=few)


def _killed_until_done(work: Callable[[], None], seconds: tuple[float, float], kills: int, rng: Any) -> int:
    """Start ``work`` again and again, killing each start at random; return the kills until one got through."""
    done = 0
    while True:
        pid = forked(work)
        if done < kills:
            time.sleep(rng.uniform(*seconds))
        finished, status = os.waitpid(pid, os.WNOHANG if done < kills else 0)
        if finished:
            if status:
                raise AssertionError(f"a start after {done} kills ended with status {status}")
            return done
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        done += 1


def _same_run(whole: Path, broken: Path) -> bool:
    metrics = [(folder / "metrics.csv").read_bytes() for folder in (whole, broken)]
    one, other = (read_checkpoint(folder).tensors for folder in (whole, broken))
    return metrics[0] == metrics[1] and one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def kill_training(folder: Path, kills: int, rng: random.Random) -> Tally:
    """Kill training runs; each that gets through must equal, bit by bit, an uninterrupted one."""
    tally = Tally("training", note="every run that got through is bit-equal to an unbroken one")
    number = 0
    while tally.kills < kills:
        model, number = ("fb-gcn", "fb-gat")[number % 2], number + 1
        whole, broken = folder / f"whole{number}", folder / f"broken{number}"
        if ended(forked(partial(_train, whole, model, number))):
            raise AssertionError("an unbroken run failed")
        left = min(kills - tally.kills, 15)
        tally.kills += _killed_until_done(partial(_train, broken, model, number), (0.02, 0.5), left, rng)
        tally.saves += 1
        tally.hit += len(temporary_files(broken))
        tally.lost += not _same_run(whole, broken)
        tally.stale += len(sweep_after_a_day(broken))
    return tally


def _finished(folder: Path) -> list[tuple[int, list[float]]]:
    """Return number and scores of every finished trial of a journal; a torn last line is left out."""
    lines = (folder / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    entries = [json.loads(line.partition(b" ")[2]) for line in lines]
    return [(entry["number"], entry["scores"]) for entry in entries if entry["op"] == "scores"]


def kill_searching(folder: Path, kills: int, rng: random.Random) -> Tally:
    """Kill searches; a trial once finished must stay as it is, and the search must come to its number of trials."""
    tally, number = Tally("searching", note="finished trials stay, none is run again"), 0
    while tally.kills < kills:
        number += 1
        place, before = folder / f"search{number}", []
        while True:
            pid = forked(partial(_search, place))
            if tally.kills < kills:
                time.sleep(rng.uniform(0.05, 1.0))
            finished, status = os.waitpid(pid, os.WNOHANG if tally.kills < kills else 0)
            if finished:
                break
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            tally.kills += 1
            now = _finished(place) if (place / "journal.jsonl").exists() else []
            tally.lost += now[: len(before)] != before
            before = now
        tally.lost += status != 0 or len(_finished(place)) != N_TRIALS
        tally.saves += len(_finished(place))
        tally.stale += len(sweep_after_a_day(place))
    return tally
