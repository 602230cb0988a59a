"""Build and boot the kernel after every patch of the series, so that each can be bad on its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.kernel import built_once, image
from tessera.kernel.guest import GuestProgram, run_in_guest
from tessera.kernel.makefile import names, run_script
from tessera.kernel.source import find_source, fragment_files, patches, script
from tessera.results.schema.kernel import BISECT
from tessera.results.write import frame_of

#: Of the configuration: the smallest that boots and has what the patches change.
FRAGMENTS = ("base", "bisect", "replication")
#: Enough to see that processes run, fork and map memory on all processors.
SCRIPT = """[ $(nproc) = 4 ] || exit 1
i=0
while [ $i -lt 20 ]; do i=$((i + 1)); sh -c 'true | cat' & done
wait
dd if=/dev/zero of=/tmp/file bs=1M count=32 2> /dev/null && [ $(wc -c < /tmp/file) = 33554432 ]
"""


def build(say: Callable[[str], None], *, accept_series: bool = False) -> dict[Path, Path]:
    """Patch -> folder with ``bzImage`` of the kernel with the patches up to it, or with ``errors``.

    A folder is named by the hash of these patches: a changed one builds the kernels from itself on.
    """
    tools, series, fragments = image.ready(say), patches(), fragment_files(FRAGMENTS)
    found, recipe = find_source(tools, accept_series, say), script("build-series.sh")
    folders = {
        patch: built_once.folder()
        / f"after-{built_once.key(tools, [*recipe, *fragments, *series[: n + 1]], found.version)}"
        for n, patch in enumerate(series)
    }
    with built_once.locked("series-tree"):
        missing = sum(not (folder / "bzImage").exists() for folder in folders.values())
        if missing:
            say(f"building kernel {found.version} after {missing} of {len(series)} patches (1 to 8 min each)")
            listing = built_once.folder() / "series"
            lines = "".join(f"{patch} {folder}\n" for patch, folder in folders.items())
            listing.write_text(names().text(lines))
            argv = [recipe[0], built_once.folder() / "series-tree", listing, *fragments]
            run_script(tools, argv, image.compiler_cache() | found.environment())
    return folders


def bisect(out: Path, say: Callable[[str], None], *, accept_series: bool = False) -> pd.DataFrame:
    """One row per patch: ``passed``, ``not built`` or ``failed in the guest``, and the findings."""
    guest = image.build_guest(say)
    rows = []
    for patch, kernel in build(say, accept_series=accept_series).items():
        outcome = _try(kernel, guest / "common.cpio", out / patch.stem, say)
        rows.append((patch.name, *outcome, "measured"))
        say(f"{patch.name}: {outcome[0]}")
    return frame_of(BISECT, rows)


def _try(kernel: Path, archive: Path, out: Path, say: Callable[[str], None]) -> tuple[str, float, str]:
    """Outcome, seconds in the guest and findings of one kernel."""
    if not (kernel / "bzImage").exists():
        return "not built", 0.0, (kernel / "errors").read_text()[:300]
    try:
        done = run_in_guest(
            image.ready(say), GuestProgram(kernel / "bzImage", (archive,)), SCRIPT, out, timeout_seconds=180
        )
    except TesseraError as error:
        return "failed in the guest", 0.0, str(error)
    if done.status != 0 or done.warnings:
        return "failed in the guest", done.seconds, f"status {done.status}, {done.warnings[:3]}"
    return "passed", done.seconds, ""
