"""``python -m tessera.machine.reserve``: release huge pages and restore settings that killed runs left."""

from __future__ import annotations

import sys

from tessera.core.errors import TesseraError
from tessera.core.units import format_bytes
from tessera.machine.reserve.reservation import restore_leftovers
from tessera.machine.reserve.settings import restore_settings

try:
    for page_bytes, count in restore_leftovers().items():
        print(
            f"released {count} {format_bytes(page_bytes)} pages that a killed run had reserved",
            file=sys.stderr,
        )
    for path in restore_settings():
        print(f"restored {path}, which a killed run had changed", file=sys.stderr)
except TesseraError as error:
    print(f"tessera: {error}", file=sys.stderr)
    sys.exit(error.exit_code)
