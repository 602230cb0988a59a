"""Tessera: the runtime of a new TLB, walk cache or page table, as an interval, or the reason why not.

``tessera.simulate(...)`` and ``tessera.predict(...)`` do what the commands of these names do. They return
pandas data frames (docs/reference/python.md), and are imported on first use.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"


def __getattr__(name: str):
    if name == "simulate":
        return importlib.import_module("tessera.simulate")  # a package that can be called
    if name == "predict":
        return importlib.import_module("tessera.lab.transfer.from_python").predict
    if name == "predict_design":
        return importlib.import_module("tessera.lab.transfer.from_python").removed(name)
    raise AttributeError(f"module 'tessera' has no attribute '{name}'")
