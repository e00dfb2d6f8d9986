# ruff: noqa: E501 - lines of code that are run and shown as they are
"""PyGSP's tutorials and gallery, step by step in both libraries: ``python -m tools.porting`` writes docs/from-pygsp.md.

Each step is code for PyGSP and code for gsp_fb that leave their result in ``out``. The steps of a tutorial share a
namespace each. A tolerance of None marks steps without a common number: pictures, random graphs of another generator.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "from-pygsp.md"
TABLE = re.compile(r"(<!-- porting -->\n).*?(<!-- end -->)", re.DOTALL)
START = {
    "pygsp": "import numpy as np\nimport pygsp\nfrom pygsp import filters, graphs, learning, reduction",
    "gsp_fb": "import numpy as np\nimport gsp_fb as gf\nimport pygsp\nfrom gsp_fb import datasets, filters, plot, reduction",
}


@dataclass(frozen=True)
class Step:
    """One step: what it does, the code of both libraries, the relative tolerance of ``out``, what differs in words."""

    title: str
    pygsp: str
    gsp_fb: str
    tol: float | None = 1e-10
    note: str = ""
    needs: str = "pygsp"
    fails: str = ""

    @property
    def lines(self) -> tuple[int, int]:
        """Lines of code in PyGSP and in gsp_fb; the last line, which names the result, is not counted."""
        counts = [len([line for line in code.splitlines() if not line.startswith("out =")]) for code in self.codes]
        return counts[0], counts[1]

    @property
    def codes(self) -> tuple[str, str]:
        """Code of both."""
        return self.pygsp, self.gsp_fb


TUTORIALS: dict[str, tuple[Step, ...]] = {
    "Introduction": (
        Step(
            "graph from a weight matrix",
            "W = np.triu(np.random.default_rng(0).random((30, 30)) > 0.8, 1) * 1.0\nW = W + W.T\nG = graphs.Graph(W)\nout = [G.N, G.Ne]",
            "W = np.triu(np.random.default_rng(0).random((30, 30)) > 0.8, 1) * 1.0\nW = W + W.T\ng = gf.Graph.from_adjacency(W)\nout = [g.n_nodes, g.n_edges]",
        ),
        Step("connected?", "ok = G.is_connected()\nout = ok", "ok = g.n_components == 1\nout = ok"),
        Step("directed?", "ok = G.is_directed()\nout = ok", "ok = g.directed\nout = ok"),
        Step("weights back", "A = G.W\nout = A.toarray()", "A = g.adjacency\nout = A.toarray()"),
        Step(
            "coordinates",
            "G.set_coordinates('ring2D')\nout = G.coords.shape",
            "g = g.with_coordinates(plot.positions(g, 'circle'))\nout = g.coordinates.shape",
            note="coordinates make a new graph",
        ),
        Step("draw it", "G.plot()\nout = 0", "g.plot()\nout = 0", None, "picture"),
        Step(
            "Laplacian",
            "L = G.L\nout = L.toarray()",
            "op = gf.operator(g, 'comb', channel='high')\nout = op.to_scipy().toarray()",
        ),
        Step(
            "Fourier basis",
            "G.compute_fourier_basis()\nout = G.e",
            "modes = gf.spectrum(op)\nout = modes.frequencies",
            1e-10,
        ),
        Step(
            "Fourier transform",
            "x = np.arange(30.0)\nxhat = G.gft(x)\nout = np.abs(xhat)",
            "x = np.arange(30.0)\nxhat = modes.gft(x)\nout = np.abs(xhat)",
            1e-8,
            "signs of modes are free",
        ),
        Step("back", "y = G.igft(xhat)\nout = y", "y = modes.igft(xhat)\nout = y", 1e-10),
        Step(
            "low-pass filter",
            "g1 = filters.Filter(G, lambda e: 1 / (1 + e))\ns = g1.filter(x, method='exact')\nout = s",
            "bank = gf.FilterBank(op, lambda e: 1 / (1 + e))\ns = bank.analyze(x)[:, 0]\nout = s",
            1e-6,
            "ours to a stated error",
        ),
        Step("its response", "g1.plot()\nout = 0", "bank.plot()\nout = 0", None, "picture"),
        Step(
            "gradient",
            "G.compute_differential_operator()\nout = np.sort(np.abs(G.grad(x)))",
            "out = np.sort(np.abs(gf.gradient(op, x)))",
            1e-10,
            "orientation of edges is free",
        ),
        Step(
            "incidence matrix",
            "D = G.D\nout = (D @ D.T).toarray()",
            "D = gf.incidence(op)\nout = (D.T @ D).toarray()",
            note="transposed; one row an edge",
        ),
        Step("divergence", "d = G.div(G.grad(x))\nout = d", "d = gf.divergence(op, gf.gradient(op, x))\nout = d"),
        Step("Dirichlet energy", "e = G.dirichlet_energy(x)\nout = e", "e = gf.dirichlet_energy(op, x)\nout = e"),
        Step(
            "graph of the logo, its first modes",
            "G = graphs.Logo()\nG.compute_fourier_basis()\nout = G.e[:3]",
            "op = gf.operator(gf.from_pygsp(pygsp.graphs.Logo()), 'comb', channel='high')\nmodes = gf.spectrum(op, 3)\nout = modes.frequencies",
            1e-8,
            "the three lowest suffice",
        ),
        Step(
            "draw a mode",
            "G.plot(G.U[:, 1], vertex_size=30)\nout = 0",
            "op.graph.plot(modes.basis[:, 1])\nout = 0",
            None,
            "picture",
        ),
        Step(
            "draw modes of a ring over a line",
            "R = graphs.Ring(50)\nR.compute_fourier_basis()\nR.set_coordinates('line1D')\nR.plot(R.U[:, 1:4])\nout = 0",
            "import matplotlib.pyplot as plt\nring = gf.spectrum(gf.operator(datasets.ring(50), 'comb', channel='high'))\nplt.plot(ring.basis[:, 1:4])\nout = 0",
            None,
            "picture",
        ),
        Step(
            "response with the eigenvalues marked",
            "f = filters.Filter(G, lambda e: 1 / (1 + e))\nf.plot(eigenvalues=True)\nout = 0",
            "f = gf.FilterBank(op, lambda e: 1 / (1 + e))\nplot.response(f, eigenvalues=True)\nout = 0",
            None,
            "picture",
        ),
        Step(
            "a value a letter, with noise",
            "s = np.random.default_rng(1).uniform(-0.5, 0.5, G.N)\ns[G.info['idx_g']] -= 1\ns[G.info['idx_p']] += 1\nout = s",
            "s = np.random.default_rng(1).uniform(-0.5, 0.5, op.graph.n_nodes)\ns[pygsp.graphs.Logo().info['idx_g']] -= 1\ns[pygsp.graphs.Logo().info['idx_p']] += 1\nout = s",
            0.0,
        ),
        Step(
            "noise removed",
            "y = f.filter(s, method='exact')\nout = y",
            "y = filters.tikhonov(op, s, 1.0)\nout = y",
            1e-6,
            "a linear system, no eigenvalues",
        ),
    ),
    "Wavelets": (
        Step(
            "point cloud",
            "G = graphs.Bunny()\nout = G.N",
            "g = gf.from_pygsp(pygsp.graphs.Bunny())\nout = g.n_nodes",
            note="the same points, converted",
        ),
        Step(
            "largest eigenvalue",
            "G.estimate_lmax()\nout = G.lmax",
            "op = gf.operator(g, 'comb', channel='high')\nout = gf.lambda_max(op)",
            2e-2,
            "PyGSP adds 1 %",
        ),
        Step(
            "heat kernel",
            "h = filters.Heat(G, scale=10)\nout = 0",
            "h = gf.FilterBank(op, filters.heat(10, normalize='lmax', lmax=gf.lambda_max(op) * 1.01))\nout = 0",
            None,
            "made below",
        ),
        Step(
            "heat at a node",
            "s = h.localize(20)\nout = s / np.abs(s).max()",
            "s = h.analyze(np.eye(1, g.n_nodes, 20)[0])[:, 0]\nout = s / np.abs(s).max()",
            2e-2,
            "Chebyshev order 30, other axis",
        ),
        Step(
            "three scales at once",
            "h = filters.Heat(G, [10, 25, 50])\ns = h.filter(np.eye(1, G.N, 20)[0], order=100)\nout = s",
            "h = gf.FilterBank(op, [filters.heat(tau, normalize='lmax', lmax=1.01 * gf.lambda_max(op)) for tau in (10, 25, 50)])\ns = h.analyze(np.eye(1, g.n_nodes, 20)[0])\nout = s",
            1e-2,
            "their axis is an estimate",
        ),
        Step(
            "draw the heat", "G.plot(s[:, 0])\nout = 0", "g.plot(s[:, 0])\nout = 0", None, "picture in three dimensions"
        ),
        Step(
            "Mexican hat bank",
            "m = filters.MexicanHat(G, Nf=6)\nout = m.Nf",
            "m = gf.FilterBank(op, filters.mexican_hat(6))\nout = len(m.kernels)",
        ),
        Step("its responses", "m.plot()\nout = 0", "m.plot()\nout = 0", None, "picture"),
        Step(
            "frame bounds",
            "A, B = m.estimate_frame_bounds()\nout = B / A",
            "A, B = m.frame_bounds()\nout = B / A",
            None,
            "their axis is 1 % longer",
        ),
        Step(
            "wavelet transform", "s = m.filter(G.coords)\nout = s.shape", "s = m.analyze(g.coordinates)\nout = s.shape"
        ),
        Step(
            "curvature at each scale",
            "c = np.linalg.norm(m.filter(G.coords, order=100), axis=1)\nout = c / c.max()",
            "c = np.linalg.norm(m.analyze(g.coordinates), axis=1)\nout = c / c.max()",
            5e-2,
            "their axis is 1 % longer",
        ),
        Step(
            "draw a wavelet",
            "G.plot(m.localize(100)[:, 1])\nout = 0",
            "g.plot(m.analyze(np.eye(1, g.n_nodes, 100)[0])[:, 1])\nout = 0",
            None,
            "picture",
        ),
    ),
    "Optimization": (
        Step(
            "graph and signal",
            "G = graphs.Grid2d(8)\nG.compute_differential_operator()\nx = np.repeat([0.0, 1.0], 32)\ny = x + 0.2 * np.random.default_rng(0).standard_normal(64)\nout = y",
            "op = gf.operator(datasets.grid(8), 'comb', channel='high')\nx = np.repeat([0.0, 1.0], 32)\ny = x + 0.2 * np.random.default_rng(0).standard_normal(64)\nout = y",
        ),
        Step(
            "mask",
            "mask = np.random.default_rng(1).random(64) > 0.5\nout = mask",
            "mask = np.random.default_rng(1).random(64) > 0.5\nout = mask",
        ),
        Step(
            "Tikhonov inpainting",
            "s = learning.regression_tikhonov(G, y, mask, tau=1.0)\nout = s",
            "s = filters.denoise(op, y, mask=mask, strength=1.0)\nout = s.signal",
            1e-5,
        ),
        Step(
            "harmonic inpainting",
            "s = learning.regression_tikhonov(G, y, mask, tau=0)\nout = s",
            "s = filters.interpolate(op, y, mask)\nout = s",
            1e-6,
        ),
        Step(
            "classification",
            "labels = (y > 0.5).astype(int)\ns = learning.classification_tikhonov(G, labels, mask, tau=0.5)\nout = s.argmax(axis=1)",
            "labels = np.where(mask, y > 0.5, -1)\ns, _ = filters.classify(op, labels, tau=0.5)\nout = s",
            0.0,
        ),
        Step(
            "total-variation denoising",
            "from pyunlocbox import functions, solvers\ntv, fit = functions.norm_l1(lambda_=0.3), functions.norm_l2(y=y, lambda_=0.5)\nsolver = solvers.mlfbf(L=G.D.T.toarray(), step=0.1)\nr = solvers.solve([functions.dummy(), tv, fit], y.copy(), solver, rtol=None, maxit=5000, verbosity='NONE')\nout = r['sol']",
            "s = filters.denoise(op, y, method='tv', strength=0.3)\nout = s.signal",
            2e-3,
            "ours to a certified gap",
            "pyunlocbox",
        ),
        Step(
            "two labels, most of them unknown",
            "G = graphs.Sensor(N=256, distributed=True, seed=42)\nG.compute_differential_operator()\nx = np.sign(np.cos(7 * G.coords[:, 0]))\nmask = np.random.default_rng(42).random(256) > 0.6\ny = mask * (x + 0.1 * np.random.default_rng(1).standard_normal(256))\nout = y",
            "g = gf.from_pygsp(pygsp.graphs.Sensor(N=256, distributed=True, seed=42))\nop = gf.operator(g, 'comb', channel='high')\nx = np.sign(np.cos(7 * g.coordinates[:, 0]))\nmask = np.random.default_rng(42).random(256) > 0.6\ny = mask * (x + 0.1 * np.random.default_rng(1).standard_normal(256))\nout = y",
            0.0,
        ),
        Step(
            "total-variation inpainting",
            "L = G.D.T.toarray()\ntv, fit = functions.norm_l1(), functions.norm_l2(w=mask * 1.0, y=y, lambda_=3.0, tight=False)\nsolver = solvers.mlfbf(L=L, step=0.999 / (1 + np.linalg.norm(L)))\nr = solvers.solve([functions.dummy(), tv, fit], y.copy(), solver, rtol=0, maxit=5000, verbosity='NONE')\nout = np.abs(L @ r['sol']).sum() + 3 * np.sum((mask * (r['sol'] - y)) ** 2)",
            "s = filters.denoise(op, y, method='tv', mask=mask, strength=1 / 6).signal\nout = gf.total_variation(op, s) + 3 * np.sum((mask * (s - y)) ** 2)",
            1e-3,
            "value of the objective",
            "pyunlocbox",
        ),
        Step(
            "Tikhonov by gradient descent",
            "step = 0.999 / np.linalg.norm(L.T @ L + 3 * np.diag(mask), 2)\nfit, smooth = functions.norm_l2(w=mask * 1.0, y=y, lambda_=3.0, tight=False), functions.norm_l2(A=L, tight=False)\nr = solvers.solve([smooth, fit], y.copy(), solvers.gradient_descent(step=step), rtol=0, maxit=10000, verbosity='NONE')\nout = r['sol']",
            "s = filters.denoise(op, y, mask=mask, strength=1 / 3).signal\nout = s",
            1e-4,
            "ours a linear system",
            "pyunlocbox",
        ),
    ),
    "Pyramid": (
        Step(
            "graph",
            "G = graphs.Sensor(100, seed=7, k=6)\nG.compute_fourier_basis()\nout = G.N",
            "g = gf.from_pygsp(pygsp.graphs.Sensor(100, seed=7, k=6))\nout = g.n_nodes",
        ),
        Step(
            "Kron reduction",
            "r = reduction.kron_reduction(G, np.arange(0, 100, 2))\nout = r.W.toarray()",
            "r = reduction.kron(g, np.arange(0, 100, 2))\nout = r.adjacency.toarray()",
        ),
        Step(
            "multiresolution",
            "Gs = reduction.graph_multiresolution(G, 3, sparsify=False, compute_full_eigen=True)\nout = [H.N for H in Gs]",
            "pyramid = reduction.Pyramid(g, 3, regularization=0.005)\nout = [h.n_nodes for h in pyramid.graphs]",
        ),
        Step(
            "analysis",
            "x = np.random.default_rng(0).standard_normal((100, 1))\nca, pe = reduction.pyramid_analysis(Gs, x, h_filters=[lambda e: 1 / (2 * e + 1)] * 3, method='exact')\nout = np.concatenate([ca[-1], *pe[::-1]]).ravel()",
            "x = np.random.default_rng(0).standard_normal(100)\nparts = pyramid.analyze(x)\nout = np.concatenate(parts)",
            1e-6,
        ),
        Step(
            "synthesis",
            "s, _ = reduction.pyramid_synthesis(Gs, ca[-1], pe, method='exact')\nout = s.ravel()",
            "s = pyramid.synthesize(parts)\nout = s",
            1e-10,
        ),
        Step(
            "several signals",
            "X = np.random.default_rng(1).standard_normal((100, 2))\nca, pe = reduction.pyramid_analysis(Gs, X, h_filters=[lambda e: 1 / (2 * e + 1)] * 3, method='exact')\nY, _ = reduction.pyramid_synthesis(Gs, ca[-1], pe, method='exact')\nout = Y",
            "X = np.random.default_rng(1).standard_normal((100, 2))\nY = pyramid.synthesize(pyramid.analyze(X))\nout = Y",
            1e-10,
        ),
        Step(
            "sparsification",
            "s = reduction.graph_sparsify(graphs.FullConnected(100), 0.7)\nout = 0",
            "s = reduction.sparsify(datasets.complete(100), 0.7)\nout = 0",
            None,
            "PyGSP calls a function that SciPy no longer has",
            fails="AttributeError",
        ),
    ),
    "Gallery": (
        Step(
            "eigenvalue concentration",
            "G = graphs.Ring(20, k=3)\nG.compute_fourier_basis()\nout = G.e",
            "s = gf.spectrum(gf.operator(datasets.ring(20, 3), 'comb', channel='high'))\nout = s.frequencies",
            1e-10,
        ),
        Step(
            "a ring's Laplacian is diagonal in the discrete Fourier transform",
            "F = np.fft.fft(np.eye(20))\nout = np.abs(F.conj() @ G.L.toarray() @ F) / 20",
            "F = np.fft.fft(np.eye(20))\nout = np.abs(F.conj() @ s.operator.to_scipy().toarray() @ F) / 20",
            1e-10,
        ),
        Step(
            "eigenvector localization",
            "G = graphs.Comet(20, 12)\nG.compute_fourier_basis()\nout = [np.abs(G.U[:, -1]).max()]",
            "s = gf.spectrum(gf.operator(datasets.comet(20, 12), 'comb', channel='high'))\nout = [np.abs(s.basis[:, -1]).max()]",
            1e-10,
        ),
        Step(
            "coherence of a path with a weak edge",
            "G = graphs.Graph(np.diag([0.01, 1, 1], 1) + np.diag([0.01, 1, 1], -1))\nout = G.coherence",
            "g = gf.Graph.from_adjacency(np.diag([0.01, 1, 1], 1) + np.diag([0.01, 1, 1], -1))\nout = np.abs(gf.spectrum(gf.operator(g, 'comb', channel='high')).basis).max()",
            1e-10,
        ),
        Step(
            "Fourier basis of a path",
            "G = graphs.Path(10)\nG.compute_fourier_basis()\nout = np.abs(G.U)",
            "s = gf.spectrum(gf.operator(datasets.path(10), 'comb', channel='high'))\nout = np.abs(s.basis)",
            1e-8,
        ),
        Step(
            "Dirichlet energy of modes",
            "G = graphs.Sensor(seed=42)\nG.compute_fourier_basis()\nout = [G.dirichlet_energy(u) for u in G.U.T[1:7]]",
            "op = gf.operator(gf.from_pygsp(pygsp.graphs.Sensor(seed=42)), 'comb', channel='high')\ns = gf.spectrum(op)\nout = [gf.dirichlet_energy(op, u) for u in s.basis.T[1:7]]",
            1e-10,
        ),
        Step(
            "filtering a signal: window",
            "w = filters.Expwin(G, band_max=0.5)\nx = np.random.default_rng(1).normal(size=64)\nout = w.filter(x, method='exact')",
            "w = gf.FilterBank(op, filters.exponential_window(band_max=0.5))\nx = np.random.default_rng(1).normal(size=64)\nout = w.analyze(x)[:, 0]",
            1e-5,
        ),
        Step(
            "Fourier transform of smoother and smoother signals",
            "y = filters.Heat(G, [10, 3, 1]).filter(x, method='exact')\nout = np.abs(G.gft(y))",
            "y = gf.FilterBank(op, [filters.heat(tau, normalize='lmax') for tau in (10, 3, 1)]).analyze(x)\nout = np.abs(s.gft(y))",
            1e-5,
        ),
        Step(
            "heat diffusion on a grid",
            "G = graphs.Grid2d(12)\nG.compute_fourier_basis()\nh = filters.Heat(G, 50)\nout = h.filter(np.eye(1, 144, 70)[0], method='exact')",
            "op = gf.operator(datasets.grid(12), 'comb', channel='high')\nh = gf.FilterBank(op, filters.heat(50, normalize='lmax'))\nout = h.analyze(np.eye(1, 144, 70)[0])[:, 0]",
            1e-5,
        ),
        Step(
            "wave propagation",
            "w = filters.Wave(G, 10, 1)\nout = w.filter(np.eye(1, 144, 70)[0], method='exact')",
            "w = gf.FilterBank(op, filters.wave(10, speed=1))\nout = w.analyze(np.eye(1, 144, 70)[0])[:, 0]",
            1e-5,
        ),
        Step(
            "kernel localization",
            "m = filters.MexicanHat(G, Nf=4)\nout = m.localize(70, method='exact')",
            "m = gf.FilterBank(op, filters.mexican_hat(4))\nout = np.sqrt(144) * m.analyze(np.eye(1, 144, 70)[0])",
            1e-4,
            "PyGSP multiplies by the root of N",
        ),
        Step(
            "random walk",
            "P = np.diag(1 / G.dw) @ G.W.toarray()\np = np.linalg.matrix_power(P.T, 5) @ np.eye(1, 144, 70)[0]\nout = p",
            "P = gf.operator(datasets.grid(12), 'rw').to_scipy().toarray()\np = np.linalg.matrix_power(P.T, 5) @ np.eye(1, 144, 70)[0]\nout = p",
            1e-10,
        ),
        Step(
            "stationary distribution",
            "from scipy.sparse import diags, linalg\nP = diags(1 / G.dw) @ G.W\nu = np.abs(linalg.eigs(P.T, k=1, which='LR')[1][:, 0])\nout = u / u.sum()",
            "u = op.graph.degrees\nout = u / u.sum()",
            1e-8,
            "proportional to the degrees",
        ),
        Step(
            "spectrogram",
            "f = pygsp.features.compute_spectrogram(G, M=8)\nout = 0",
            "plot.spectrogram(op, bands=8)\nout = 0",
            None,
            "other window",
        ),
        Step(
            "low-pass, two signals",
            "f = filters.Filter(G, lambda e: 1 / (1 + 3 * e))\nX = np.random.default_rng(0).random((144, 2))\nout = f.filter(X, method='exact')",
            "X = np.random.default_rng(0).random((144, 2))\nout = filters.tikhonov(op, X, 3.0)",
            1e-6,
        ),
        Step(
            "heat from three nodes of the logo",
            "G = graphs.Logo()\nG.compute_fourier_basis()\nx = np.isin(np.arange(G.N), [20, 30, 1090]) * 1.0\ny = filters.Heat(G, 100).filter(x, method='exact')\nout = y",
            "op = gf.operator(gf.from_pygsp(pygsp.graphs.Logo()), 'comb', channel='high')\nx = np.isin(np.arange(1130), [20, 30, 1090]) * 1.0\ny = gf.FilterBank(op, filters.heat(100, normalize='lmax')).analyze(x)[:, 0]\nout = y",
            1e-5,
        ),
        *(
            Step(
                f"graph: {name}",
                f"G = graphs.{theirs}\nout = G.W.toarray()",
                f"g = datasets.{ours}\nout = g.adjacency.toarray()",
                tol,
                note,
            )
            for name, theirs, ours, tol, note in (
                ("ring", "Ring(16)", "ring(16)", 0.0, ""),
                ("ring with neighbours", "Ring(16, k=2)", "ring(16, 2)", 0.0, ""),
                ("path", "Path(16)", "path(16)", 0.0, ""),
                ("grid", "Grid2d(4, 5)", "grid(4, 5)", 0.0, ""),
                ("torus", "Torus(5, 4)", "torus(4, 5)", 0.0, "transposed"),
                ("comet", "Comet(16, 5)", "comet(16, 5)", 0.0, ""),
                ("full", "FullConnected(8)", "complete(8)", 0.0, ""),
                ("sphere", "Sphere(nb_pts=50)", "sphere(50)", None, "random"),
                ("cube", "Cube(nb_pts=50)", "cube(50)", None, "random"),
                ("swiss roll", "SwissRoll(50)", "swiss_roll(50)", None, "random"),
                ("two moons", "TwoMoons()", "two_moons(200)", None, "random"),
                ("random ring", "RandomRing(16)", "random_ring(16)", None, "random"),
                ("random regular", "RandomRegular(16, k=4, seed=1)", "random_regular(16, 4)", None, "random"),
                ("low-stretch tree", "LowStretchTree(3)", "low_stretch_tree(3)", None, "other order of nodes"),
                ("sensor", "Sensor(50)", "sensor(50)", None, "random"),
                ("sensor net", "DavidSensorNet(50)", "david_sensor_net(50)", None, "random"),
                ("community", "Community(50)", "community(50)", None, "random"),
                ("Erdos-Renyi", "ErdosRenyi(20, 0.3)", "erdos_renyi(20, 0.3)", None, "random"),
                ("Barabasi-Albert", "BarabasiAlbert(20)", "barabasi_albert(20)", None, "random"),
                ("image grid", "Grid2d(5, 5)", "image_grid(np.eye(5))", 0.0, ""),
                ("line graph", "LineGraph(graphs.Comet(8, 4))", "comet(8, 4)\ng = gf.line_graph(g)", 0.0, ""),
            )
        ),
    ),
}


def missing(step: Step) -> bool:
    """Return whether a library that PyGSP's side needs is not installed."""
    return find_spec(step.needs) is None


def run(tutorial: str) -> dict[str, float | None]:
    """Run both sides of a tutorial; return the largest relative difference of each step's ``out``, None without one."""
    spaces: dict[str, dict[str, Any]] = {name: {} for name in START}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyGSP's own
        for name, code in START.items():
            exec(code, spaces[name])
        found = {}
        for step in TUTORIALS[tutorial]:
            if not missing(step):
                _run_pygsp(step, spaces["pygsp"])
            exec(step.gsp_fb, spaces["gsp_fb"])
            skipped = step.tol is None or missing(step)
            found[step.title] = None if skipped else difference(spaces["pygsp"]["out"], spaces["gsp_fb"]["out"])
    return found


def _run_pygsp(step: Step, space: dict[str, Any]) -> None:
    """Run PyGSP's side; where it is known to fail, insist that it does."""
    try:
        exec(step.pygsp, space)
    except Exception as error:
        if type(error).__name__ != step.fails:
            raise
    else:
        if step.fails:
            raise AssertionError(f"{step.title}: PyGSP no longer fails with {step.fails}")


def difference(theirs: Any, ours: Any) -> float:
    """Return the largest difference relative to the largest value."""
    a, b = (np.asarray(out, dtype=np.float64) for out in (theirs, ours))
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape}")
    return float(np.abs(a - b).max() / (np.abs(a).max() or 1.0))


def tables(measured: dict[str, dict[str, float | None]]) -> str:
    """Return the porting tables in Markdown, one a tutorial."""
    return "\n".join(_table(name, measured[name]) for name in TUTORIALS)


def _table(tutorial: str, found: dict[str, float | None]) -> str:
    head = f"### {tutorial}\n\n| step | PyGSP | gsp_fb | lines | difference |\n|---|---|---|---|---|\n"
    rows = (
        f"| {step.title} | {_cell(step.pygsp)} | {_cell(step.gsp_fb)} | {step.lines[0]} / {step.lines[1]} "
        f"| {_text(found[step.title], step.note)} |"
        for step in TUTORIALS[tutorial]
    )
    return head + "\n".join(rows) + "\n"


def _cell(code: str) -> str:
    shown = [line for line in code.splitlines() if not line.startswith("out =")]
    return "<br>".join(f"`{line}`".replace("|", "\\|") for line in shown) or "–"


def _text(value: float | None, note: str) -> str:
    size = "" if value is None else "0" if value == 0 else f"{value:.0e}"
    return "; ".join(part for part in (size, note) if part)


def main() -> None:
    """Run every step and write the tables into the page."""
    text = tables({name: run(name) for name in TUTORIALS})
    PAGE.write_text(TABLE.sub(lambda match: f"{match[1]}{text}{match[2]}", PAGE.read_text()))


if __name__ == "__main__":
    main()
