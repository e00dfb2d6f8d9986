"""Hypothesis profiles, and the core's tests once more on a device that NumPy cannot read.

Laws are repeatable by default; `--hypothesis-profile=thorough` or `long` goes looking.
"""

import os
import sys
from functools import cache, wraps
from importlib.util import module_from_spec

import pytest
from hypothesis import HealthCheck, settings

from tests.support import device
from tests.support.device_proxy import DeviceProxy, why_not

# No law depends on the clock: a machine that stalls while an example is drawn is no failure.
settings.register_profile(
    "laws",
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long",
    max_examples=int(os.environ.get("LAW_EXAMPLES", "20000")),  # a law's own share, where it has many parameters
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("device", parent=settings.get_profile("laws"), max_examples=5)
settings.register_profile("quick", parent=settings.get_profile("laws"), max_examples=10)
settings.register_profile("mutation", max_examples=8, deadline=None, derandomize=True, database=None)
settings.load_profile("laws")

# What is run on NumPy and once more on every device.
CORE = [
    "laws/test_*.py",
    "faults/test_faults_filters.py",
    "faults/test_faults_graph.py",
    "faults/test_faults_signals.py",
    "test_energy.py",
    "test_filterbank.py",
    "test_graph.py",
    "test_operators.py",
    "test_plan.py",
    "test_profile.py",
    "test_solve.py",
    "test_spectrum.py",
    "test_two_channel.py",
]
# Tests, by the beginning of their names, of what a device does not have.
ON_THE_HOST = {
    "factorisations and counts of eigenvalues run on the host": (
        "test_a_count_finds_what",
        "test_a_factorisation_counts",
        "test_certify_names_the_size",
        "test_eigengap_error_holds",
        "test_grid_of_316_by_316",
        "test_grid_with_a_tiny_gap",
        "test_isolated_nodes_under_the_zero_policy",
        "test_the_rough_end_of_cora",
    ),
    "without factorisations these graphs take minutes": (
        "test_partial_spectra_of_symmetric_graphs_are_the_ends_of_lapacks",
        "test_copies_are_found_without_a_count",
        "test_every_copy_is_found_on_signed_and_magnetic_tori",
        "test_the_directed_ring_has_its_closed_form_spectrum",
        "test_a_balanced_component_is_found",
        "test_measures_of_larger_graphs_need_no_modes",
    ),
    "verify compares dense matrices on the host": (
        "test_fault_016",
        "test_no_claim_fails",
        "test_verify_names_the_condition",
        "test_claims_fail_where_their_condition_does",
        "test_theorem_1_needs_weights_of_one_sign",
        "test_on_the_papers_graphs_every_claim",
    ),
    "searches in the structure of a graph run on the host": (
        "test_max_cut_cuts",
        "test_bipartite_components",
        "test_reordering_takes_its_method",
        "test_functions_of_weights_above_zero",
        "test_signed_graphs_survive",
        "test_signed_graphs_are_stored",
    ),
    "a product is given as a function of NumPy arrays": ("test_gauss_rule_is_exact", "test_lanczos_closes"),
    "it starts another process, which works on the host": ("test_fault_105", "test_fault_106"),
    "pickles, addresses and read-only flags are NumPy's": (
        "test_all_operators_of_a_graph_share",
        "test_bank_is_frozen",
        "test_fault_038",
        "test_labels_stay_with_the_graph",
        "test_pickled_operator",
        "test_quantiles_are_the_frequencies",
        "test_significance_by_its_definition",
    ),
    "no device has such arrays": ("test_fault_025", "test_fault_031", "test_fault_036", "test_fault_050"),
    "the test looks inside the library": (
        "test_what_needs_the_rows_of_all_nodes",
        "test_a_long_dense_decomposition_warns",
        "test_a_search_that_does_not_converge",
        "test_a_second_search_finds",
        "test_a_small_graph_falls_back",
        "test_a_search_ends_where",
        "test_fault_064",
        "test_spectral_density_is_the_mean_of_its_draws",
        "test_the_axis_holds_all_of_the_energy",
    ),
}


def pytest_collect_file(file_path, parent):
    """Collect the tests of the core once more for every device; `-k double` picks these."""
    is_core = any(file_path.match(f"tests/{name}") for name in CORE)
    return OnDevices.from_parent(parent, path=file_path) if is_core else None


@cache
def devices():
    """Return where the core's tests are run beside NumPy, and how these runs are marked."""
    return {device.DEVICE: [], **({"cuda": [pytest.mark.gpu]} if why_not("cuda") is None else {})}


class OnDevices(pytest.File):
    """A test module on every device, its graphs and signals moved there."""

    def collect(self):
        for where, marks in devices().items():
            name = f"{self.path.name}@{where}"
            module = pytest.Module.from_parent(self, path=self.path, name=name, nodeid=f"{self.parent.nodeid}/{name}")
            module.obj = on_device(self.path, DeviceProxy(where))
            for mark in marks:
                module.add_marker(mark)
            yield module


def on_device(path, proxy):
    """Return a test module, imported anew, whose names of gsp_fb are those that a proxy serves."""
    finders = (finder.find_spec(path.stem, [str(path.parent)]) for finder in sys.meta_path)
    spec = next(filter(None, finders))
    module = module_from_spec(spec)
    # Laws keep the settings under which they are defined.
    settings.register_profile("usual", parent=settings.default)
    settings.load_profile("device")
    spec.loader.exec_module(module)
    settings.load_profile("usual")
    for name, value in list(vars(module).items()):
        if name.startswith("test_"):
            setattr(module, name, skipped(with_device_arguments(value, proxy), name))
        elif not name.startswith("__"):
            setattr(module, name, proxy.wrap(value))
    return module


def with_device_arguments(test, proxy):
    """Return a test whose parameters, drawn ones also, are on the device."""
    if hasattr(test, "hypothesis"):
        test.hypothesis.inner_test = with_device_arguments(test.hypothesis.inner_test, proxy)
        return test

    @wraps(test)
    def carried(*args, **options):
        return test(*(proxy.wrap(x) for x in args), **{name: proxy.wrap(x) for name, x in options.items()})

    return carried


def skipped(test, name):
    """Return a test marked with the reason why it is not for a device, if there is one."""
    reason = next((reason for reason, names in ON_THE_HOST.items() if name.startswith(names)), None)
    return test if reason is None else pytest.mark.skip(reason=reason)(test)
