"""Audits of real networks: ours, PyG's, compiled, batched; and what cannot be audited states why."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import gsp_fb as gf
from gsp_fb.errors import GraphError, GspWarning, ParameterError
from gsp_fb.nn import MODELS, Audit, audit, build, watch
from gsp_fb.nn.auditing.dependence import Dependence
from gsp_fb.nn.auditing.linearize import METHODS, linearize
from gsp_fb.nn.auditing.verdict import AuditEvidence, judge
from tests.support.real_data import DATA, needs_data

PER_GRAPH = ("gin-0", "gin-eps", "fb-gin-0", "fb-gin-eps")


@pytest.fixture(scope="module")
def data():
    return gf.datasets.contextual_sbm(80, 3, n_features=12, rng=0)


def check(found, n_layers=None):
    assert isinstance(found, Audit)
    there = ~np.isnan(found.response.gain)
    assert there.any()
    assert np.all(found.response.gain[there] >= 0)
    assert np.allclose(found.mixing[there].sum(axis=1), 1.0)
    assert n_layers is None or len(found.layers) == n_layers
    for layer in found.layers:
        assert np.isclose(layer.profile.fraction.sum(), 1.0)
        assert 0.0 <= layer.s_value <= 2.0
        assert 1.0 <= layer.effective_rank <= layer.width + 1e-9
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in PER_GRAPH and "geom" not in name])
def test_models_of_this_library(name, data):
    options = {"coverage": 2} if "coverage" in MODELS[name].options else {}
    check(audit(build(name, data, **options), data, bands=4, probes=2))


@pytest.mark.parametrize("name", ["gin-0", "fb-gin-eps"])
def test_networks_that_classify_whole_graphs(name, rings):
    found = audit(build(name, rings, hidden=8, layers=2), rings, bands=4, probes=2)
    assert np.isfinite(found.response.gain).any()
    assert np.isnan(found.mixing).all()
    assert len(found.layers) == 2
    assert all(layer.response is not None for layer in found.layers)


def pyg_model(name):
    gnn = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    if name != "GCN2Conv":
        return getattr(gnn, name)(12, 16, num_layers=2, out_channels=3)

    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift, self.head = nn.Linear(12, 16), nn.Linear(16, 3)
            self.convs = nn.ModuleList(gnn.GCN2Conv(16, alpha=0.1, theta=0.5, layer=k + 1) for k in range(3))

        def forward(self, x, edge_index):
            h = first = self.lift(x).relu()
            for conv in self.convs:
                h = conv(h, first, edge_index).relu()
            return self.head(h)

    return Deep()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["GCN", "GraphSAGE", "GAT", "GIN", "GCN2Conv"])
def test_models_of_pyg(name, dtype, data):
    model = pyg_model(name).to(dtype)
    found = audit(model, data, bands=4, probes=4)
    check(found, 3 if name == "GCN2Conv" else 2)
    assert found.response.method == "forward mode"
    edges = torch.from_numpy(np.stack(data.graph.adjacency.nonzero()).astype(np.int64))
    named = audit(model, data, call=lambda model, x: model(x, edges), bands=4, probes=4)
    assert np.allclose(named.response.gain, found.response.gain, equal_nan=True)


@needs_data
def test_ten_lines_on_the_gcn_of_pygs_examples():
    """PyG's ``examples/gcn.py``: dropout, GCNConv to 16, ReLU, dropout, GCNConv; Cora, row-normalised."""
    geometric = pytest.importorskip("torch_geometric")
    from torch.nn import functional
    from torch_geometric.nn import GCNConv, Sequential

    cora = gf.datasets.load("cora", loops="drop", data_dir=DATA)
    edges = torch.from_numpy(np.stack(cora.graph.adjacency.nonzero()).astype(np.int64))
    raw = geometric.data.Data(x=torch.from_numpy(cora.x.toarray()).float(), edge_index=edges, y=torch.tensor(cora.y))
    pyg, split = geometric.transforms.NormalizeFeatures()(raw), cora.public_split
    torch.manual_seed(0)
    propagate, first, second = "x, edge_index -> x", GCNConv(1433, 16), GCNConv(16, 7)
    steps = [nn.Dropout(0.5), (first, propagate), nn.ReLU(), nn.Dropout(0.5), (second, propagate)]
    model = Sequential("x, edge_index", [step if isinstance(step, tuple) else (step, "x -> x") for step in steps])
    groups = [{"params": first.parameters(), "weight_decay": 5e-4}, {"params": second.parameters()}]
    optimizer = torch.optim.Adam(groups, lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        functional.cross_entropy(model(pyg.x, pyg.edge_index)[split.train], pyg.y[split.train]).backward()
        optimizer.step()
    found = audit(model, pyg, call=lambda model, x: model(x, pyg.edge_index), nodes=split.test, bands=4, probes=2)
    check(found, 2)
    assert [layer.name for layer in found.layers] == ["module_1", "module_4"]
    assert 0.79 < found.accuracy < 0.84  # the layers' paper has 0.815
    assert "attenuates the high half" in found.verdict
    assert "the labels are smoother than random ones" in found.verdict


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("how", ["whole", "method", "layer"])
@pytest.mark.parametrize("name", ["GCN", "GraphSAGE", "GAT", "GIN", "GCN2Conv"])
def test_compiled_models_are_measured_as_they_were(name, how, dtype, data):
    model = pyg_model(name).to(dtype)
    expected = audit(model, data, bands=4, probes=2)
    compiled = torch.compile(model, backend="eager") if how == "whole" else model
    if how == "method":
        model.compile(backend="eager")
    if how == "layer":
        model.convs[0] = torch.compile(model.convs[0], backend="eager")
    found = audit(compiled, data, bands=4, probes=2)
    assert np.array_equal(found.response.gain, expected.response.gain, equal_nan=True)
    names = [layer.name.removesuffix("._orig_mod") for layer in found.layers]
    assert names == [layer.name for layer in expected.layers]


def test_a_compiled_model_that_was_run_is_audited(data):
    """The code of the compiled graph exists; hooks and derivatives still see the module."""
    model = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
    compiled = torch.compile(model, backend="eager")
    compiled(torch.tensor(data.x).float())
    found, plain = audit(compiled, data, bands=4, probes=2), audit(model, data, bands=4, probes=2)
    assert np.array_equal(found.response.gain, plain.response.gain, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_batch_of_graphs_of_pyg(dtype, data):
    """Three copies of a graph in one batch have the response of one; the labels of a batch are those of graphs."""
    batches = pytest.importorskip("torch_geometric.data")
    from torch_geometric.nn import global_add_pool

    edges = torch.from_numpy(np.stack(data.graph.adjacency.nonzero()).astype(np.int64))
    one = batches.Data(x=torch.from_numpy(data.x).to(dtype), edge_index=edges, y=torch.tensor([1]))
    batch = batches.Batch.from_data_list([one] * 3)
    model = pyg_model("GIN").to(dtype)
    nodes, single = (audit(model, given, bands=4, probes=8) for given in (batch, (data.graph, data.x)))
    error = np.hypot(nodes.response.error, single.response.error)
    there = ~np.isnan(error)
    assert np.all(np.abs(nodes.response.gain - single.response.gain)[there] < 5 * error[there])
    assert np.isnan(nodes.accuracy)
    pooled = audit(model, batch, call=lambda m, x: global_add_pool(m(x, batch.edge_index), batch.batch), probes=2)
    assert np.isfinite(pooled.response.low)
    assert np.isnan(pooled.mixing).all()


def test_a_batch_of_copies_is_the_pool_of_its_members(data):
    model = build("gcn", data, copies=(2,), dtype=torch.float64)
    found = audit(model, data, bands=4, probes=4)
    check(found, 2)
    singles = [build("gcn", data, dtype=torch.float64) for _ in range(2)]
    for k, single in enumerate(singles):
        single.load_state_dict({name: value[k] for name, value in model.state_dict().items()})
    squares = [audit(single, data, bands=4, probes=4).response.gain ** 2 for single in singles]
    assert np.allclose(found.response.gain, np.sqrt(sum(squares)), equal_nan=True)


class OnceDifferentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3.0

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 3.0


class Hidden(torch.autograd.Function):
    """A backward pass through NumPy: its second derivative is silently missing."""

    @staticmethod
    def forward(ctx, x):
        return x * 3.0

    @staticmethod
    def backward(ctx, grad):
        return torch.from_numpy(grad.detach().numpy() * 3.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [OnceDifferentiable, Hidden])
def test_functions_without_second_derivative_are_measured_by_differences(kind, dtype):
    def function(x):
        return kind.apply(x) + 0.5 * x

    x, v = torch.randn(2, 30, 4, generator=torch.Generator().manual_seed(0), dtype=dtype)
    found = linearize(function, x, v)
    assert found.method == "central differences"
    assert torch.allclose(found.jvp(v), 3.5 * v, rtol=1e-3, atol=1e-3)
    assert found.error < 0.01


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_the_same_derivative(name):
    generator = torch.Generator().manual_seed(0)
    x, v = torch.randn(2, 30, 4, generator=generator, dtype=torch.float64)

    def function(x):
        return torch.tanh(x @ x.T) @ x

    jvp = METHODS[name](function, x)
    with torch.enable_grad():
        expected = torch.autograd.functional.jvp(function, x, v)[1]
    assert torch.allclose(jvp(v), expected, rtol=1e-5, atol=1e-5)


def test_removing_a_half_that_is_not_there_changes_nothing(data):
    op = gf.operator(data.graph, "sym", channel="high")
    modes = gf.spectrum(op)
    smooth = modes.basis[:, :10] @ np.random.default_rng(0).normal(size=(10, 12))
    found = audit(build("gcn", data), (data.graph, smooth, data.y), normalize=False, probes=2)
    rows = {(row.where, row.half, row.action): row for row in found.dependence}
    high, low = rows["input", "high", "removed"], rows["input", "low", "removed"]
    assert high.energy < 1e-10
    assert high.prediction_change == 0.0
    assert high.accuracy_change == 0.0
    assert np.isclose(low.energy, 1.0)
    assert low.output_change > 0.5
    assert {row.where for row in found.dependence} == {"input", "layers.1"}


def test_dependence_is_that_of_the_changed_features(data):
    model = build("fb-gcn", data, dtype=torch.float64)
    found = audit(model, data, normalize=False, probes=2)
    modes = gf.spectrum(gf.operator(data.graph, "sym", channel="high"))
    below = modes.frequencies < 1.0 - 1e-12
    low = modes.basis[:, below] @ modes.gft(data.x)[below]
    model.eval()
    with torch.no_grad():
        plain, changed = (model(torch.from_numpy(x)).argmax(1).numpy() for x in (data.x, data.x - low))
    row = next(r for r in found.dependence if (r.where, r.half, r.action) == ("input", "low", "removed"))
    assert np.isclose(row.prediction_change, np.mean(plain != changed))
    assert np.isclose(row.accuracy, np.mean(changed == data.y))
    assert np.isclose(found.accuracy, np.mean(plain == data.y))


def test_dependence_of_a_layer_is_that_of_its_changed_input(data):
    first, second = nn.Linear(12, 6).double(), nn.Linear(6, 3).double()
    x, modes = torch.from_numpy(data.x), gf.spectrum(gf.operator(data.graph, "sym", channel="high"))
    found = audit(nn.Sequential(first, nn.Tanh(), second), data, probes=2)
    with torch.no_grad():
        hidden = torch.tanh(first(x)).numpy()
        below = modes.frequencies < 1.0 - 1e-12
        low = modes.basis[:, below] @ (modes.basis[:, below].T @ hidden)
        plain = second(torch.from_numpy(hidden)).numpy()
        for half, part in (("low", low), ("high", hidden - low)):
            changed = second(torch.from_numpy(hidden - part)).numpy()
            row = next(r for r in found.dependence if (r.where, r.half, r.action) == ("2", half, "removed"))
            assert np.isclose(row.energy, np.square(part).sum() / np.square(hidden).sum())
            assert np.isclose(row.output_change, np.linalg.norm(changed - plain) / np.linalg.norm(plain))
            assert np.isclose(row.prediction_change, np.mean(changed.argmax(1) != plain.argmax(1)))
            assert np.isclose(row.accuracy_change, np.mean(changed.argmax(1) == data.y) - found.accuracy)


def test_permuting_a_half_keeps_its_values(data):
    """A network that sees only the mean over the nodes cannot tell; one without the half can."""

    class Mean(nn.Linear):
        def forward(self, x):
            return super().forward(x).mean(dim=0) + torch.zeros(len(x), 1)

    found = audit(Mean(12, 3).double(), data, probes=2)
    change = {(r.half, r.action): r.output_change for r in found.dependence if r.where == "input"}
    assert change["low", "permuted"] < 1e-12
    assert change["high", "permuted"] < 1e-12
    assert change["low", "removed"] > 0.01


def test_progress_is_shown_on_request(data, capsys):
    audit(nn.Linear(12, 3), data, bands=4, probes=2)
    assert capsys.readouterr().err == ""
    audit(nn.Linear(12, 3), data, bands=4, probes=2, progress=True)
    assert re.search(r"audit:.*0/3", capsys.readouterr().err)  # two probes and the dependence on the input


def test_a_collapsed_output_is_reported(data):
    class Collapsed(nn.Linear):
        def forward(self, x):
            return super().forward(x).mean(dim=1, keepdim=True) * torch.ones(3)

    found = audit(Collapsed(12, 3), data, probes=2)
    assert found.oversmoothing.collapsed
    assert "effective rank 1.0" in found.verdict
    assert any("fewer layers" in suggestion for suggestion in found.suggestions)


def test_two_columns_of_rank_one_are_no_collapse(data):
    """A softmax of two columns sees their difference alone: rank 1 is what two classes need."""

    class Antisymmetric(nn.Linear):
        def forward(self, x):
            return super().forward(x) * torch.tensor([1.0, -1.0])

    found = audit(Antisymmetric(12, 1), data, probes=2)
    assert np.isclose(found.oversmoothing.output_rank, 1.0, atol=1e-4)
    assert not found.oversmoothing.collapsed
    assert "collapsed" not in found.verdict


def test_predictions_of_one_class_are_named_and_the_output_is_compared(data):
    model = nn.Linear(12, 3)
    nn.init.constant_(model.bias, 0.0)
    model.bias.data[1] = 100.0
    found = audit(model, data, probes=2)
    row = found.dependence[0]
    assert row.prediction_change == 0.0
    assert "100 % of the predictions are one class" in found.verdict
    assert f"low half of the features changes the output by {100 * row.output_change:.0f} %" in found.verdict
    assert "one class" not in audit(nn.Linear(12, 3), data, probes=2).verdict


def test_a_half_that_harms_is_named(data):
    """Labels read off the low half of the features: the high half is noise to a pointwise network."""
    modes = gf.spectrum(gf.operator(data.graph, "sym", channel="high"))
    below = modes.frequencies < 1.0 - 1e-12
    rng = np.random.default_rng(0)
    low = modes.basis[:, below] @ rng.normal(size=(below.sum(), 12))
    noise = 3.0 * modes.basis[:, ~below] @ rng.normal(size=((~below).sum(), 12))
    model = nn.Linear(12, 3).double()
    y = model(torch.from_numpy(low)).argmax(1).numpy()
    found = audit(model, (data.graph, low + noise, y), probes=2)
    row = next(r for r in found.dependence if (r.where, r.half, r.action) == ("input", "high", "removed"))
    assert row.accuracy == 1.0
    assert "accuracy rises without the high half" in found.verdict


class Sampling(nn.Linear):
    def forward(self, x):
        return super().forward(x) + torch.randn(x.shape[0], 3)


class NeedsEdges(nn.Linear):
    def forward(self, x, edges):
        return super().forward(x)


class Labels(nn.Linear):
    def forward(self, x):
        return super().forward(x).argmax(1)


class Lost(nn.Linear):
    def forward(self, x):
        return {"logits": super().forward(x)}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Sampling(12, 3), "different values at the same input"),
        (NeedsEdges(12, 3), "give call="),
        (Labels(12, 3), "no derivative"),
        (Lost(12, 3), "no tensor"),
        (nn.Linear(5, 3), r"fails on features of shape \(80, 12\)"),
        (lambda x: x, "give a torch.nn.Module"),
    ],
)
def test_what_cannot_be_audited_says_why(model, words, data):
    with pytest.raises(ParameterError, match=words):
        audit(model, data, probes=2)


def test_refused_data_and_options(data):
    model = nn.Linear(12, 3)
    with pytest.raises(ParameterError, match="give a Dataset"):
        audit(model, np.ones((3, 3)))
    with pytest.raises(ParameterError, match=r"\(graph, x\)"):
        audit(model, (data.graph,))
    with pytest.raises(GraphError, match="directed"):
        audit(model, (gf.Graph.from_edges([(0, 1), (1, 2)], directed=True), np.ones((3, 12))))
    with pytest.raises(ParameterError, match="probes"):
        audit(model, data, probes=1)
    with pytest.raises(ParameterError, match="bands"):
        audit(model, data, bands=1)
    with pytest.raises(ParameterError, match="unknown family"):
        audit(model, data, family="gcn")
    with pytest.raises(ParameterError, match="unknown layer"):
        audit(build("gcn", data), data, layers=["layer.7"])
    with pytest.raises(ParameterError, match="nodes must be"):
        audit(model, data, nodes=[500], probes=2)


def test_a_checkpoint_is_audited_as_it_was_trained(tmp_path, data):
    config = gf.nn.TrainConfig(epochs=5, normalize=False)
    model = build("gcn", data)
    gf.nn.train(model, data, data.splits[0], config, directory=tmp_path)
    stored, live = audit(tmp_path, data, probes=2), audit(model, data, probes=2, normalize=False)
    assert np.allclose(stored.response.gain, live.response.gain, equal_nan=True)
    assert np.array_equal(
        audit(tmp_path / "checkpoint.json", data, probes=2).response.gain, stored.response.gain, equal_nan=True
    )


def test_pictures_and_html(data):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from gsp_fb.nn.auditing.page import audit_page

    found = audit(build("fb-gcn", data), data, bands=4, probes=2)
    figure, ax = plt.subplots()
    assert found.plot(ax=ax) is ax
    figure.canvas.draw()
    plt.close(figure)
    assert found.verdict.split(".")[0] in found._repr_html_().replace("&#x27;", "'")
    page = audit_page(found, "<title>")
    assert page.count("data:image/png") == 3
    assert "<title>&lt;title&gt;" in page
    assert "layers.1" in page


def test_a_layer_that_is_called_twice_has_two_rows(data):
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.map = nn.Linear(12, 12)

        def forward(self, x):
            return self.map(torch.relu(self.map(x)))

    found = audit(Shared(), data, probes=2)
    assert [layer.name for layer in found.layers] == ["map[0]", "map[1]"]
    assert {row.where for row in found.dependence} == {"input", "map[1]"}


def test_a_regression_has_output_changes_only(data):
    regression = SimpleNamespace(graph=data.graph, x=data.x, y=np.linspace(0.0, 1.0, 80))
    found = audit(nn.Linear(12, 1), regression, probes=2)
    assert np.isnan(found.accuracy)
    assert all(np.isfinite(row.output_change) for row in found.dependence)


def test_watch_records_training_and_reports_its_cost(data):
    model = build("fb-gcn", data)
    with watch(model, data, epochs=[0, 3]) as history:
        gf.nn.train(model, data, data.splits[0], gf.nn.TrainConfig(epochs=6))
    assert [record.epoch for record in history] == [0, 3, 6]
    assert history.seconds > 0
    assert history.epoch_seconds > 0
    last = audit(model, data, probes=2)
    for row, layer in zip(history[-1].layers, last.layers, strict=True):
        assert np.isclose(row.s_value, layer.s_value, rtol=1e-4)
        assert np.isclose(row.effective_rank, layer.effective_rank, rtol=1e-4)
    assert "3 records" in repr(history)


def test_watching_does_not_change_training(data):
    results = []
    for watched in (False, True):
        model = build("gcn", data)
        if watched:
            with watch(model, data, epochs=2):
                results.append(gf.nn.train(model, data, data.splits[0], gf.nn.TrainConfig(epochs=8)))
        else:
            results.append(gf.nn.train(model, data, data.splits[0], gf.nn.TrainConfig(epochs=8)))
    assert results[0].history == results[1].history


def test_watch_can_record_whole_audits(data):
    model = build("gcn", data)
    with watch(model, data, epochs=4, full=True, bands=4, probes=2) as history:
        gf.nn.train(model, data, data.splits[0], gf.nn.TrainConfig(epochs=4))
    assert [record.epoch for record in history] == [0, 4]
    assert all(record.audit.response.gain.shape == (4,) for record in history)


def test_watching_another_model_warns(data):
    with pytest.warns(GspWarning, match="no training step"), watch(build("gcn", data), data):
        pass
    with pytest.raises(ParameterError, match=r"torch\.nn\.Module"):
        watch("run", data)


def test_a_model_of_pyg_is_watched_in_a_loop_of_its_own(data):
    model = pyg_model("GCN")
    edges = torch.from_numpy(np.stack(data.graph.adjacency.nonzero()).astype(np.int64))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    with watch(model, data, epochs=10) as history:
        for _ in range(30):
            optimizer.zero_grad()
            output = model(torch.from_numpy(data.x).float(), edges)
            nn.functional.cross_entropy(output, torch.tensor(data.y)).backward()
            optimizer.step()
    assert [record.epoch for record in history] == [0, 10, 20, 30]
    assert [layer.name for layer in history[0].layers] == ["convs.0", "convs.1"]
    assert audit(model, data, probes=2).accuracy > 0.6


def test_batches_are_steps_of_an_epoch(data):
    model = nn.Linear(12, 3)
    with watch(model, data, epochs=1, steps_per_epoch=3) as history:
        for _ in range(6):
            model(torch.tensor(data.x).float())
    assert [record.epoch for record in history] == [0, 1, 2]


def evidence(low, high, *, s_labels=0.5, accuracy=(0.0, 0.0), collapsed=False):
    """What a verdict rests on, with gains on both halves and the change of accuracy without each of them."""
    response = SimpleNamespace(low=low, high=high, low_error=0.01, high_error=0.01)
    rows = [
        Dependence("input", half, "removed", 0.5, 0.1, 0.1, 0.8 + change, change)
        for half, change in zip(("low", "high"), accuracy, strict=True)
    ]
    smoothing = SimpleNamespace(collapsed=collapsed, output_rank=1.2)
    return AuditEvidence(response, rows, smoothing, s_labels, 1.0)


@pytest.mark.parametrize(
    ("given", "sentence", "tries"),
    [
        (evidence(1.0, 0.2, s_labels=1.2), "attenuates the high half", ["second, high-pass", "identity path"]),
        (evidence(1.0, 0.2, accuracy=(0.0, -0.1)), "attenuates the high half", ["second, high-pass", "identity path"]),
        (evidence(1.0, 0.2), "attenuates the high half", []),
        (evidence(0.3, 1.0), "amplifies the high half", ["another operator family"]),
        (evidence(0.3, 1.0, s_labels=1.2), "amplifies the high half", []),
        (evidence(1.0, 0.9, collapsed=True), "passes both halves alike", ["fewer layers"]),
        (evidence(1.0, 0.9, accuracy=(0.1, 0.0)), "passes both halves alike", ["the high channel alone"]),
        (evidence(1.0, 0.9, accuracy=(0.0, 0.1)), "passes both halves alike", ["the low channel alone"]),
        (evidence(1.0, np.nan), "cannot be compared", []),
    ],
)
def test_the_verdict_names_its_evidence_and_what_to_try(given, sentence, tries):
    text, suggestions = judge(given)
    assert sentence in text
    assert len(suggestions) == len(tries)
    assert all(word in found for word, found in zip(tries, suggestions, strict=True))
    assert ("Try" in text) == bool(tries)
    assert f"(accuracy {100 * given.dependence[0].accuracy_change:+.1f} points)" in text
    assert "S 1.20 against 1.00" in text or given.s_labels == 0.5
