"""The defaults of fb-gcn and acm-gcn are the settings that validation prefers, and the page shows what is stored."""

import json
import statistics

import pytest

from gsp_fb.nn import MODELS
from paper import defaults

STORE = json.loads(defaults.STORE.read_text(encoding="utf-8"))
WEBKB = ("texas", "wisconsin", "cornell")


FIRST = {compared.model: compared for compared in reversed(defaults.ROUNDS)}


def webkb_mean(compared, setting):
    keys = [compared.key(name, *setting) for name in WEBKB]
    cells = [STORE["compared"].get(key) for key in keys]
    return None if None in cells else statistics.fmean(cell["val"] for cell in cells)


@pytest.mark.parametrize("model", FIRST)
def test_the_default_has_the_best_validation_on_webkb(model):
    compared = FIRST[model]
    settings = [setting for setting in compared.settings if webkb_mean(compared, setting) is not None]
    assert len(settings) >= 4
    options, training = max(settings, key=lambda setting: webkb_mean(compared, setting))
    row = MODELS[model]
    assert {name: row.options[name] for name in options} == options
    assert dict(row.training) == training


@pytest.mark.parametrize("name", WEBKB)
def test_the_defaults_keep_up_with_a_perceptron_on_webkb(name):
    above = {model: defaults.difference(STORE["measured"], model, name, "test")[0] for model in ("fb-gcn", "acm-gcn")}
    assert above["fb-gcn"] >= -2.0
    assert above["acm-gcn"] >= above["fb-gcn"]
    assert {STORE["measured"][f"{model} {name}"]["seeds"] for model in defaults.MEASURED} == {5}


def test_validation_takes_the_second_setting_where_it_is_better():
    (second,) = MODELS["fb-gcn"].alternatives
    taken = {name: STORE["measured"][f"fb-gcn {name}"].get("options", {}) for name in ("chameleon", "cora", "citeseer")}
    assert {name: options == second for name, options in taken.items()} == {
        "chameleon": True,
        "cora": False,
        "citeseer": False,
    }
    # Two points below the search on Chameleon; Cora and CiteSeer as before there was a second setting.
    for name, least in (("chameleon", 64.8), ("cora", 87.7), ("citeseer", 76.6)):
        assert round(100 * statistics.fmean(STORE["measured"][f"fb-gcn {name}"]["test"]), 1) >= least


def test_the_difference_is_paired_by_split():
    measured = {
        "mlp a": {"seeds": 2, "test": [0.1, 0.2, 0.3, 0.3, 0.4, 0.5]},
        "gcn a": {"seeds": 2, "test": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]},
    }
    mean, half = defaults.difference(measured, "gcn", "a", "test")
    assert mean == pytest.approx(15.0)
    assert half == pytest.approx(0.0, abs=1e-9)


def test_a_rule_by_mean_degree_is_refuted_on_sets_that_did_not_suggest_it():
    (checked,) = (compared for compared in defaults.ROUNDS if "squirrel_filtered" in compared.splits)
    for name in checked.splits:
        default, normalised = (STORE["compared"][checked.key(name, *one)]["val"] for one in checked.settings)
        assert default > normalised


def test_the_page_is_that_of_the_stored_figures():
    assert defaults.PAGE.read_text(encoding="utf-8") == defaults._page(STORE)
