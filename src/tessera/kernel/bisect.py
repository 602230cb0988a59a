"""Build and boot the kernel after every patch of the series, so that each can be bad on its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.errors import TesseraError
from tessera.kernel import image
from tessera.kernel.guest import Program, run

COLUMNS = ["patch", "outcome", "seconds", "found"]
#: Enough to see that processes run, fork and map memory on all processors.
SCRIPT = """[ $(nproc) = 4 ] || exit 1
i=0
while [ $i -lt 20 ]; do i=$((i + 1)); sh -c 'true | cat' & done
wait
dd if=/dev/zero of=/tmp/file bs=1M count=32 2> /dev/null && [ $(wc -c < /tmp/file) = 33554432 ]
"""


def bisect(out: Path, say: Callable[[str], None], *, accept_series: bool = False) -> pd.DataFrame:
    """A row a patch: ``passed``, ``not built`` or ``failed in the guest``, and what was found."""
    guest = image.build_guest(say)
    built = image.build_series(say, accept_series=accept_series)
    rows = []
    for patch in image.patches():
        rows.append((patch.name, *_try(built / patch.stem, guest / "common.cpio", out / patch.stem, say)))
        say(f"{patch.name}: {rows[-1][1]}")
    return pd.DataFrame(rows, columns=COLUMNS)


def _try(kernel: Path, archive: Path, out: Path, say: Callable[[str], None]) -> tuple[str, float, str]:
    """Outcome, seconds in the guest and findings of one kernel."""
    if not (kernel / "bzImage").exists():
        return "not built", 0.0, (kernel / "errors").read_text()[:300]
    try:
        done = run(
            image.ready(say), Program(kernel / "bzImage", (archive,)), SCRIPT, out, timeout_seconds=180
        )
    except TesseraError as error:
        return "failed in the guest", 0.0, str(error)
    if done.status != 0 or done.warnings:
        return "failed in the guest", done.seconds, f"status {done.status}, {done.warnings[:3]}"
    return "passed", done.seconds, ""
