"""``tessera platform check``: all checks of a platform file that need no simulation.

Keys, bounds, types and sources are checked here; rules between keys and the names of components by
``tessera-sim check``, which reads the file as a simulation does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import with_names
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.platforms.model import Platform, load


def check_platform(name_or_path: str | Path) -> tuple[Platform, tuple[str, ...]]:
    """The platform and the simulator's remarks, one per line; raises if the simulator rejects the platform.

    Remarks are on components' own keys: `default: <key> = <value> (<source>)` for one that was left out,
    `not in use: <section>` for a section of a component that this platform does not name.

    Raises:
        TesseraError: what load() refuses, what the simulator refuses (in its words), or a simulator
            that is not built.
    """
    platform = load(name_or_path)
    simulator = built("simulator", "tessera-sim")
    with tempfile.TemporaryDirectory(prefix="tessera-platform-") as name:
        flat = Path(name) / f"{platform.name}.flat"
        flat.write_text(platform.flat())
        argv = [str(simulator), "check", "--platform", str(flat)]
        done = toolchain().run(argv, paths=[flat.parent], capture=True, check=False)
    if done.returncode:
        raise refusal(
            f"platform {name_or_path}", done.returncode, with_names(done.stderr, {flat: name_or_path})
        )
    *remarks, _ = done.stdout.splitlines()
    return platform, tuple(remarks)


def refusal(asked: str, status: int, stderr: str) -> TesseraError:
    """The simulator's ``tessera-sim: asked: found\\n  what to do: remedy`` as an error of ours."""
    found, _, remedy = stderr.strip().removeprefix("tessera-sim: ").partition("\n  what to do: ")
    return TesseraError(
        asked, found or f"tessera-sim exited with status {status}", remedy or "report this as a bug"
    )
