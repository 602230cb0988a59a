"""Simulate: all layouts of a platform over one trace, in one process, with a cache of finished cells.

- `simulator`: the process and its command line; `runner`: cells in groups, and their cache
- `inputs`, `choose_layouts`, `sampling`: what is simulated; `outputs`: its rows as tables
- `platform_files`, `operating_system`: platforms that are listed or detected; logs of the imitation

The package can be called: ``tessera.simulate(trace, platform, layouts=...)``.
Imports record and what is below. Start with `runner`.
"""

from __future__ import annotations

import sys
import types


class _Callable(types.ModuleType):
    def __call__(self, *arguments, **options):
        from tessera.simulate.outputs import simulated_frame

        return simulated_frame(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
