"""All splits as one batch are the separate runs, up to rounding."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gsp_fb.errors import ParameterError, TrainingError
from gsp_fb.nn import TrainConfig, build, train, train_splits


def some_splits(dataset, count):
    rng = np.random.default_rng(7)
    for size in range(count):
        order = rng.permutation(len(dataset.y))
        yield SimpleNamespace(train=order[: 25 + size], val=order[30:45], test=order[45:])


SHALLOW = ["mlp", "gcn", "graphsage", "fb-gcn", "fb-graphsage"]
OTHERS = ["gwnn", "fb-gwnn", "gcnii", "fb-gcnii*", "geom-gcn-p", "fb-geom-gcn-p"]


@pytest.mark.parametrize(
    ("name", "monitor"),
    [*((name, kind) for name in SHALLOW for kind in ("loss", "score")), *((n, "loss") for n in OTHERS)],
)
def test_a_batch_of_splits_is_the_separate_runs(name, monitor, blocks):
    config = TrainConfig(lr=0.02, epochs=80 if name in SHALLOW else 25, patience=12, monitor=monitor)
    splits, seeds = list(some_splits(blocks, 4)), [0, 1, 2, 3]
    options = {"hidden": 8, "dropout": 0.0, "dtype": torch.float64, "relations": blocks.relations}
    together = train_splits(name, blocks, splits, config, seeds=seeds, **options)
    for seed, split, batched in zip(seeds, splits, together, strict=True):
        alone = train(build(name, blocks, seed=seed, **options), blocks, split, config)
        assert (batched.best_epoch, batched.epochs) == (alone.best_epoch, alone.epochs)
        assert batched.scores == alone.scores  # counted, not averaged in float32
        assert batched.losses == pytest.approx(alone.losses, rel=1e-9)
        assert np.allclose(batched.alphas, alone.alphas, atol=1e-8)
        assert batched.s_value == pytest.approx(alone.s_value, rel=1e-9)
        ours, theirs = ([row["val_loss"] for row in run.history] for run in (batched, alone))
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_shares_of_nodes_carry_no_rounding_of_float32(blocks):
    runs = train_splits("gcn", blocks, list(some_splits(blocks, 2)), TrainConfig(epochs=3))
    for split, run in zip(some_splits(blocks, 2), runs, strict=True):
        for part in ("train", "val", "test"):
            size = len(getattr(split, part))
            assert run.scores[part] == round(run.scores[part] * size) / size
        assert run.history[-1]["val_accuracy"] == round(run.history[-1]["val_accuracy"] * 15) / 15


def test_dropout_is_drawn_for_every_split_of_its_own(blocks):
    config = TrainConfig(lr=0.02, epochs=5)
    split = blocks.splits[0]
    first, second = train_splits("gcn", blocks, [split, split], config, seeds=[0, 0], dropout=0.5)
    assert first.losses != second.losses


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_number_of_threads_changes_results_by_rounding_alone(dropout, blocks):
    config, splits = TrainConfig(lr=0.02, epochs=12), list(some_splits(blocks, 3))
    runs = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        runs.append(train_splits("fb-gcn", blocks, splits, config, hidden=8, dropout=dropout))
        assert torch.get_num_threads() == threads
    for one, two in zip(*runs, strict=True):
        assert one.scores == two.scores
        assert one.losses == pytest.approx(two.losses, rel=1e-4)


def test_splits_and_seeds_must_match(blocks):
    with pytest.raises(ParameterError, match="1 splits and 2 seeds"):
        train_splits("gcn", blocks, blocks.splits, seeds=[1, 2])
    with pytest.raises(ParameterError, match="0 splits"):
        train_splits("gcn", blocks, [])


def test_a_diverging_split_is_named(blocks):
    huge = SimpleNamespace(**{**vars(blocks), "x": blocks.x * 1e30})
    with pytest.raises(TrainingError, match="loss of split 0 is"):
        train_splits("gcn", huge, list(some_splits(blocks, 2)), TrainConfig(lr=1e6, normalize=False, epochs=50))


def test_other_metrics_work_in_a_batch(blocks):
    two = SimpleNamespace(**{**vars(blocks), "y": np.minimum(blocks.y, 1)})
    runs = train_splits(
        "fb-gcn", two, list(some_splits(two, 2)), TrainConfig(metric="roc_auc", epochs=30, monitor="score")
    )
    assert all(0.5 < run.scores["train"] <= 1.0 for run in runs)
