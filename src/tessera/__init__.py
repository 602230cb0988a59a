"""Tessera: from partial simulations of virtual memory to runtimes that can be trusted.

``tessera.simulate(...)`` and ``tessera.predict_design(...)`` do what the commands of these names do. They
return pandas data frames (docs/notebooks.md), and are imported on first use.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"


def __getattr__(name: str):
    if name == "simulate":
        return importlib.import_module("tessera.simulate")  # a package that can be called
    if name == "predict_design":
        return importlib.import_module("tessera.judge.studies.transfer.from_python").predict_design
    raise AttributeError(f"module 'tessera' has no attribute '{name}'")
