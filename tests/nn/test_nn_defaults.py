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


@pytest.mark.parametrize(("name", "perceptron"), [("texas", 0.803), ("wisconsin", 0.847), ("cornell", 0.792)])
def test_the_defaults_keep_up_with_a_perceptron_on_webkb(name, perceptron):
    """The references are earlier figures of the perceptron; on Cornell the stored one is 2.8 above fb-gcn."""
    test = {model: statistics.fmean(STORE["measured"][f"{model} {name}"]["test"]) for model in defaults.MEASURED}
    assert test["fb-gcn"] >= perceptron - 0.02
    assert test["acm-gcn"] >= test["fb-gcn"]


def test_the_page_is_that_of_the_stored_figures():
    assert defaults.PAGE.read_text(encoding="utf-8") == defaults._page(STORE)
