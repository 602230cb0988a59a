"""The error of a bundle that is not what docs/bundles.md describes."""

from __future__ import annotations

from tessera.core.errors import EXIT_FAILED, TesseraError

_REMEDY = "measure again, or get the bundle again from its owner; docs/bundles.md describes every file"


def wrong(place: str, found: str, code: str, remedy: str = _REMEDY) -> TesseraError:
    """An error about a file of a bundle; ``code`` begins with ``bundle-``."""
    return TesseraError(f"bundle, {place}", found, remedy, exit_code=EXIT_FAILED, code=f"bundle-{code}")


def shown(text: object) -> str:
    """A value in a message: printable and short."""
    found = repr(text[:80] if isinstance(text, str) else text)
    return found if len(found) <= 80 else f"{found[:76]}...'"
