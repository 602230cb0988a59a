"""Run the components: in the toolchain image, or on this machine.

From the bottom: :mod:`engine` (which engine), :mod:`inputs` (image tags), :mod:`command` (every
``docker run``), :mod:`process` (nothing outlives us), :mod:`images` (build), :mod:`toolchain` (the
interface others use), :mod:`build` (components) and :mod:`cli`.
"""

from tessera.machine.container.command import RunOptions
from tessera.machine.container.toolchain import Toolchain, toolchain

__all__ = ["RunOptions", "Toolchain", "toolchain"]
