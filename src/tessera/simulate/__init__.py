"""Running the simulator: all layouts of a platform over one trace, with a cache of finished cells.

The package can be called: ``tessera.simulate(trace, platform, layouts=...)`` (:mod:`outputs`).
"""

from __future__ import annotations

import sys
import types


class _Callable(types.ModuleType):
    def __call__(self, *arguments, **options):
        from tessera.simulate.outputs import simulated_frame

        return simulated_frame(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
