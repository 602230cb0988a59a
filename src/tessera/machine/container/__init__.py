"""Run the components: in the toolchain image, or on this machine.

From the bottom: :mod:`engine` (choice of the engine), :mod:`image_inputs` (image tags), :mod:`command` (every
``docker run``), :mod:`apptainer_command` (every ``apptainer exec``), :mod:`process` (stops programs with this
process), :mod:`sif` (images as files), :mod:`images` (builds images), :mod:`interface` (what an engine
gives), :mod:`toolchain` (the engines, for other packages), :mod:`sif_export` and :mod:`build` (components).
"""

from tessera.machine.container.command import RunOptions
from tessera.machine.container.toolchain import Toolchain, toolchain

__all__ = ["RunOptions", "Toolchain", "toolchain"]
