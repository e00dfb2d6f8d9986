"""Rows 83-101, 127-133 and 143-149 of the catalogue: training and checkpoints with real files and real processes."""

import hashlib
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gsp_fb import Graph
from gsp_fb._rundir import METRICS_FILE, locked
from gsp_fb.errors import FormatError, GspWarning, IntegrityError, ParameterError, TrainingError
from gsp_fb.nn import (
    MODELS,
    TrainConfig,
    TrainingInterrupted,
    build,
    embed,
    predict,
    read_checkpoint,
    read_metrics,
    search,
    train,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits of POSIX")

# What a child process runs: the same data, model and configuration as toy() and CONFIG here.
PRELUDE = """
import json, os, resource, signal, sys, time, warnings
from types import SimpleNamespace
import numpy as np, torch
torch.set_num_threads(1)
from gsp_fb import Graph
from gsp_fb.nn import TrainConfig, TrainingInterrupted, build, read_checkpoint, search, train
from gsp_fb.nn.checkpoint import write_checkpoint
from pathlib import Path
def toy(n=40):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    pairs = sorted({tuple(sorted(p)) for p in rng.integers(0, n, (4 * n, 2)).tolist() if p[0] != p[1]})
    x = rng.normal(size=(n, 6)) + y[:, None]
    split = SimpleNamespace(train=np.arange(0, 20), val=np.arange(20, 30), test=np.arange(30, n))
    return SimpleNamespace(name="toy", graph=Graph.from_edges(pairs, n_nodes=n), x=x, y=y, splits=(split,))
ds = toy()
CONFIG = dict(lr=0.02, epochs=60, patience=60, checkpoint_every=4)
def run(folder, name="fb-gcn", **options):
    model = build(name, ds, hidden=8, dropout=0.4, seed=1, **options)
    return train(model, ds, ds.splits[0], TrainConfig(**CONFIG), directory=folder)
"""
namespace: dict = {}
exec(PRELUDE.replace("torch.set_num_threads(1)", ""), namespace)
toy, CONFIG = namespace["toy"], namespace["CONFIG"]


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def ds():
    return toy()


def run(ds, folder, name="fb-gcn", **options):
    config = TrainConfig(**{**CONFIG, **options.pop("config", {})})
    model = build(name, ds, **{"hidden": 8, "dropout": 0.4, "seed": 1, **options})
    return train(model, ds, ds.splits[0], config, directory=folder)


def script(body, *arguments, **options):
    command = [sys.executable, "-c", PRELUDE + body, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def finished(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def tensor_file(folder):
    return folder / json.loads((folder / "checkpoint.json").read_text())["tensors"]


def test_fault_083_kill_while_saving_leaves_a_whole_checkpoint(tmp_path):
    body = """
import random
folder, chance = Path(sys.argv[1]), random.Random(0)
facts = {"recipe": {}, "config": {}, "data": {}, "best_epoch": 0}
latest = 0
for kill in range(25):
    pid = os.fork()
    if pid == 0:
        for epoch in range(latest + 1, 10**6):
            write_checkpoint(folder, {"w": torch.full((5000,), float(epoch))}, {"epoch": epoch, **facts})
    time.sleep(chance.uniform(0.02, 0.08))
    os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
    if (folder / "checkpoint.json").exists():
        stored = read_checkpoint(folder)
        assert stored.facts["epoch"] >= latest, "went back"
        assert bool((stored.tensors["w"] == stored.facts["epoch"]).all()), "torn"
        latest = stored.facts["epoch"]
print(latest)
"""
    assert int(finished(script(body, tmp_path))) > 5


@pytest.mark.parametrize("name", ["fb-gcn", "graphsaint", "fb-gin-eps"])
def test_fault_084_a_run_killed_again_and_again_equals_an_unbroken_one(name, tmp_path):
    options = {"graphsaint": {"n_roots": 5, "coverage": 5}}.get(name, {})
    body = f"""
import random, shutil
if "gin" in {name!r}:
    ds.graph_indptr, ds.node_label = np.arange(0, 41, 4), np.arange(40) % 3
    inside = [(i, j) for i, j in zip(*ds.graph.adjacency.nonzero()) if i // 4 == j // 4 and i < j]
    ds.graph = Graph.from_edges(sorted(set(inside) | set((k, k + 1) for k in range(0, 40, 4))), n_nodes=40)
    ds.y = np.arange(10) % 2
    ds.splits = (SimpleNamespace(train=np.arange(6), val=[6, 7], test=[8, 9]),)
    del ds.x
whole, broken = Path(sys.argv[1], "whole"), Path(sys.argv[1], "broken")
def child(folder):
    pid = os.fork()
    if pid == 0:
        run(folder, {name!r}, **{options!r})
        os._exit(0)
    return pid
started = time.monotonic()
assert os.waitpid(child(whole), 0)[1] == 0
chance, kills, patience = random.Random(1), 0, (time.monotonic() - started) / 20
while kills < 20:
    # A run that got through too soon starts anew and is given less time.
    shutil.rmtree(broken, ignore_errors=True)
    kills, patience = 0, patience / 2
    while kills < 20:
        pid = child(broken)
        time.sleep(chance.uniform(0.1, 1.0) * patience)
        if os.waitpid(pid, os.WNOHANG)[0]:
            break
        os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0); kills += 1
status = os.waitpid(child(broken), 0)[1]
assert status == 0
first, second = (Path(folder, "metrics.csv").read_bytes() for folder in (whole, broken))
assert first == second, "metrics differ"
one, two = (read_checkpoint(folder) for folder in (whole, broken))
assert all(torch.equal(one.tensors[k], two.tensors[k]) for k in one.tensors), "weights differ"
print(kills, len(first.splitlines()))
"""
    kills, lines = map(int, finished(script(body, tmp_path)).split())
    assert kills == 20
    assert lines > 20


def test_fault_084_resuming_a_finished_run_changes_nothing(ds, tmp_path):
    first = run(ds, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    again = run(ds, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert again.scores == first.scores
    assert again.history == first.history


def interrupted_at(ds, folder, epoch, monkeypatch, **options):
    """Stop a run after ``epoch`` epochs as Ctrl-C would."""
    from gsp_fb.nn.runstate import Run

    record = Run.record

    def and_interrupt(self, row):
        record(self, row)
        if self.epoch == epoch:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "record", and_interrupt)
        with pytest.raises(TrainingInterrupted) as stopped:
            run(ds, folder, **options)
    return stopped


def test_fault_085_a_torn_last_line_is_dropped_on_resume(ds, tmp_path, monkeypatch):
    whole = run(ds, tmp_path / "whole")
    interrupted_at(ds, tmp_path / "torn", 11, monkeypatch)
    with (tmp_path / "torn" / METRICS_FILE).open("a") as file:
        file.write("12,0.5,0.")
    assert [row["epoch"] for row in read_metrics(tmp_path / "torn")] == [str(k) for k in range(1, 12)]
    assert run(ds, tmp_path / "torn").history == whole.history
    assert (tmp_path / "torn" / METRICS_FILE).read_bytes() == (tmp_path / "whole" / METRICS_FILE).read_bytes()


def test_fault_086_a_full_disk_stops_training_and_keeps_the_last_checkpoint(ds, tmp_path):
    body = """
CONFIG.update(epochs=150, patience=150)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    run(sys.argv[1])
except OSError as full:
    print(type(full).__name__, full.errno)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
    long = {"epochs": 150, "patience": 150}
    whole = run(ds, tmp_path / "whole", config=long)
    limit = max(tensor_file(tmp_path / "whole").stat().st_size, 4000) + 100
    assert (tmp_path / "whole" / METRICS_FILE).stat().st_size > limit
    folder = tmp_path / "full"
    assert finished(script(body, folder, limit)).split()[0] == "OSError"
    stored = read_checkpoint(folder)
    assert 0 < stored.facts["epoch"] < 150
    assert not list(folder.glob("*.tmp"))
    assert run(ds, folder, config=long).history == whole.history


def test_fault_087_a_pickled_checkpoint_is_refused_unread(tmp_path):
    class Payload:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    for name in ("model.pt", "model.pth", "checkpoint.safetensors"):
        (tmp_path / name).write_bytes(pickle.dumps(Payload()))
        with pytest.raises(FormatError, match="convert them with safetensors"):
            read_checkpoint(tmp_path / name)
    (tmp_path / "checkpoint.json").write_bytes(pickle.dumps(Payload()))
    with pytest.raises(FormatError):
        read_checkpoint(tmp_path)
    assert not (tmp_path / "executed").exists()


def _truncated(content):
    return content[: len(content) // 2]


def _lying_header(content):
    return (2**40).to_bytes(8, "little") + content[8:]


def _flipped_bit(content):
    return content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]


@pytest.mark.parametrize("damage", [_truncated, _lying_header, _flipped_bit, lambda content: b""])
def test_fault_088_damaged_tensors_are_noticed(ds, tmp_path, damage):
    run(ds, tmp_path)
    file = tensor_file(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(IntegrityError, match="sha256"):
        read_checkpoint(tmp_path)
    with pytest.raises(IntegrityError, match="sha256"):
        run(ds, tmp_path)


def test_fault_088_missing_tensors_and_broken_sidecars_are_named(ds, tmp_path):
    run(ds, tmp_path)
    sidecar = tmp_path / "checkpoint.json"
    facts = json.loads(sidecar.read_text())
    tensor_file(tmp_path).unlink()
    with pytest.raises(IntegrityError, match="missing"):
        read_checkpoint(tmp_path)
    for broken, message in (
        ("{", "not JSON"),
        ("[]", "lacks format"),
        (json.dumps({**facts, "tensors": "../../etc/passwd"}), "cannot read it"),
        (json.dumps({**facts, "format": 99}), "format 99"),
    ):
        sidecar.write_text(broken)
        with pytest.raises(FormatError, match=message):
            read_checkpoint(tmp_path)
    with pytest.raises(FormatError, match="does not exist"):
        read_checkpoint(tmp_path / "nothing.json")


def test_fault_089_a_directory_of_another_run_lists_the_differences(ds, tmp_path):
    run(ds, tmp_path)
    other = SimpleNamespace(**{**vars(ds), "graph": Graph.from_edges([(0, 1)], n_nodes=40)})
    for data, options, message in (
        (ds, {"name": "gcn"}, "recipe.model: fb-gcn stored, gcn given"),
        (ds, {"gamma": 2.0}, "recipe.options.gamma: None stored, 2.0 given"),
        (ds, {"hidden": 9}, "recipe.options.hidden: 8 stored, 9 given"),
        (ds, {"seed": 2}, "recipe.seed: 1 stored, 2 given"),
        (ds, {"config": {"lr": 0.5}}, "config.lr: 0.02 stored, 0.5 given"),
        (other, {}, "data.graph: .* stored"),
    ):
        with pytest.raises(ParameterError, match=message):
            run(data, tmp_path, **options)


@pytest.mark.parametrize("folder", [True, False])
def test_fault_090_a_loss_that_is_not_finite_stops_training_with_the_best_state(ds, tmp_path, folder):
    huge = SimpleNamespace(**{**vars(ds), "x": ds.x * 1e37})
    model = build("fb-gcn", huge, hidden=8)
    config = TrainConfig(lr=1e4, epochs=100, normalize=False, checkpoint_every=1)
    with pytest.raises(TrainingError, match=r"loss is (nan|inf) in epoch \d+ \(lr 10000, largest gradient") as stopped:
        train(model, huge, huge.splits[0], config, directory=tmp_path if folder else None)
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
    epoch = int(re.search(r"epoch (\d+)", str(stopped.value))[1])
    if folder and epoch > 1:
        assert all(bool(torch.isfinite(t).all()) for t in read_checkpoint(tmp_path).group("best").values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": []}, "no training items"),
        ({"val": [0, 25]}, "item 0 is in train and in val; 1 items overlap"),
        ({"test": [21]}, "item 21 is in val and in test"),
        ({"val": [40]}, r"val names item 40; there are items 0\.\.39"),
        ({"train": [-1]}, "train names item -1"),
        ({"val": np.zeros(39, dtype=bool)}, r"val is a mask of shape \(39,\)"),
    ],
)
def test_fault_091_bad_splits_are_refused_before_the_first_epoch(ds, change, message):
    split = SimpleNamespace(**{**vars(ds.splits[0]), **change})
    with pytest.raises(ParameterError, match=message):
        train(build("gcn", ds), ds, split)


@pytest.mark.parametrize(
    ("label", "message"),
    [(-1, "train item 3 has no label"), (5, "3 classes, the model has 2 outputs; item 3 has label 5")],
)
def test_fault_091_labels_outside_the_classes_are_named(ds, label, message):
    model = build("gcn", ds)
    ds.y[3] = label
    with pytest.raises(ParameterError, match=message):
        train(model, ds, ds.splits[0])


def test_fault_091_masks_and_indices_mean_the_same(ds):
    masks = SimpleNamespace(**{k: np.isin(np.arange(40), v) for k, v in vars(ds.splits[0]).items()})
    results = [train(build("gcn", ds), ds, split, TrainConfig(epochs=3)) for split in (ds.splits[0], masks)]
    assert results[0].history == results[1].history


def test_fault_092_a_class_without_training_items_is_named(ds):
    ds.y[35] = 2
    with pytest.warns(GspWarning, match="class 2 has no training item"):
        train(build("gcn", ds), ds, ds.splits[0], TrainConfig(epochs=1))


@pytest.mark.parametrize(
    "bad",
    [
        {"lr": 0}, {"lr": -0.1}, {"lr": float("nan")}, {"lr": "x"}, {"epochs": 0}, {"epochs": 1.5}, {"patience": 0},
        {"weight_decay": -1}, {"weight_decay": float("inf")}, {"monitor": "accuracy"}, {"metric": "f1"},
        {"batch_size": 0}, {"checkpoint_every": 0}, {"normalize": "row"},
    ],
)  # fmt: skip
def test_fault_093_training_values_out_of_range(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        TrainConfig(**bad)


@pytest.mark.parametrize("bad", [{"dropout": 1.0}, {"dropout": -0.1}, {"dropout": float("nan")}, {"layers": 0}])
def test_fault_093_model_values_out_of_range(ds, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        build("fb-gcn", ds, **bad)


def test_fault_094_alphas_stay_within_their_bounds_and_their_course_is_recorded(ds):
    result = run(ds, None, config={"lr": 5.0, "epochs": 40})
    course = [
        row[f"alpha_{channel}_{layer}"] for row in result.history for channel in ("low", "high") for layer in (1, 2)
    ]
    assert len(course) == 4 * result.epochs
    assert all(0.0 <= alpha <= 2.0 for alpha in course)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_fault_095_an_absent_device_is_no_silent_cpu(ds):
    with pytest.raises(ParameterError, match="torch sees no CUDA device"):
        build("gcn", ds, device="cuda")
    with pytest.raises(ParameterError, match="unknown device 'gpu'"):
        build("gcn", ds, device="gpu")


def test_fault_096_no_memory_left_is_a_memory_error_and_the_files_stay(ds, tmp_path, monkeypatch):
    whole = run(ds, tmp_path / "whole")
    interrupted_at(ds, tmp_path / "starved", 9, monkeypatch)
    before = read_checkpoint(tmp_path / "starved").facts
    body = """
from gsp_fb.nn.tasks import NodeTask
def starving(self, model, train):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, resource.RLIM_INFINITY))
    yield torch.ones(10**9), None, None
NodeTask.steps = starving
try:
    run(sys.argv[1])
except MemoryError:
    print("MemoryError")
"""
    assert finished(script(body, tmp_path / "starved")).strip() == "MemoryError"
    assert read_checkpoint(tmp_path / "starved").facts == before
    assert run(ds, tmp_path / "starved").history == whole.history


def test_fault_097_ctrl_c_finishes_the_epoch_and_saves(ds, tmp_path, monkeypatch):
    stopped = interrupted_at(ds, tmp_path, 7, monkeypatch)
    assert "stopped by Ctrl-C after epoch 7" in str(stopped.value)
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert read_checkpoint(tmp_path).facts["epoch"] == 7
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run(ds, tmp_path).history == run(ds, None).history


def test_fault_097_ctrl_c_in_a_process_ends_it_with_130(tmp_path):
    body = """
CONFIG.update(epochs=10**6, patience=10**6, checkpoint_every=10**6)
try:
    run(sys.argv[1])
except KeyboardInterrupt as stopped:
    print(stopped)
    sys.exit(130)
"""
    process = script(body, tmp_path)
    deadline = time.monotonic() + 120
    while len(read_metrics(tmp_path)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "stopped by Ctrl-C after epoch" in out
    assert "Traceback" not in err
    assert read_checkpoint(tmp_path).facts["epoch"] == len(read_metrics(tmp_path))


def test_fault_097_in_another_thread_training_leaves_signals_alone(ds):
    results = []
    worker = threading.Thread(target=lambda: results.append(run(ds, None)))
    worker.start()
    worker.join()
    assert results[0].history == run(ds, None).history


def test_fault_098_one_thread_is_bit_equal_and_two_are_close(ds):
    first, second = run(ds, None), run(ds, None)
    assert first.history == second.history
    torch.set_num_threads(2)
    other = run(ds, None, config={"epochs": 5})
    for ours, theirs in zip(other.history, first.history, strict=False):
        assert ours["train_loss"] == pytest.approx(theirs["train_loss"], rel=1e-5)


@pytest.mark.parametrize("name", ["fb-gcn", "fb-gat", "graphsaint", "fb-gcnii", "fb-gwnn"])
def test_fault_099_global_random_state_is_neither_read_nor_changed(ds, name):
    options = {key: value for key, value in {"n_roots": 5, "coverage": 3}.items() if key in MODELS[name].options}
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # the global state is what the test watches
        random.seed(seed)
        before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002  # as above
        results.append(run(ds, None, name, config={"epochs": 3}, **options).history)
        assert torch.equal(torch.get_rng_state(), before[0])
        assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002  # as above
        assert random.getstate() == before[2]
    assert results[0] == results[1]


def test_fault_100_two_trainings_in_one_directory(ds, tmp_path):
    body = """
from gsp_fb._rundir import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""
    holder = script(body, tmp_path)
    assert holder.stdout.readline().strip() == "held"
    try:
        with pytest.raises(TrainingError, match=f"in use by process {holder.pid}"):
            run(ds, tmp_path)
    finally:
        holder.kill()
        holder.communicate()
    # The dead process left its files behind; its lock is free all the same.
    assert (tmp_path / ".run.pid").exists()
    assert run(ds, tmp_path).epochs > 0
    with locked(tmp_path):
        assert (tmp_path / ".run.pid").read_text().strip() == str(os.getpid())


SPACE = {"lr": [0.01, 0.02, 0.05], "dropout": [0.0, 0.3, 0.6]}


def searched(ds, folder, **options):
    chosen = {"n_trials": 9, "space": SPACE, "config": TrainConfig(epochs=3), "hidden": 4, **options}
    return search(chosen.pop("name", "gcn"), ds, chosen.pop("splits", ds.splits), folder, **chosen)


def test_fault_101_a_killed_search_goes_on_to_the_same_result(ds, tmp_path):
    body = """
module = sys.modules["gsp_fb.nn.search"]
plain, count = module.train_jobs, []
def slow(*arguments, **options):
    count.append(1)
    if len(count) == 2:
        print("second", flush=True)
        time.sleep(600)
    return plain(*arguments, **options)
module.train_jobs = slow
space = {"lr": [0.01, 0.02, 0.05], "dropout": [0.0, 0.3, 0.6]}
search("gcn", ds, ds.splits, sys.argv[1], n_trials=9, space=space, config=TrainConfig(epochs=3), hidden=4)
"""
    process = script(body, tmp_path / "killed")
    assert process.stdout.readline().strip() == "second"
    process.kill()
    process.communicate()
    whole, resumed = searched(ds, tmp_path / "whole"), searched(ds, tmp_path / "killed")
    assert (resumed.n_finished, resumed.n_failed) == (9, 0)
    assert (resumed.trials, resumed.val_score) == (whole.trials, whole.val_score)


def test_fault_101_workers_share_the_trials(ds, tmp_path):
    body = """
space = {"lr": [0.01, 0.02, 0.05], "dropout": [0.0, 0.3, 0.6]}
found = search("gcn", ds, ds.splits, sys.argv[1], n_trials=9, space=space, config=TrainConfig(epochs=30), hidden=4)
print(json.dumps([found.trials, found.val_score]))
"""
    workers = [script(body, tmp_path) for _ in range(2)]
    first, second = (json.loads(finished(worker)) for worker in workers)
    assert first == second
    lines = [json.loads(line.split(" ", 1)[1]) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    scored = [entry["number"] for entry in lines if entry["op"] == "scores"]
    assert sorted(scored) == list(range(9))  # nothing is trained twice


def test_fault_131_a_torn_last_line_of_the_journal_is_dropped_and_reported(ds, tmp_path):
    first = searched(ds, tmp_path, n_trials=4)
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'0123456789abcdef {"op": "sco')
    with pytest.warns(GspWarning, match="last line is torn"):
        again = searched(ds, tmp_path, n_trials=4)
    assert again.trials == first.trials
    with pytest.warns(GspWarning, match="last line is torn"):
        longer = searched(ds, tmp_path, n_trials=5)
    assert longer.trials[:4] == first.trials
    assert searched(ds, tmp_path, n_trials=5).trials == longer.trials


@pytest.mark.parametrize("line", [1, 2, 5])
@pytest.mark.parametrize("garbage", ["garbage", "", '{"op": "trial"}', "\x00\x00"])
def test_fault_131_a_garbage_line_is_named(ds, tmp_path, line, garbage):
    searched(ds, tmp_path, n_trials=4)
    path = tmp_path / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[: line - 1], garbage + "\n", *lines[line - 1 :]]))
    with pytest.raises(FormatError, match=rf"journal.jsonl, line {line}: the checksum"):
        searched(ds, tmp_path, n_trials=4)


@pytest.mark.parametrize(
    ("entry", "message"),
    [({"op": "explode"}, "unknown operation 'explode'"), ({"op": "scores", "number": 77}, "missing or unknown")],
)
def test_fault_131_an_unknown_operation_is_named(ds, tmp_path, entry, message):
    searched(ds, tmp_path, n_trials=2)
    text = json.dumps(entry)
    with (tmp_path / "journal.jsonl").open("a") as file:
        file.write(f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {text}\n")
    with pytest.raises(FormatError, match=rf"line \d+: .*{message}"):
        searched(ds, tmp_path, n_trials=3)


def test_fault_143_a_directory_of_another_search_names_what_differs(ds, tmp_path):
    searched(ds, tmp_path, n_trials=2)
    graph = Graph.from_edges([(0, 1)], n_nodes=40)
    other = SimpleNamespace(train=np.arange(0, 21), val=np.arange(21, 30), test=np.arange(30, 40))
    for data, options, message in (
        (SimpleNamespace(**{**vars(ds), "graph": graph}), {}, "data.graph"),
        (SimpleNamespace(**{**vars(ds), "x": ds.x + 1}), {}, "data.features"),
        (SimpleNamespace(**{**vars(ds), "y": 1 - ds.y}), {}, "data.labels"),
        (ds, {"splits": [other]}, "splits"),
        (ds, {"config": TrainConfig(epochs=4)}, "config.epochs: 3 stored, 4 given"),
        (ds, {"config": TrainConfig(epochs=3, normalize=False)}, "config.normalize"),
        (ds, {"family": "lazy_rw"}, "options.family: None stored, lazy_rw given"),
        (ds, {"name": "fb-gcn"}, "model: gcn stored, fb-gcn given"),
        (ds, {"space": {"lr": [0.01, 0.02]}}, "space"),
        (ds, {"sampler": "grid"}, "sampler"),
    ):
        with pytest.raises(ParameterError, match=f"holds another search .*{message}"):
            searched(data, tmp_path, **{"n_trials": 2, **options})


def test_fault_144_a_disk_that_is_full_in_a_search_and_then_freed(ds, tmp_path):
    body = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
space = {"lr": [0.01, 0.02, 0.05], "dropout": [0.0, 0.3, 0.6]}
try:
    search("gcn", ds, ds.splits, sys.argv[1], n_trials=9, space=space, config=TrainConfig(epochs=3), hidden=4)
except OSError as full:
    print(str(full).count("\\n"), full.filename)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))  # coverage writes at exit
"""
    whole = searched(ds, tmp_path / "whole")
    size = (tmp_path / "whole" / "journal.jsonl").stat().st_size
    reported = finished(script(body, tmp_path / "full", size - 300)).split()
    assert reported == ["0", str(tmp_path / "full" / "journal.jsonl")]
    assert searched(ds, tmp_path / "full").trials == whole.trials


def test_fault_143_test_items_are_sealed_until_the_choice_is_made(ds, tmp_path, monkeypatch):
    module = sys.modules["gsp_fb.nn.search"]
    seen, plain = [], module.train_jobs
    monkeypatch.setattr(module, "train_jobs", lambda *a, **o: seen.extend(a[2]) or plain(*a, **o))
    first = searched(ds, tmp_path / "a")
    assert seen
    assert all(len(job.split.test) == 0 for job in seen)
    ds.y[30:] = 1 - ds.y[30:]
    assert searched(ds, tmp_path / "b").trials == first.trials


def test_fault_127_float_targets_are_regressed_and_strings_are_classes(ds):
    half = SimpleNamespace(**{**vars(ds), "y": ds.y + 0.5})
    assert build("gcn", half).recipe.n_classes == 1
    assert "train_r2" in train(build("gcn", half), half, ds.splits[0], TrainConfig(epochs=2)).history[0]
    wide = SimpleNamespace(**{**vars(ds), "y": np.stack([ds.y + 0.5, ds.x[:, 0]], axis=1)})
    assert "train_r2" in train(build("gcn", wide), wide, ds.splits[0], TrainConfig(epochs=2)).history[0]
    named = SimpleNamespace(**{**vars(ds), "y": np.array(["no", "yes"])[ds.y]})
    plain = train(build("gcn", ds), ds, ds.splits[0], TrainConfig(epochs=2))
    assert train(build("gcn", named), named, ds.splits[0], TrainConfig(epochs=2)).history == plain.history
    with pytest.raises(ParameterError, match="target of item 3 is not finite"):
        build("gcn", SimpleNamespace(**{**vars(ds), "y": np.where(np.arange(40) == 3, np.inf, 0.5)}))
    with pytest.raises(ParameterError, match="targets have type complex128"):
        build("gcn", SimpleNamespace(**{**vars(ds), "y": ds.y * 1j}))


def rewritten(folder, change):
    """Replace the tensors of a checkpoint and its hash, as whoever can write the directory can."""
    from safetensors.torch import load_file, save

    file = tensor_file(folder)
    tensors = load_file(file)
    change(tensors)
    file.write_bytes(save(tensors))
    sidecar = folder / "checkpoint.json"
    facts = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps({**facts, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}))


WEIGHT = "layers.0.lift.weight"


@pytest.mark.parametrize(
    ("group", "make", "message"),
    [
        ("best", lambda w: w[:, :3].contiguous(), rf"tensor {WEIGHT} has shape \(6, 3\); the model has \(6, 16\)"),
        ("best", lambda w: w.to(torch.int32), rf"tensor {WEIGHT} has type torch.int32; the model has torch.float32"),
        ("best", lambda w: w.half(), rf"tensor {WEIGHT} has type torch.float16"),
        ("best", lambda w: w * float("nan"), rf"tensor {WEIGHT} holds values that are not finite"),
        ("best", lambda w: None, rf"tensor {WEIGHT} is missing"),
        ("model", lambda w: w[:, :3].contiguous(), rf"\(model\): tensor {WEIGHT} has shape"),
        ("model", lambda w: w * float("inf"), rf"\(model\): tensor {WEIGHT} holds values"),
    ],
)
def test_fault_129_tensors_that_are_not_the_models_are_named(ds, tmp_path, group, make, message):
    run(ds, tmp_path)

    def change(tensors):
        made = make(tensors.pop(f"{group}.{WEIGHT}"))
        if made is not None:
            tensors[f"{group}.{WEIGHT}"] = made

    rewritten(tmp_path, change)
    if group == "best":
        with pytest.raises(ParameterError, match=message):
            predict(tmp_path, ds)
    with pytest.raises(ParameterError, match=message):
        run(ds, tmp_path, config={"epochs": 70})


@pytest.mark.parametrize("name", ["generator", f"optimizer.{WEIGHT}.exp_avg", "optimizer.nothing.exp_avg"])
def test_fault_129_a_foreign_optimiser_or_random_state_is_named(ds, tmp_path, name):
    run(ds, tmp_path)
    rewritten(tmp_path, lambda tensors: tensors.update({name: torch.zeros(3)}))
    with pytest.raises(ParameterError, match=f"tensor {re.escape(name)}"):
        run(ds, tmp_path, config={"epochs": 70})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epoch": "x"}, "epoch 'x'; expected an integer"),
        ({"epoch": None}, "epoch None"),
        ({"epoch": -5}, "epoch -5"),
        ({"epoch": 1e9}, "epoch 1000000000.0"),
        ({"epoch": 10**9}, "epoch 1000000000 of 60"),
        ({"best_epoch": 99}, "best_epoch 99 after epoch 60"),
        ({"best_epoch": None}, "best_epoch None"),
        ({"best_value": "low"}, "best_value 'low'"),
        ({"recipe": []}, "recipe"),
        ({"config": "x"}, "config 'x'"),
        ({"data": None}, "data None"),
    ],
)
def test_fault_130_tampered_sidecars_are_refused(ds, tmp_path, change, message):
    run(ds, tmp_path)
    sidecar = tmp_path / "checkpoint.json"
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **change}))
    with pytest.raises(FormatError, match=message):
        run(ds, tmp_path)


def test_fault_130_a_sidecar_without_a_best_epoch_is_refused(ds, tmp_path):
    run(ds, tmp_path)
    sidecar = tmp_path / "checkpoint.json"
    facts = json.loads(sidecar.read_text())
    del facts["best_epoch"]
    sidecar.write_text(json.dumps(facts))
    with pytest.raises(FormatError, match="lacks best_epoch"):
        run(ds, tmp_path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace("\n7,", "\nabc,"), "line 8: no row of metrics"),
        (lambda text: text.replace("\n7,", "\n7,x,"), "line 8: no row of metrics"),
        (lambda text: re.sub(r"\n7,[^,]*,", "\n7,low,", text), "epoch 7: could not convert"),
        (lambda text: text.replace("epoch,", "step,"), "no row of metrics"),
        (lambda text: "\n".join(text.split("\n")[:9]) + "\n", "lacks 52 epochs of the checkpoint, the first 9"),
        (lambda text: "\n".join(line.rpartition(",")[0] for line in text.split("\n")), "other columns"),
        (lambda text: None, "lacks 60 epochs"),
    ],
)
def test_fault_130_damaged_metrics_are_refused(ds, tmp_path, damage, message):
    run(ds, tmp_path)
    path = tmp_path / METRICS_FILE
    text = damage(path.read_text())
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    with pytest.raises(FormatError, match=message):
        run(ds, tmp_path, config={"epochs": 70})


@pytest.mark.parametrize("name", ["fb-gcn", "fb-gat"])  # as one batch, and one by one
def test_fault_132_splits_are_kept_killed_resumed_and_extended(ds, tmp_path, name):
    body = f"""
import random, shutil
from gsp_fb.nn import train_splits
splits = [ds.splits[0], SimpleNamespace(train=np.arange(5, 25), val=np.arange(25, 35), test=np.arange(35, 40))]
def job(folder, epochs):
    places = [Path(sys.argv[1], folder, str(k)) for k in range(2)]
    config = TrainConfig(**{{**CONFIG, "epochs": epochs, "patience": 10**6}})
    return train_splits({name!r}, ds, splits, config, seeds=[0, 1], directories=places, hidden=4)
def child(folder, epochs):
    pid = os.fork()
    if pid == 0:
        job(folder, epochs)
        os._exit(0)
    return pid
started = time.monotonic()
os.waitpid(child("whole", 40), 0)
chance, kills, patience = random.Random(1), 0, (time.monotonic() - started) / 4
while kills < 6:
    shutil.rmtree(Path(sys.argv[1], "broken"), ignore_errors=True)
    kills, patience = 0, patience / 2
    while kills < 6:
        pid = child("broken", 25)
        time.sleep(chance.uniform(0.2, 1.0) * patience)
        if os.waitpid(pid, os.WNOHANG)[0]:
            break
        os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0); kills += 1
assert os.waitpid(child("broken", 25), 0)[1] == 0
assert os.waitpid(child("broken", 40), 0)[1] == 0
for k in "01":
    first, second = (Path(sys.argv[1], folder, k, "metrics.csv").read_bytes() for folder in ("whole", "broken"))
    assert first == second, "metrics differ"
    one, two = (read_checkpoint(Path(sys.argv[1], folder, k)) for folder in ("whole", "broken"))
    assert all(torch.equal(one.tensors[key], two.tensors[key]) for key in one.tensors), "weights differ"
print(kills)
"""
    assert int(finished(script(body, tmp_path))) == 6


def test_fault_132_a_finished_run_is_extended_as_if_it_had_never_stopped(ds, tmp_path):
    long = {"epochs": 90, "patience": 90}
    whole = run(ds, tmp_path / "whole", config=long)
    run(ds, tmp_path / "parts")
    assert run(ds, tmp_path / "parts", config=long).history == whole.history
    assert (tmp_path / "parts" / METRICS_FILE).read_bytes() == (tmp_path / "whole" / METRICS_FILE).read_bytes()
    with pytest.raises(ParameterError, match="holds a run of 90 epochs, more than epochs=60"):
        run(ds, tmp_path / "parts")


def test_fault_133_predictions_on_new_and_unlabelled_graphs(ds, tmp_path):
    run(ds, tmp_path)
    new = SimpleNamespace(graph=Graph.from_edges([(0, 1), (1, 2)]), x=ds.x[:3], y=None)
    assert predict(tmp_path, new).shape == (3, 2)
    assert embed(tmp_path, new)["combined"].shape == (3, 2)
    one_class = SimpleNamespace(graph=ds.graph, x=ds.x, y=np.zeros(40, dtype=int))
    assert np.array_equal(predict(tmp_path, one_class), predict(tmp_path, ds))


def test_fault_147_a_label_of_ten_million_is_one_class(ds):
    ds.y[ds.y == 1] = 10**7
    model = build("fb-gcn", ds)
    assert model.recipe.n_classes == 2
    assert train(model, ds, ds.splits[0], TrainConfig(epochs=2)).epochs == 2


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ([0.5], r"train has indices of type float64 such as np.float64\(0.5\); give integers"),
        ([1.0, 2.0], "train has indices of type float64"),
        ([0, 1, 0, 1, 1], "train names item 0 more than once; was a 0/1 mask meant"),
        ([99], "train names item 99"),
        (["a"], "train has indices of type"),
        ([[True, False]], r"train is a mask of shape \(1, 2\)"),
    ],
)
def test_fault_148_indices_that_are_none_are_named(ds, part, message):
    split = SimpleNamespace(train=part, val=np.arange(20, 30), test=np.arange(30, 40))
    with pytest.raises(ParameterError, match=message):
        train(build("gcn", ds), ds, split)


def collection(**changes):
    edges = [(0, 1), (1, 2), (3, 4), (5, 6), (6, 7)]
    facts = {
        "graph": Graph.from_edges(edges, n_nodes=9),
        "graph_indptr": np.array([0, 3, 5, 8, 9]),
        "x": np.ones((9, 2)) * np.arange(9)[:, None],
        "y": np.array([0, 1, 0, 1]),
    }
    return SimpleNamespace(**{**facts, **changes})


@pytest.mark.parametrize(
    ("indptr", "message"),
    [
        ([0, 3, 5, 9], r"graph_indptr has shape \(4,\)"),
        ([0, 3, 3, 8, 9], "graph 1 has no nodes"),
        ([0, 5, 3, 8, 9], "graph 1 has no nodes"),
        ([1, 3, 5, 8, 9], "runs from 1 to 9"),
        ([0, 3, 5, 8, 10], "runs from 0 to 10"),
        ([0.0, 3.0, 5.0, 8.0, 9.0], "type float64"),
    ],
)
def test_fault_149_bad_bounds_of_a_collection_are_named(indptr, message):
    data = collection(graph_indptr=np.array(indptr))
    split = SimpleNamespace(train=[0, 1], val=[2], test=[3])
    with pytest.raises(ParameterError, match=message):
        train(build("gin-0", data, hidden=4), data, split, TrainConfig(epochs=2))


def test_fault_149_a_batch_of_one_single_node_and_no_features(ds):
    data = collection()
    split = SimpleNamespace(train=[3, 0], val=[1], test=[2])
    result = train(build("gin-0", data, hidden=4), data, split, TrainConfig(epochs=3, batch_size=1))
    assert result.epochs == 3
    empty = SimpleNamespace(**{**vars(ds), "x": np.zeros((40, 0))})
    with pytest.raises(ParameterError, match=r"n_in|no features"):
        train(build("gcn", empty), empty, empty.splits[0])
