"""The models by name, in the order of the tables: a new model is one file and one line here."""

from __future__ import annotations

from collections.abc import Iterable

from tessera.errors import unknown_name
from tessera.models.alam import Alam
from tessera.models.base import RuntimeModel
from tessera.models.basu import Basu
from tessera.models.gandhi import Gandhi
from tessera.models.mosmodel import Mosmodel
from tessera.models.pham import Pham
from tessera.models.polynomial import Poly1, Poly2, Poly3
from tessera.models.yaniv import Yaniv


def registry(*models: type[RuntimeModel]) -> dict[str, type[RuntimeModel]]:
    """{name: class}; two models of one name are a mistake in the program, so ValueError."""
    table: dict[str, type[RuntimeModel]] = {}
    for model in models:
        if model.name in table:
            raise ValueError(
                f"model name '{model.name}' registered twice:"
                f" {table[model.name].__name__} and {model.__name__}"
            )
        table[model.name] = model
    return table


MODELS = registry(
    Basu,
    Gandhi,
    Pham,
    Alam,
    Yaniv,
    Poly1,
    Poly2,
    Poly3,
    Mosmodel,
)


def create(name: str) -> RuntimeModel:
    """An unfitted model by name; TesseraError with the valid names if there is none."""
    if name not in MODELS:
        raise unknown_name("model", name, list(MODELS))
    return MODELS[name]()


def select(names: Iterable[str] = ()) -> list[str]:
    """The named models in the order of the registry, all of them if none is named."""
    wanted = {create(name).name for name in names}
    return [name for name in MODELS if name in wanted or not wanted]
