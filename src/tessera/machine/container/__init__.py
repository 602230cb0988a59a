"""Run the components: in the toolchain image, or on this machine.

From the bottom: :mod:`engine` (choice of the engine), :mod:`image_inputs` (image tags), :mod:`command` (every
``docker run``), :mod:`process` (stops programs with this process), :mod:`images` (builds images),
:mod:`toolchain` (the interface for other packages) and :mod:`build` (components).
"""

from tessera.machine.container.command import RunOptions
from tessera.machine.container.toolchain import Toolchain, toolchain

__all__ = ["RunOptions", "Toolchain", "toolchain"]
