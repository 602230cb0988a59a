"""How to read the report: verdicts, provenance, quantities, models in one line each."""

from __future__ import annotations

from tessera.fit.models.registry import EVERY, MODELS


def page(facts) -> dict:
    return {"title": "How to read", "models": _models(facts)}


def _models(facts) -> list[dict]:
    """Those that this run fitted; the registry's if it fitted none."""
    fitted = set(facts.results.models("errors", analysed=False)["model"]) or set(MODELS)
    return [
        {"label": model.label, "equation": model.equation, "source": model.source}
        for name, model in EVERY.items()
        if name in fitted
    ]
