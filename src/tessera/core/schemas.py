"""The library jsonschema, without the part that takes longest to import.

jsonschema imports ``rfc3987_syntax`` if it is installed, and that compiles 38 grammars of URIs: about one
second of processor time in every start of Snakemake. No schema of Tessera has URIs.
"""

from __future__ import annotations

import sys
from types import ModuleType

_GRAMMARS = "rfc3987_syntax"


def jsonschema() -> ModuleType:
    """The library; whoever imports it later, for example ``snakemake.utils.validate``, gets the same module.

    The formats ``iri`` and ``iri-reference`` are unknown to it, as without ``rfc3987_syntax``.
    """
    absent = "jsonschema" not in sys.modules and _GRAMMARS not in sys.modules
    if absent:
        sys.modules[_GRAMMARS] = None  # its import fails, and jsonschema goes on without it
    try:
        import jsonschema as library
    finally:
        if absent:
            del sys.modules[_GRAMMARS]
    return library
