"""How the reported epoch of a graph classifier is chosen, and that the two protocols are kept apart."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from gsp_fb.cli import main
from gsp_fb.datasets import Split
from gsp_fb.errors import ParameterError
from gsp_fb.nn import PROTOCOLS, TrainConfig, build, cross_validate, train, with_validation

NOBODY = np.zeros(0, dtype=np.int64)
FEW = TrainConfig(lr=0.01, epochs=8, patience=4, batch_size=8)


@pytest.fixture(scope="module")
def folds(rings):
    order = np.random.default_rng(5).permutation(len(rings.y))
    return [Split(np.sort(np.setdiff1d(order, part)), NOBODY, np.sort(part)) for part in np.split(order, 4)]


@pytest.fixture(scope="module")
def collection(rings, folds):
    return SimpleNamespace(**{**vars(rings), "splits": tuple(folds)})


def test_validation_is_carved_out_of_training_class_by_class(folds, rings):
    for fold, carved in zip(folds, with_validation(folds, rings.y, share=0.2, seed=3), strict=True):
        assert np.array_equal(np.union1d(carved.train, carved.val), fold.train)
        assert not np.intersect1d(carved.train, carved.val).size
        assert np.array_equal(carved.test, fold.test)
        before, after = (np.bincount(rings.y[part], minlength=2) for part in (fold.train, carved.val))
        assert np.all(np.abs(after - 0.2 * before) <= 0.5)


def test_the_carving_follows_from_its_seed(folds, rings):
    first, again, other = (with_validation(folds, rings.y, seed=seed)[0].val for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_splits_with_validation_stay_and_masks_are_understood(rings):
    split = rings.splits[0]
    kept = with_validation([split], rings.y)[0]
    assert np.array_equal(kept.val, split.val)
    mask = np.isin(np.arange(40), split.train)
    masked = SimpleNamespace(train=mask, val=np.zeros(40, bool), test=~mask)
    indexed = SimpleNamespace(train=np.flatnonzero(mask), val=[], test=np.flatnonzero(~mask))
    one, other = with_validation([masked, indexed], rings.y)
    assert all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("train", "val", "test"))


def test_by_validation_every_fold_reports_its_own_run(collection):
    found = cross_validate("gin-0", collection, FEW, hidden=4, seed=2, share=0.2)
    fold = with_validation(collection.splits, collection.y, share=0.2, seed=2)[1]
    alone = train(build("gin-0", collection, seed=2, hidden=4), collection, fold, FEW)
    assert found.protocol == "validation"
    assert (found.scores[1], found.epochs[1]) == (alone.scores["test"], alone.best_epoch)
    assert not any(name.startswith("test") for name in found.runs[1].history[0])


def test_gin_reports_one_epoch_by_the_mean_test_score(collection):
    found = cross_validate("gin-0", collection, FEW, protocol="gin", hidden=4)
    curves = np.array([[row["test_accuracy"] for row in run.history] for run in found.runs])
    assert curves.shape == (4, FEW.epochs)  # nothing stops early
    assert found.mean == pytest.approx(curves.mean(0).max())
    assert set(found.epochs) == {int(curves.mean(0).argmax()) + 1}
    facts = found.as_dict()
    assert facts["protocol"] == "gin"
    assert facts["std"] == pytest.approx(np.std(facts["scores"], ddof=1))
    json.dumps(facts)


def test_gin_trains_on_the_whole_fold_even_if_a_validation_part_is_given(rings):
    found = cross_validate("gin-0", rings, TrainConfig(epochs=2), protocol="gin", hidden=4)
    split = rings.splits[0]
    whole = SimpleNamespace(train=np.sort(np.r_[split.train, split.val]), val=[], test=split.test)
    alone = train(build("gin-0", rings, hidden=4), rings, whole, TrainConfig(epochs=2))
    assert found.runs[0].history == alone.history
    assert found.std == 0.0


def test_folds_are_resumed(collection, tmp_path):
    first = cross_validate("gin-0", collection, FEW, hidden=4, directory=tmp_path)
    again = cross_validate("gin-0", collection, FEW, hidden=4, directory=tmp_path)
    assert (first.scores, first.epochs) == (again.scores, again.epochs)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"fold-{k}" for k in range(4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "gim"}, "did you mean 'gin'"),
        ({"share": 1.0}, r"share must be in \(0, 1\), not 1.0"),
        ({"seed": -1}, "seed"),
        ({"splits": []}, "at least one fold"),
    ],
)
def test_bad_requests_are_refused(options, message, collection):
    with pytest.raises(ParameterError, match=message):
        cross_validate("gin-0", collection, FEW, **options)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_command_names_its_protocol(protocol, collection, monkeypatch, capsys):
    monkeypatch.setattr("gsp_fb.cli.training.read_dataset", lambda name, args: collection)
    argv = ["train", "fb-gin-0", "rings", "--epochs", "3", "--set", "hidden=4", "--protocol", protocol, "--json"]
    assert main(argv) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["protocol"] == protocol
    assert facts["epoch chosen"] == PROTOCOLS[protocol]
    assert len(facts["runs"]) == 4
    assert facts["test mean"] == pytest.approx(np.mean([run["test"] for run in facts["runs"]]))
    if protocol == "gin":
        assert len({run["best"] for run in facts["runs"]}) == 1


def test_a_search_of_graphs_chooses_by_carved_validation(collection, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("gsp_fb.cli.training.read_dataset", lambda name, args: collection)
    argv = [
        "search",
        "gin-0",
        "rings",
        "--epochs",
        "2",
        "--trials",
        "1",
        "--splits",
        "0",
        "-o",
        str(tmp_path),
        "--json",
    ]
    assert main(argv) == 0
    assert 0.0 <= json.loads(capsys.readouterr().out)["val_score"] <= 1.0
