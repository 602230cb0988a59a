"""``python -m tessera.reserve``: take back what killed runs left reserved, and say so."""

from __future__ import annotations

import sys

from tessera.errors import TesseraError
from tessera.reserve.records import restore_leftovers
from tessera.units import format_bytes

try:
    for page_bytes, count in restore_leftovers().items():
        print(f"gave {count} {format_bytes(page_bytes)} pages of a killed run back", file=sys.stderr)
except TesseraError as error:
    print(f"tessera: {error}", file=sys.stderr)
    sys.exit(error.exit_code)
