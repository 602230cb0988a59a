"""The models by name, in the order of the tables: a new model is one file and one line here.

``MODELS`` are the nine of the MICRO'20 paper, which `tessera models fit` fits when none is named.
``EXTRA`` are variants of them and models beyond the paper; they are fitted by name.
"""

from __future__ import annotations

from collections.abc import Iterable

from tessera.core.errors import unknown_name
from tessera.fit.models.alam import Alam
from tessera.fit.models.alam_scaled import AlamScaled
from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.basu import Basu
from tessera.fit.models.gandhi import Gandhi
from tessera.fit.models.gandhi_opera import GandhiOpera
from tessera.fit.models.gaussian_process import GaussianProcess
from tessera.fit.models.minimax import Minimax
from tessera.fit.models.monotone import Monotone
from tessera.fit.models.mosmodel import Mosmodel
from tessera.fit.models.pham import Pham
from tessera.fit.models.pham_opera import PhamOpera
from tessera.fit.models.plain_lasso import PlainLasso
from tessera.fit.models.polynomial import Poly1, Poly2, Poly3
from tessera.fit.models.yaniv import Yaniv


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

EXTRA = registry(
    GandhiOpera,
    PhamOpera,
    AlamScaled,
    PlainLasso,
    Minimax,
    Monotone,
    GaussianProcess,
)
EVERY = registry(*MODELS.values(), *EXTRA.values())


def create(name: str, **parameters) -> RuntimeModel:
    """An unfitted model by name; TesseraError with the valid names if there is none."""
    if name not in EVERY:
        raise unknown_name("model", name, list(EVERY))
    return EVERY[name](**parameters)


def select(names: Iterable[str] = ()) -> list[str]:
    """The named models in the order of the registry; the nine of the paper if none is named.

    ``every`` stands for all of them, extras included.
    """
    wanted = set(names)
    if "every" in wanted:
        return list(EVERY)
    wanted = {create(name).name for name in wanted}
    return [name for name in EVERY if name in wanted] if wanted else list(MODELS)
