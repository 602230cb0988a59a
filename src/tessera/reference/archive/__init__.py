"""Get an archived record and unpack its reference data.

``fetch`` downloads, ``verify`` reads the files again, ``unpack`` takes out only the chosen files, and
``state`` tells which files are here.
"""

from tessera.reference.archive.fetch import Offline, fetch
from tessera.reference.archive.keep import recorded, state, verify
from tessera.reference.archive.unpack import Limits, unpack

__all__ = ["Limits", "Offline", "fetch", "recorded", "state", "unpack", "verify"]
