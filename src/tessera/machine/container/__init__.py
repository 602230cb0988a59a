"""Run the components: in the toolchain image, or on this machine.

From the bottom: :mod:`engine` (choice of the engine), :mod:`image_inputs` (tags of images),
:mod:`image_packages` (their packages, and origins of these), :mod:`command` (every ``docker run`` and
``apptainer exec``), :mod:`process` (stops programs with this process), :mod:`sif` and :mod:`images` (images
as files, and Docker's), :mod:`toolchain` (what an engine gives, for other packages), :mod:`build` and
:mod:`component_tests` (components).
"""

from tessera.machine.container.command import RunOptions
from tessera.machine.container.toolchain import Toolchain, toolchain

__all__ = ["RunOptions", "Toolchain", "toolchain"]
