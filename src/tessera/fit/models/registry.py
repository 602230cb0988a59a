"""The models by name, in the order of the tables: a new model is one file and one line here.

``MODELS`` are fitted, judged and shown in every report, unless a configuration names others; the first nine
are those of the MICRO'20 paper. ``EXTRA`` are variants of them and models beyond the paper, fitted by name.
A model's file is imported on first use of the model, so listing names is fast.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from tessera.core.errors import unknown_name

#: A :class:`~.base.RuntimeModel`, which this file does not import: messages about samples list models' names.
Model = type[Any]


class Registry(MutableMapping):
    """Name -> class. A row is a name and ``<file>:<class>`` in this folder, or the class itself."""

    def __init__(self, *rows: tuple[str, str | Model]):
        self._rows: dict[str, str | Model] = {}
        for name, where in rows:
            if name in self._rows:
                raise ValueError(f"model name '{name}' registered twice: {self._rows[name]} and {where}")
            self._rows[name] = where

    def __getitem__(self, name: str) -> Model:
        where = self._rows[name]
        if isinstance(where, str):
            module, _, class_name = where.partition(":")
            found = getattr(importlib.import_module(f"tessera.fit.models.{module}"), class_name)
            if found.name != name:
                raise ValueError(f"model '{name}' is called '{found.name}' in {where}")
            self._rows[name] = where = found
        return where

    def __setitem__(self, name: str, model: Model) -> None:
        self._rows[name] = model

    def __delitem__(self, name: str) -> None:
        del self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def rows(self) -> list[tuple[str, str | Model]]:
        """What it was made from."""
        return list(self._rows.items())


MODELS = Registry(
    ("basu", "anchors:Basu"),
    ("gandhi", "anchors:Gandhi"),
    ("pham", "anchors:Pham"),
    ("alam", "anchors:Alam"),
    ("yaniv", "anchors:Yaniv"),
    ("poly1", "polynomials:Poly1"),
    ("poly2", "polynomials:Poly2"),
    ("poly3", "polynomials:Poly3"),
    ("mosmodel", "mosmodel:Mosmodel"),
)

EXTRA = Registry(
    ("gandhi-opera", "anchors:GandhiOpera"),
    ("pham-opera", "anchors:PhamOpera"),
    ("alam-scaled", "anchors:AlamScaled"),
    ("lasso", "mosmodel:PlainLasso"),
    ("minimax", "polynomials:Minimax"),
    ("monotone", "polynomials:Monotone"),
    ("gp", "gaussian_process:GaussianProcess"),
    ("mosmodel-authors", "mosmodel:MosmodelAuthors"),
)
EVERY = Registry(*MODELS.rows(), *EXTRA.rows())
#: model -> the same model by its authors' settings. A run that fits the first fits the second beside it, and
#: claims about the model are judged by both.
READINGS = {"mosmodel": "mosmodel-authors"}


def create(name: str, **parameters) -> Any:
    """An unfitted :class:`~.base.RuntimeModel` by name; TesseraError with the valid names for any other."""
    return EVERY[_known(name)](**parameters)


def select_models(names: Iterable[str] = ()) -> list[str]:
    """The named models in the order of the registry; ``MODELS`` if none is named.

    ``every`` stands for all of them, extras included.
    """
    wanted = set(names)
    if "every" in wanted:
        return list(EVERY)
    wanted = {_known(name) for name in wanted}
    return [name for name in EVERY if name in wanted] if wanted else list(MODELS)


def other_readings(names: Iterable[str]) -> list[str]:
    """The authors' readings of the named models that are not named themselves."""
    named = list(names)
    return [READINGS[name] for name in named if name in READINGS and READINGS[name] not in named]


def _known(name: str) -> str:
    if name not in EVERY:
        raise unknown_name("model", name, list(EVERY))
    return name
