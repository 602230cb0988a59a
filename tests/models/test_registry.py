"""The registry of models."""

import subprocess
import sys

import pytest
from sklearn.base import clone

from tessera.core.errors import TesseraError
from tessera.fit.models.base import NotFitted
from tessera.fit.models.registry import EVERY, MODELS, Registry, create, select_models

from .builders import noisy

NAMES = "basu gandhi pham alam yaniv poly1 poly2 poly3 mosmodel".split()
EXTRA = "gandhi-opera pham-opera alam-scaled lasso minimax monotone gp mosmodel-authors".split()


def test_names_of_the_contract():
    """Models that are added follow those of the paper."""
    assert list(MODELS)[: len(NAMES)] == NAMES
    assert [name for name in EVERY if name in NAMES + EXTRA] == NAMES + EXTRA


def test_duplicate_names_abort():
    with pytest.raises(ValueError, match="'basu' .*: anchors:Basu and other:Basu"):
        Registry(("basu", "anchors:Basu"), ("basu", "other:Basu"))


def test_a_class_answers_to_the_name_of_its_line():
    with pytest.raises(ValueError, match="'flat' .*'basu'"):
        Registry(("flat", "anchors:Basu"))["flat"]


def test_names_cost_no_import_of_the_models():
    source = """
import sys
from tessera.fit.models.registry import select_models
select_models(["gp"])
sys.exit(any(name in sys.modules for name in ("pandas", "sklearn", "numpy")))
"""
    subprocess.run([sys.executable, "-c", source], check=True)


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(TesseraError, match="model 'moss'") as error:
        create("moss")
    assert all(name in error.value.remedy for name in NAMES + EXTRA)


def test_selection_keeps_the_order_of_the_registry():
    assert select_models(["mosmodel", "basu"]) == ["basu", "mosmodel"]
    assert select_models() == list(MODELS)
    assert select_models(["gp", "basu"]) == ["basu", "gp"]
    assert select_models(["every"]) == list(EVERY)


@pytest.mark.parametrize("name", [n for n in NAMES + EXTRA if n != "alam-scaled"])
def test_the_contract_of_an_estimator(name):
    model = create(name)
    assert not [attribute for attribute in vars(model) if attribute.endswith("_")]
    assert model.fit(noisy()) is model
    assert clone(model).get_params() == model.get_params()
    assert not [attribute for attribute in vars(clone(model)) if attribute.endswith("_")]
    assert model.equation and model.source


@pytest.mark.parametrize("name", NAMES + EXTRA)
def test_predict_before_fit(name):
    with pytest.raises(NotFitted, match=f"'{name}'"):
        create(name).predict(0, 0, 0)


@pytest.mark.parametrize("name", [n for n in NAMES + EXTRA if n != "alam-scaled"])
def test_a_model_depends_on_the_inputs_that_it_names(name):
    model, s = create(name).fit(noisy()), noisy()
    before = model.predict(s.H, s.M, s.C)
    for symbol in {"H", "M", "C"} - set(model.inputs):
        changed = {"H": s.H, "M": s.M, "C": s.C} | {symbol: 3 * getattr(s, symbol) + 1000}
        assert (model.predict(**changed) == before).all(), symbol


def test_labels_tell_models_apart():
    labels = [model.label for model in EVERY.values()]
    assert labels[:9] == "Basu Gandhi Pham Alam Yaniv poly1 poly2 poly3 Mosmodel".split()
    assert len(set(labels)) == len(EVERY)
