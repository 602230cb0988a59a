"""Files with the text that perf prints."""

from __future__ import annotations

from pathlib import Path

from tessera.core.errors import TesseraError

_PERF_DATA = b"PERFILE2"


def read_text(path: Path | str, owner: str, again: str, code: str, errors: str = "strict") -> str:
    """The text of a file.

    Args:
        again: how perf prints such a text.
        errors: as of :meth:`bytes.decode`.

    Raises:
        TesseraError: the file can't be read; or it is what ``perf record`` writes, or no UTF-8 (``code``).
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TesseraError(owner, error.strerror or str(error), "check the path") from None
    if data.startswith(_PERF_DATA):
        raise TesseraError(owner, "this is what perf record wrote, not its text", again, code=code)
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise TesseraError(owner, f"no UTF-8 at byte {error.start}", again, code=code) from None
