"""All splits as one batch are the separate runs, up to rounding."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gsp_fb.errors import ParameterError, TrainingError
from gsp_fb.nn import TrainConfig, build, predict, read_checkpoint, read_metrics, splits, train, train_splits
from gsp_fb.nn.channels import MIXINGS, Channels
from gsp_fb.nn.parts import ACTIVATIONS
from gsp_fb.nn.runstate import Run
from gsp_fb.nn.splits import train_jobs
from gsp_fb.nn.train import Job


def some_splits(dataset, count):
    rng = np.random.default_rng(7)
    for size in range(count):
        order = rng.permutation(len(dataset.y))
        yield SimpleNamespace(train=order[: 25 + size], val=order[30:45], test=order[45:])


SHALLOW = ["mlp", "gcn", "graphsage", "fb-gcn", "fb-graphsage"]
OTHERS = ["gwnn", "fb-gwnn", "gcnii", "fb-gcnii*", "geom-gcn-p", "fb-geom-gcn-p"]


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize(
    ("name", "monitor"),
    [*((name, kind) for name in SHALLOW for kind in ("loss", "score")), *((n, "loss") for n in OTHERS)],
)
def test_a_batch_of_splits_is_the_separate_runs(name, monitor, dropout, blocks):
    config = TrainConfig(lr=0.02, epochs=80 if name in SHALLOW else 25, patience=12, monitor=monitor)
    wanted, seeds = list(some_splits(blocks, 4)), [0, 1, 2, 3]
    options = {"hidden": 8, "dropout": dropout, "dtype": torch.float64, "relations": blocks.relations}
    batch = train_splits(name, blocks, wanted, config, seeds=seeds, **options)
    for seed, split, batched in zip(seeds, wanted, batch, strict=True):
        alone = train(build(name, blocks, seed=seed, **options), blocks, split, config)
        assert (batched.best_epoch, batched.epochs) == (alone.best_epoch, alone.epochs)
        assert batched.scores == alone.scores  # counted, not averaged in float32
        assert batched.losses == pytest.approx(alone.losses, rel=1e-9)
        assert np.allclose(batched.alphas, alone.alphas, atol=1e-8)
        assert batched.s_value == pytest.approx(alone.s_value, rel=1e-9)
        ours, theirs = ([row["val_loss"] for row in run.history] for run in (batched, alone))
        assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("name", ["mlp", "gcn", "fb-gcn", "acm-gcn", "fb-graphsage"])
def test_a_brief_record_has_the_validation_of_the_whole_one(name, blocks):
    wanted = list(some_splits(blocks, 3))
    for jobs in (wanted, wanted[:1]):
        runs = [Job(split, TrainConfig(lr=0.02, epochs=40, patience=8), 1, {"hidden": 8}) for split in jobs]
        whole, brief = (train_jobs(name, blocks, runs, brief=kind) for kind in (False, True))
        for ours, theirs in zip(whole, brief, strict=True):
            assert (ours.best_epoch, ours.scores, ours.losses) == (theirs.best_epoch, theirs.scores, theirs.losses)
            assert [{key: row[key] for key in ("epoch", "val_loss", "val_accuracy")} for row in ours.history] == [
                *theirs.history
            ]


def test_shares_of_nodes_carry_no_rounding_of_float32(blocks):
    runs = train_splits("gcn", blocks, list(some_splits(blocks, 2)), TrainConfig(epochs=3))
    for split, run in zip(some_splits(blocks, 2), runs, strict=True):
        for part in ("train", "val", "test"):
            size = len(getattr(split, part))
            assert run.scores[part] == round(run.scores[part] * size) / size
        assert run.history[-1]["val_accuracy"] == round(run.history[-1]["val_accuracy"] * 15) / 15


def test_dropout_follows_from_the_seed_of_each_run(blocks):
    config, split = TrainConfig(lr=0.02, epochs=5), blocks.splits[0]
    first, again, other = train_splits("gcn", blocks, [split] * 3, config, seeds=[0, 0, 1], dropout=0.5)
    assert first.history == again.history
    assert first.losses != other.losses


def test_copies_may_differ_in_rate_decay_dropout_and_epochs(blocks):
    split = blocks.splits[0]
    settings = [(0.01, 0.0, 0.0, 9), (0.05, 5e-3, 0.6, 12), (0.02, 1e-4, 0.3, 5)]
    jobs = [
        Job(split, TrainConfig(lr=lr, weight_decay=decay, epochs=epochs), 3, {"dropout": dropout, "hidden": 8})
        for lr, decay, dropout, epochs in settings
    ]
    batched = train_jobs("fb-gcn", blocks, jobs, dtype=torch.float64)
    for job, result in zip(jobs, batched, strict=True):
        model = build("fb-gcn", blocks, seed=3, dtype=torch.float64, **job.options)
        alone = train(model, blocks, split, job.config)
        assert result.epochs == alone.epochs == job.config.epochs
        assert [row["train_loss"] for row in result.history] == pytest.approx(
            [row["train_loss"] for row in alone.history], rel=1e-9
        )


def test_a_diverging_copy_does_not_touch_the_others(blocks):
    split = blocks.splits[0]
    calm, wild = TrainConfig(lr=0.02, epochs=20), TrainConfig(lr=1e30, epochs=20)
    first, lost, last = train_jobs("gcn", blocks, [Job(split, calm, 0), Job(split, wild, 0), Job(split, calm, 1)])
    assert isinstance(lost, TrainingError)
    pair = train_splits("gcn", blocks, [split, split], calm, seeds=[0, 1])
    assert [first.history, last.history] == [run.history for run in pair]


def test_batches_are_bounded_by_memory(blocks, monkeypatch):
    sizes = []
    plain = splits.fit
    monkeypatch.setattr(splits, "fit", lambda *args, **how: sizes.append(len(args[2])) or plain(*args, **how))
    config, wanted = TrainConfig(epochs=3), list(some_splits(blocks, 5))
    whole = train_splits("fb-gcn", blocks, wanted, config)
    monkeypatch.setattr(splits, "BATCH_BYTES", 900_000)
    parts = train_splits("fb-gcn", blocks, wanted, config)
    assert sizes[0] == 5
    assert 1 < max(sizes[1:]) < 5
    assert [run.history for run in whole] == [run.history for run in parts]


def test_files_of_a_batch_are_those_of_single_runs(blocks, tmp_path):
    wanted, config = list(some_splits(blocks, 3)), TrainConfig(lr=0.02, epochs=9, checkpoint_every=4)
    places = [tmp_path / f"batch-{k}" for k in range(3)]
    runs = train_splits("fb-gcn", blocks, wanted, config, seeds=[4, 5, 6], directories=places)
    for split, seed, place, run in zip(wanted, [4, 5, 6], places, runs, strict=True):
        alone = tmp_path / f"alone-{seed}"
        train(build("fb-gcn", blocks, seed=seed), blocks, split, config, directory=alone)
        one, other = read_checkpoint(place), read_checkpoint(alone)
        assert one.tensors.keys() == other.tensors.keys()
        assert one.facts.keys() == other.facts.keys()
        assert {key: one.facts[key] for key in ("recipe", "config", "data", "epoch")} == {
            key: other.facts[key] for key in ("recipe", "config", "data", "epoch")
        }
        first, second = read_metrics(place), read_metrics(alone)
        assert [list(row) for row in first] == [list(row) for row in second]
        assert len(first) == len(run.history) == 9
        assert predict(place, blocks) == pytest.approx(predict(alone, blocks), abs=1e-5)


def test_a_batch_resumes_and_is_extended_bit_for_bit(blocks, tmp_path):
    wanted, seeds = list(some_splits(blocks, 3)), [0, 1, 2]

    def trained(folder, epochs):
        places = [tmp_path / folder / str(k) for k in range(3)]
        config = TrainConfig(lr=0.02, epochs=epochs, checkpoint_every=2)
        return train_splits("fb-gcn", blocks, wanted, config, seeds=seeds, directories=places)

    whole = trained("whole", 14)
    trained("parts", 5)
    extended = trained("parts", 14)
    assert [run.history for run in extended] == [run.history for run in whole]
    for k in range(3):
        one, two = (read_checkpoint(tmp_path / folder / str(k)).tensors for folder in ("whole", "parts"))
        assert all(torch.equal(one[name], two[name]) for name in one)
    with pytest.raises(ParameterError, match="holds a run of 14 epochs, more than epochs=5"):
        trained("parts", 5)


@pytest.mark.parametrize("nth", [1, 2, 3, 4, 5, 6])
def test_a_batch_killed_while_its_runs_are_saved_goes_on_from_one_epoch(nth, blocks, tmp_path, monkeypatch):
    wanted, seeds, calls = list(some_splits(blocks, 3)), [0, 1, 2], []

    def trained(folder):
        places = [tmp_path / folder / str(k) for k in range(3)]
        config = TrainConfig(lr=0.02, epochs=9, checkpoint_every=2)
        return train_splits("fb-gcn", blocks, wanted, config, seeds=seeds, directories=places)

    def dying(self, optimizer, **options):
        save(self, optimizer, **options)
        calls.append(self.epoch)
        if len(calls) == nth:
            raise KeyboardInterrupt

    whole, save = trained("whole"), Run.save
    with monkeypatch.context() as patched:
        patched.setattr(Run, "save", dying)
        with pytest.raises(KeyboardInterrupt):
            trained("killed")
    assert [run.history for run in trained("killed")] == [run.history for run in whole]
    for k in range(3):
        one, two = (read_checkpoint(tmp_path / folder / str(k)).tensors for folder in ("whole", "killed"))
        assert all(torch.equal(one[name], two[name]) for name in one)
        assert len(list((tmp_path / "killed" / str(k)).glob("checkpoint*"))) == 2


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_number_of_threads_changes_results_by_rounding_alone(dropout, blocks):
    config, wanted = TrainConfig(lr=0.02, epochs=12), list(some_splits(blocks, 3))
    runs = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        runs.append(train_splits("fb-gcn", blocks, wanted, config, hidden=8, dropout=dropout))
        assert torch.get_num_threads() == threads
    for one, two in zip(*runs, strict=True):
        assert one.scores == two.scores
        assert one.losses == pytest.approx(two.losses, rel=1e-4)


def test_splits_and_seeds_must_match(blocks):
    with pytest.raises(ParameterError, match="1 splits, 2 seeds"):
        train_splits("gcn", blocks, blocks.splits, seeds=[1, 2])
    with pytest.raises(ParameterError, match="0 splits"):
        train_splits("gcn", blocks, [])


def test_a_diverging_split_is_named(blocks):
    huge = SimpleNamespace(**{**vars(blocks), "x": blocks.x * 1e30})
    with pytest.raises(TrainingError, match="split 0 seed 0: loss is"):
        train_splits("gcn", huge, list(some_splits(blocks, 2)), TrainConfig(lr=1e6, normalize=False, epochs=50))


def test_other_metrics_work_in_a_batch(blocks):
    two = SimpleNamespace(**{**vars(blocks), "y": np.minimum(blocks.y, 1)})
    runs = train_splits(
        "fb-gcn", two, list(some_splits(two, 2)), TrainConfig(metric="roc_auc", epochs=30, monitor="score")
    )
    assert all(0.5 < run.scores["train"] <= 1.0 for run in runs)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_copy_computes_the_same_bits_in_any_company(mixing, activation):
    channels, chosen = Channels(("low", "high", "identity"), mixing, 8, copies=(30,)), slice(11, 18)
    alone = Channels(("low", "high", "identity"), mixing, 8, copies=(7,))
    generator = torch.Generator().manual_seed(0)
    for own, every in zip(alone.parameters(), channels.parameters(), strict=True):
        every.data = torch.randn(every.shape, generator=generator)
        own.data = every.data[chosen].clone()
    parts = [torch.randn(30, 23, 8, generator=generator) for _ in range(3)]
    act = ACTIVATIONS[activation]
    batched = act(channels.mix(parts))
    assert torch.equal(act(alone.mix([part[chosen] for part in parts])), batched[chosen])
