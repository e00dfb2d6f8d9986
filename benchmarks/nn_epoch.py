"""Time the networks: ours against the same model on PyTorch Geometric's message passing, in one process, interleaved.

    python benchmarks/nn_epoch.py [--threads 2] [--rounds 7] [--only epochs|splits] [--data-dir DIR] [--write]

Both sides start from the same weights and must agree in the loss to four digits before a time counts. ``--write``
puts the table into ``benchmarks/NN_RESULTS.md``, or with ``--only`` into a file of its own beside it. The splits are
measured on one thread and on all, also in CPU time, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import statistics
import time
import warnings
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from torch.nn import functional
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from gsp_fb import Graph, datasets
from gsp_fb.errors import GspWarning
from gsp_fb.nn import TrainConfig, build, features, train, train_splits

HIDDEN = 64


class PygLayer(MessagePassing):
    """The filterbank layer as one writes it on message passing: an edge list, two maps, two passes."""

    def __init__(self, n_in, n_out, channels):
        super().__init__(aggr="add")
        self.low = torch.nn.Linear(n_in, n_out, bias=False)
        self.high = torch.nn.Linear(n_in, n_out, bias=False) if channels == "both" else None
        self.bias = torch.nn.Parameter(torch.zeros(n_out))
        self.logits = torch.nn.Parameter(torch.zeros(2))

    def forward(self, x, edge_index, norm):
        if self.high is None:
            return self.propagate(edge_index, x=self.low(x), norm=norm) + self.bias
        z_low, z_high = torch.relu(self.low(x)), torch.relu(self.high(x))
        low = self.propagate(edge_index, x=z_low, norm=norm)
        high = z_high - self.propagate(edge_index, x=z_high, norm=norm)
        a = torch.sigmoid(self.logits)
        return a[0] * low + a[1] * high + self.bias

    def message(self, x_j, norm):
        return norm[:, None] * x_j


class PygNetwork(torch.nn.Module):
    def __init__(self, ours, graph, channels):
        super().__init__()
        edges = torch.from_numpy(np.stack(graph.adjacency.nonzero())).long()
        self.edges, self.norm = gcn_norm(edges, None, graph.n_nodes)
        shapes = [(layer.lift.weight.shape[0], layer.bias.shape[0]) for layer in ours.layers]
        self.layers = torch.nn.ModuleList(PygLayer(*shape, channels) for shape in shapes)
        with torch.no_grad():
            for mine, theirs in zip(ours.layers, self.layers, strict=True):
                blocks = mine.lift.weight.T.chunk(1 + (channels == "both"))
                theirs.low.weight.copy_(blocks[0])
                if channels == "both":
                    theirs.high.weight.copy_(blocks[1])

    def forward(self, x):
        h = torch.relu(self.layers[0](x, self.edges, self.norm))
        return self.layers[1](h, self.edges, self.norm)


class Job:
    """One network on one data set, stepping epoch by epoch."""

    def __init__(self, network, x, y):
        self.network, self.x, self.y = network, x, y
        self.optimizer = torch.optim.Adam(network.parameters(), lr=0.01, fused=True)

    def epoch(self):
        loss = functional.cross_entropy(self.network(self.x), self.y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def ours(data, channels):
    model = build("gcn", data, hidden=HIDDEN, dropout=0.0, channels=channels)
    return Job(model, features(data.x), torch.from_numpy(data.y))


def theirs(data, channels):
    network = PygNetwork(build("gcn", data, hidden=HIDDEN, dropout=0.0, channels=channels), data.graph, channels)
    dense = data.x.toarray() if sparse.issparse(data.x) else data.x
    return Job(network, torch.tensor(dense, dtype=torch.float32), torch.from_numpy(data.y))


def interleaved(jobs, rounds):
    """Return the median seconds of an epoch of every job, after checking that the losses agree pair by pair."""
    losses = [[job.epoch() for _ in range(3)] for job in jobs]
    for first, second in zip(losses[::2], losses[1::2], strict=True):
        if not np.allclose(first, second, rtol=1e-4):
            raise SystemExit(f"the losses differ: {first} and {second}")
    times = [[] for _ in jobs]
    for _ in range(rounds):
        for job, taken in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job.epoch()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


class Data:
    def __init__(self, graph, x, y):
        self.graph, self.x, self.y = graph, x, y


def large(n=100_000, degree=20, n_features=64):
    rng = np.random.default_rng(0)
    pairs = np.unique(np.sort(rng.integers(0, n, (n * degree // 2, 2)), axis=1), axis=0)
    graph = Graph.from_edges(pairs[pairs[:, 0] != pairs[:, 1]], n_nodes=n)
    return Data(graph, rng.normal(size=(n, n_features)).astype(np.float32), rng.integers(0, 5, n))


def _peak(make, pipe):
    data = large()
    job = make(data, "both")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak of making the data
    before = _status("VmRSS")
    job.epoch()
    pipe.send(_status("VmHWM") - before)


def _status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def peak_megabytes(make):
    """Return what one epoch adds to the peak memory of a fresh process."""
    receive, send = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_peak, args=(make, send))
    process.start()
    process.join()
    return receive.recv()


def epoch_rows(cora, rounds):
    # Epochs of milliseconds are at the mercy of whatever else the machine does: the median needs more of them.
    plans = (
        ("FB-GCN epoch, Cora", cora, 4.0, 20 * rounds),
        ("FB-GCN epoch, n=1e5, nnz=2e6, F=64", large(), 5.0, rounds),
    )
    for name, data, bar, repeats in plans:
        jobs = [make(data, channels) for channels in ("both", "low") for make in (theirs, ours)]
        reference, mine, one_reference, one = interleaved(jobs, repeats)
        yield name, "PyG message passing", reference, mine, reference / mine, f">= {bar:g}x"
        yield name.replace("FB-GCN", "GCN"), "PyG message passing", one_reference, one, one_reference / one, ""
        yield f"{name}: FB over one channel", "its own GCN", one, mine, mine / one, "<= 2.2x"


def split_rows(cornell, rounds, threads):
    torch.set_num_threads(threads)
    config = TrainConfig(lr=0.05, epochs=300, patience=100)
    warnings.simplefilter("ignore", GspWarning)  # one class of Cornell has a single node
    for dropout in (0.0, 0.5):
        options = {"hidden": HIDDEN, "dropout": dropout}
        train_splits("fb-gcn", cornell, cornell.splits, TrainConfig(epochs=1), **options)  # compiles its loop
        measured = [split_round(cornell, config, options) for _ in range(rounds)]
        for clock, times in zip(("wall", "CPU"), zip(*measured, strict=True), strict=True):
            theirs_, ours_ = (statistics.median(side) for side in zip(*times, strict=True))
            ratios = sorted(one / other for one, other in times)
            how = f"dropout {dropout:g}, {threads} thread(s), {clock} ({ratios[0]:.2f} to {ratios[-1]:.2f}x)"
            name = f"ten Cornell splits to the end, {how}"
            yield name, "one after the other", theirs_, ours_, statistics.median(ratios), ">= 3x"


def split_round(cornell, config, options):
    """Return the seconds of both ways, by the wall and by the CPU; the first way is the ordinary ``train``."""
    marks = [(time.perf_counter(), time.process_time())]
    separate = [train(build("fb-gcn", cornell, **options), cornell, split, config) for split in cornell.splits]
    marks.append((time.perf_counter(), time.process_time()))
    batched = train_splits("fb-gcn", cornell, cornell.splits, config, **options)
    marks.append((time.perf_counter(), time.process_time()))
    if not options["dropout"]:
        check_same(separate, batched)
    return [(middle - start, end - middle) for start, middle, end in zip(*marks, strict=True)]


def check_same(separate, batched, epochs=20):
    """Compare the losses of the first epochs; later ones magnify any rounding, and so do the scores at the end."""
    losses = [[[row["val_loss"] for row in run.history[:epochs]] for run in runs] for runs in (separate, batched)]
    if not np.allclose(*losses, rtol=1e-4):
        raise SystemExit(f"the losses differ by {np.max(np.abs(np.subtract(*losses))):.1e}")


def markdown(rows, threads):
    lines = [
        "# Networks: measured",
        "",
        f"{platform.machine()}, torch {torch.__version__}, {threads} thread(s) unless stated otherwise. Made by",
        "`python benchmarks/nn_epoch.py --write`: medians of interleaved runs in one process, same weights, losses",
        "equal to four digits. Of the splits the ratio is the median of those of the rounds, beside it the lowest and",
        "the highest.",
        "",
        "| job | against | theirs, s | ours, s | ratio | bar |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {job} | {rival} | {a:.4g} | {b:.4g} | {ratio:.2f}x | {bar} |" for job, rival, a, b, ratio, bar in rows
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=("epochs", "splits"))
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    load = {name: datasets.load(name, data_dir=options.data_dir) for name in ("cora", "cornell")}
    parts = {
        "epochs": lambda: epoch_rows(load["cora"], options.rounds),
        "splits": lambda: chain.from_iterable(
            split_rows(load["cornell"], options.rounds, threads) for threads in sorted({1, options.threads})
        ),
    }
    chosen = parts if options.only is None else (options.only,)
    text = markdown([row for part in chosen for row in parts[part]()], options.threads)
    if "epochs" in chosen:
        memory = [peak_megabytes(make) for make in (theirs, ours)]
        text += f"\nPeak memory that an FB-GCN epoch adds at n=1e5: PyG {memory[0]:.0f} MB, ours {memory[1]:.0f} MB.\n"
    print(text)
    if options.write:
        name = "NN_RESULTS.md" if options.only is None else f"NN_RESULTS_{options.only}.md"
        Path(__file__).with_name(name).write_text(text)


if __name__ == "__main__":
    main()
