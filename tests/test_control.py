"""The control experiment: its arms, the settings they share, stale cells, and figures measured again."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from gsp_fb.datasets import contextual_sbm
from paper import fingerprint, training
from paper.__main__ import main
from paper.catalogue import CONTROL, EXPERIMENTS, FAMILIES, UNITS
from paper.cells import cells, select
from paper.checking import BAND, check, drawn
from paper.control import ARMS, CONTRASTS, Arm
from paper.numerics import rehearsed, stands
from paper.protocols import settings, space
from paper.store import Store
from tests.support.cells import fake_cell, synthetic

torch = pytest.importorskip("torch")
nn = pytest.importorskip("gsp_fb.nn")
pytest.importorskip("optuna")
TEXAS = ["control", "--quick", "--datasets", "texas", "--models", "low+high-scalar-relu-sym-2", "low-linear-sym-2"]


def every_arm():
    return [row for name in ("control", "control-factors") for row in EXPERIMENTS[name].rows]


def test_the_arms_are_all_combinations_of_channels_mixing_relu_family_and_form():
    labels = [row.label for row in every_arm()]
    assert len(labels) == len(set(labels)) == 3 * 2**4 + 2 * 2**3 + 2**2
    assert {tuple(row.options["channels"]) for row in every_arm()} == set(ARMS.values())
    assert len(CONTROL) == 19
    grouped = [name for group in FAMILIES.values() for name in group]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(CONTROL)
    assert UNITS == {"cornell": "texas"}


@pytest.fixture(scope="module")
def data():
    return contextual_sbm(40, 3, homophily=0.3, rng=0)


def outputs(data, arm, state=None):
    model = nn.build("gcn", data, seed=1, hidden=5, dropout=0.0, **arm.options).double()
    if state is not None:
        model.load_state_dict(state)
    return model, model.eval()(torch.tensor(data.x)).detach().numpy()


def test_the_identity_alone_is_a_perceptron(data):
    model, ours = outputs(data, Arm("identity", inner="linear"))
    x = data.x
    (w1, b1), (w2, b2) = ((p.lift.weight.detach().numpy(), p.bias.detach().numpy()) for p in model.layers)
    w1, w2 = (w if w.shape[0] == n else w.T for w, n in ((w1, x.shape[1]), (w2, 5)))
    np.testing.assert_allclose(ours, np.maximum(x @ w1 + b1, 0) @ w2 + b2, atol=1e-12)


def test_without_inner_relu_low_and_high_span_low_and_identity(data):
    """a_l P W_l + a_h (I - P) W_h = P (a_l W_l - a_h W_h) + a_h W_h, written in the weights of the other arm."""
    first, ours = outputs(data, Arm("low+high", inner="linear"))
    state = {name: value.clone() for name, value in first.state_dict().items()}
    for key in [name for name in state if name.endswith("lift.weight")]:
        low, high = state[key].chunk(2, dim=-1)
        state[key] = torch.cat([low - high, high], dim=-1)
    second, theirs = outputs(data, Arm("low+identity", inner="linear"), state)
    assert type(second) is type(first)
    np.testing.assert_allclose(theirs, ours, atol=1e-12)
    _, nonlinear = outputs(data, Arm("low+identity"), state)
    assert np.abs(nonlinear - ours).max() > 1e-3


@pytest.mark.parametrize("row", every_arm(), ids=lambda row: row.label)
def test_every_arm_builds_and_trains_as_one_batch(data, row):
    config = nn.TrainConfig(epochs=2)
    runs = nn.train_splits("gcn", data, data.splits[:2], config, seeds=[0, 1], hidden=4, **row.options)
    assert [run.epochs for run in runs] == [2, 2]


def test_settings_are_distinct_balanced_and_depend_on_the_seed_alone():
    grid = space("gcn", common=True)
    drawn_ = settings(grid, 64, seed=0)
    assert drawn_ == settings(grid, 64, seed=0) != settings(grid, 64, seed=1)
    assert len({json.dumps(values) for values in drawn_}) == 64
    for name, choices in grid.items():
        counts = [sum(values[name] == choice for values in drawn_) for choice in choices]
        assert max(counts) - min(counts) <= 6, name
    widths = [(values["hidden"], values["normalize"]) for values in drawn_]
    assert sum(a != b for a, b in itertools.pairwise(widths)) == 3


def test_every_arm_of_a_data_set_has_the_same_budget():
    for dataset in CONTROL:
        found = [cell for cell in cells(EXPERIMENTS["control"], "tuned") if cell.dataset == dataset]
        assert len({json.dumps([cell.plan.as_dict(), cell.space]) for cell in found}) == 1
        assert found[0].plan.common


def test_contrasts_name_rows_that_exist():
    labels = {row.label for row in every_arm()}
    for contrast in CONTRASTS.values():
        pairs = list(contrast.pairs())
        assert {label for pair in pairs for label in pair} <= labels


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("control")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GSP_FB_CACHE", str(folder / "cache"))
        patch.setattr(training, "load", synthetic)
        assert main([*TEXAS, "--results", str(folder / "results")]) == 0
        yield folder / "results"


def test_a_cell_of_the_control_keeps_all_trials_and_the_code_it_used(measured):
    (cell,) = select(["control"], datasets=["texas"], models=["low+high-scalar-relu-sym-2"], quick=True)
    facts = Store(measured, quick=True).read(cell)
    assert facts["fingerprint"] == fingerprint.fingerprint("nodes")
    assert {"commit", "processor", "threads", "versions", "options", "command"} <= set(facts)
    grid = space("gcn", common=True)
    assert [trial["values"] for trial in facts["choice"]["trials"]] == settings(grid, 3, 0)
    assert facts["options"]["channels"] == ["low", "high"]


def test_figures_measured_again_are_equal_to_the_bit(measured, capsys):
    line = ["--quick", "--results", str(measured), "--json", "--check"]
    assert main([*line, "2", "--within", "1000"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["checked"], found["equal"]) == (2, 2)
    assert main([*line, "2", "--within", "0"]) == 1  # nothing fits: nothing is shown
    assert json.loads(capsys.readouterr().out)["checked"] == 0


@pytest.mark.parametrize(
    ("change", "shift", "state"),
    [({}, 0.001, "differs"), ({"processor": "other"}, 0.001, "within"), ({"processor": "other"}, 2 * BAND, "differs")],
)
def test_another_processor_has_a_band_and_the_same_one_has_none(measured, tmp_path, change, shift, state):
    cell = select(["control"], datasets=["texas"], models=["low-linear-sym-2"], quick=True)[0]
    facts = dict(Store(measured, quick=True).read(cell))
    test = [score - shift if score > 0.5 else score + shift for score in facts["test"]]
    (tmp_path / cell.path).parent.mkdir(parents=True)
    (tmp_path / cell.path).write_text(json.dumps({**facts, **change, "test": test}))
    (found,) = check(Store(tmp_path, quick=True), [cell])
    assert (found.state, found.passed) == (state, state == "within")


def test_a_cell_of_code_with_other_numbers_is_stale_and_measured_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path / "cache"))
    store, cell = Store(tmp_path), select(["table9"], protocols=["tuned"], datasets=["texas"], models=["gcn"])[0]
    store.write(cell, fake_cell(cell, [0.5, 0.6]), 1.0)
    monkeypatch.setattr("paper.numerics.fingerprint", lambda kind: "moved")
    assert store.is_current(cell)  # other code, the same numbers
    assert drawn(store, [cell], 1) == [cell]
    monkeypatch.setattr("paper.numerics.fingerprint", lambda kind: "changed")
    monkeypatch.setattr("paper.training.Job.seeds", [7, 8, 9])  # other weights at the start
    assert store.has(cell)
    assert store.is_stale(cell)
    assert drawn(store, [cell], 1) == []
    assert list(store.estimates([cell])) == [cell.path]


def test_a_fingerprint_changes_with_code_and_not_with_words():
    text = '"""Words."""\n\n\ndef f(x):\n    """Words."""\n    return x + 1\n'
    words = text.replace("Words", "Other words").replace("x + 1", "x  +  1  # why")
    assert fingerprint.code_digest(text) == fingerprint.code_digest(words)
    assert fingerprint.code_digest(text) != fingerprint.code_digest(text.replace("+ 1", "+ 2"))
    names = {path.relative_to(fingerprint.ROOT).as_posix() for path in fingerprint.sources("nodes")}
    assert {"gsp_fb/operators.py", "gsp_fb/nn/layer.py", "gsp_fb/nn/trainer.py", "paper/choice.py"} <= names
    assert "gsp_fb/nn/patch.py" not in names
    assert all(Path(path).exists() for path in fingerprint.sources("s-values"))


def test_a_price_follows_from_the_trainings_that_were_paid_for(tmp_path):
    store, cell = Store(tmp_path), select(["table9"], protocols=["tuned"], datasets=["texas"], models=["gcn"])[0]
    facts = store.write(cell, fake_cell(cell, [0.5, 0.6]), 170.0)
    small = {**facts["protocol"], "rungs": [{"candidates": 16, "splits": 10}]}
    (tmp_path / cell.path).write_text(
        json.dumps({**facts, "protocol": small, "fingerprint": "older", "digest": "older"})
    )
    (price,) = store.estimates([cell]).values()
    assert price == pytest.approx(cell.plan.trainings, rel=0.1)  # 170 trainings were paid for at one second each


def test_a_cell_of_other_code_stands_only_for_the_same_work_and_with_a_rehearsal(tmp_path, monkeypatch):
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path))
    monkeypatch.setattr("paper.numerics.fingerprint", lambda kind: "other")
    cell = select(["control"], datasets=["texas"], models=["low+high-scalar-relu-sym-2"])[0]
    facts = {"fingerprint": "older", "digest": cell.digest, "rehearsal": rehearsed(cell)}
    assert stands(cell, facts)
    assert not stands(cell, {**facts, "digest": "another plan"})
    assert not stands(cell, {**facts, "rehearsal": None})
    assert not stands(cell, {**facts, "rehearsal": [1.02 * value for value in facts["rehearsal"]]})


def test_arms_of_the_control_and_models_of_a_table_have_rehearsals_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path))
    rows = ["low-linear-sym-2", "low+high-scalar-relu-sym-2", "low+identity-scalar-relu-sym-2"]
    found = [rehearsed(cell) for cell in select(["control"], datasets=["texas"], models=rows)]
    assert len({tuple(numbers) for numbers in found}) == len(rows)
    elsewhere = select(["control"], datasets=["cora"], models=rows[:1])[0]
    assert rehearsed(elsewhere) == found[0]
    table = select(["table1"], protocols=["paper"])[0]
    assert rehearsed(table) is None  # S-values: the code itself decides
