"""``python -m tessera.machine.reserve``: release huge pages and restore settings that killed runs left.

What can't be done is said, and the exit status is 0: whatever was to come next goes on.
"""

from __future__ import annotations

from tessera.core.units import format_bytes
from tessera.machine.reserve.machine_state import say, say_earlier_records
from tessera.machine.reserve.reservation import restore_leftovers
from tessera.machine.reserve.settings import restore_settings

for page_bytes, count in restore_leftovers().items():
    say(f"released {count} {format_bytes(page_bytes)} pages that a killed run had reserved")
for path in restore_settings():
    say(f"restored {path}, which a killed run had changed")
say_earlier_records()
