"""``python -m tessera.machine.reserve``: release the huge pages that killed runs left reserved."""

from __future__ import annotations

import sys

from tessera.core.errors import TesseraError
from tessera.core.units import format_bytes
from tessera.machine.reserve.records import restore_leftovers

try:
    for page_bytes, count in restore_leftovers().items():
        print(
            f"released {count} {format_bytes(page_bytes)} pages that a killed run had reserved",
            file=sys.stderr,
        )
except TesseraError as error:
    print(f"tessera: {error}", file=sys.stderr)
    sys.exit(error.exit_code)
