"""How to read the report: verdicts, provenance, quantities, models in one line each."""

from __future__ import annotations

from tessera.show.figures import style


def page(facts) -> dict:
    return {"title": "How to read", "models": _models()}


def _models() -> list[dict]:
    from tessera.fit.models.registry import MODELS

    return [
        {"label": label, "equation": MODELS[name].equation, "source": MODELS[name].source}
        for name, (label, *_) in style.MODELS.items()
        if name in MODELS
    ]
