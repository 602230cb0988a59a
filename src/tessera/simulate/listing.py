"""``tessera simulate --list``: the available engines, platforms and components of platform files."""

from __future__ import annotations

import csv
import subprocess

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.simulate.plan import ENGINES


def listing_text() -> str:
    """Engines, platforms and, from the built simulator, the components that platform files name."""
    lines = ["engines (--engine):"]
    lines += [f"  {name:12} {sentence}" for name, sentence in ENGINES.items()]
    lines += ["platforms (--platform; `tessera platform show NAME` gives every value):"]
    lines += [f"  {name:18} {platforms.load(name).description}" for name in platforms.names()]
    return "\n".join(lines + _components()) + "\n"


def _components() -> list[str]:
    try:
        done: subprocess.CompletedProcess[str] = toolchain().run(
            [built("simulator", "tessera-sim"), "list"], capture=True
        )
    except TesseraError as error:
        return [f"components of platform files: not listed ({error.found}); {error.remedy}"]
    lines, kind = ["components that a platform file names, by kind:"], ""
    for row in csv.DictReader(done.stdout.splitlines()):
        if row["kind"] == "engines":
            continue
        if row["kind"] != kind:
            kind = row["kind"]
            lines.append(f"  {kind}:")
        keys = f" (keys of its own: {row['keys']})" if row["keys"] else ""
        lines.append(f"    {row['name']:16} {row['sentence']}{keys}")
    return lines
