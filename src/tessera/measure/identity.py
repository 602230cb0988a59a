"""What a measured run depends on: a run is reused only where all of this is the same."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from tessera.core.files import sha256_of
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.simulate.cache import content_key


def launcher() -> Path:
    """The program that starts another under libmosalloc and checks its pages."""
    return built("mosalloc", "mosalloc-run")


def common_key(command: list[str]) -> str:
    """Everything but the layout: programs, libraries, arguments, toolchain, processor and kernel."""
    programs = [launcher(), built("mosalloc", "libmosalloc.so"), Path(command[0])]
    return content_key(
        *[sha256_of(path) for path in programs],
        json.dumps(command[1:]),
        json.dumps(toolchain().describe(), sort_keys=True),
        processor(),
        platform.release(),
    )


def run_key(common: str, layout: Path) -> str:
    """The key of a run under one layout file."""
    return content_key(common, sha256_of(layout))


def processor() -> str:
    """Model name and number of processors; runs are reused if both are equal. psutil has no model name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()} x {len(names)}"
