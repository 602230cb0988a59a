"""The registry of models."""

import pytest
from sklearn.base import clone

from tessera.core.errors import TesseraError
from tessera.fit.models import MODELS, create
from tessera.fit.models.base import CannotFit
from tessera.fit.models.basu import Basu
from tessera.fit.models.registry import EVERY, registry, select

from .builders import noisy

NAMES = "basu gandhi pham alam yaniv poly1 poly2 poly3 mosmodel".split()
EXTRA = "gandhi-opera pham-opera alam-scaled lasso minimax monotone gp".split()


def test_names_of_the_contract():
    assert list(MODELS) == NAMES
    assert list(EVERY) == NAMES + EXTRA


def test_duplicate_names_abort():
    with pytest.raises(ValueError, match="'basu' registered twice: Basu and Basu"):
        registry(Basu, Basu)


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(TesseraError, match="model 'moss': no such model") as error:
        create("moss")
    assert all(name in error.value.remedy for name in NAMES + EXTRA)


def test_selection_keeps_the_order_of_the_registry():
    assert select(["mosmodel", "basu"]) == ["basu", "mosmodel"]
    assert select() == NAMES
    assert select(["gp", "basu"]) == ["basu", "gp"]
    assert select(["every"]) == NAMES + EXTRA


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
    with pytest.raises(CannotFit, match="not fitted yet"):
        create(name).predict(0, 0, 0)
