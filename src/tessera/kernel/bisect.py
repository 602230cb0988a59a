"""Build and boot the kernel after every patch of the series, so that each can be bad on its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tessera.errors import TesseraError
from tessera.kernel import image
from tessera.kernel.guest import Program, run

#: Enough to see that processes run, fork and map memory on all processors.
SCRIPT = """[ $(nproc) = 4 ] || exit 1
i=0
while [ $i -lt 20 ]; do i=$((i + 1)); sh -c 'true | cat' & done
wait
dd if=/dev/zero of=/tmp/file bs=1M count=32 2> /dev/null && [ $(wc -c < /tmp/file) = 33554432 ]
"""


def bisect(out: Path, say: Callable[[str], None], *, variant: str = "bisect") -> list[str]:
    """What failed, patch by patch; a patch that doesn't build is reported like one that doesn't boot."""
    failures = []
    guest = image.build_guest(say)
    for count, patch in enumerate(image.patches(), start=1):
        try:
            kernel = image.build_kernel(variant, say, first=count)
            program = Program(kernel / "bzImage", (guest / "common.cpio",))
            done = run(image.ready(say), program, SCRIPT, out / patch.stem, timeout_seconds=120)
        except TesseraError as error:
            failures.append(f"{patch.name}: {error}")
            continue
        if done.status != 0 or done.warnings:
            failures.append(f"{patch.name}: status {done.status}, {done.warnings[:3]}")
        say(f"{patch.name}: {'ok' if not failures or patch.name not in failures[-1] else 'FAILED'}")
    return failures
