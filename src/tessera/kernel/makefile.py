"""Scripts that call the kernel's Makefile, which refuses folders whose path has spaces.

In a container such a checkout has a second name without them, and the script gets only that one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.machine.container import RunOptions
from tessera.machine.container.engine import NONE, engine_name
from tessera.machine.container.toolchain import Toolchain
from tessera.machine.fixed_names import CHECKOUT, FixedNames
from tessera.machine.preload import splits


def names() -> FixedNames:
    """The second name of a checkout that needs one; it leaves all other texts as they are."""
    return FixedNames({repo_root(): CHECKOUT} if splits(repo_root()) else {})


def run_script(tools: Toolchain, argv: Sequence[Path | str], env: Mapping[str, str]) -> None:
    """Run a script of ``artifacts/kernel``; files that list paths must be written with :func:`names`.

    Raises:
        TesseraError: the script failed; or without a container, the checkout's path has spaces (``code`` is
            ``kernel-path``).
    """
    second = names()
    if second.names and engine_name() == NONE:
        raise TesseraError(
            f"build the kernel in {repo_root()}",
            "the kernel's Makefile refuses folders whose path has spaces",
            "move the checkout to a folder without spaces, or use the engine docker",
            code="kernel-path",
        )
    words = second.words([str(word) for word in argv])
    variables = {key: second.text(value) for key, value in env.items()}
    tools.run(words, env=variables, options=second.mounted(RunOptions()))
