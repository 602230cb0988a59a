"""Platforms: every value with its source, or marked as assumed."""

from __future__ import annotations

from tessera.core.errors import TesseraError
from tessera.show.report.placing import others


def page(facts) -> dict:
    return {
        "title": "Platforms",
        "platforms": [_platform(facts, name) for name in facts.platforms()],
        "figures": others(facts, "platforms.html"),
    }


def _platform(facts, name: str) -> dict:
    from tessera import platforms
    from tessera.platforms.change import changed

    detected = facts.results.tree.platform(name)
    cells = facts.results.simulated
    about = {"name": name, "cells": int((cells["platform"] == name).sum())}
    try:
        platform = platforms.load(detected if detected.exists() else name)
        platform = changed(platform, facts.config.get("changes") or {})
    except TesseraError as error:
        return {**about, "problem": f"{error.asked}: {error.found}.", "todo": error.remedy}
    values = [
        {
            "key": key,
            "value": v.value,
            "source": v.source.removeprefix("assumed").lstrip(": ") + (" (default)" if v.defaulted else ""),
            "assumed": v.assumed,
        }
        for key, v in platform.values.items()
    ]
    return {
        **about,
        "problem": "",
        "description": platform.description.rstrip("."),
        "hardware_class": platform.hardware_class,
        "entries": values,
        "assumed": sum(value["assumed"] for value in values),
    }
