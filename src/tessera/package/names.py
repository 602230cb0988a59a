"""Find names of this machine and its user, and remove them from results.

Two kinds: *names* of this machine (path of the checkout, home folder, host, user), which no file may contain;
and *private paths* (``/tmp/x``, ``/home/x/...``), which results contain because programs record their command
lines. A private path becomes ``[path]/`` plus its last part. (No ``<``: HTML pages are scrubbed, too.)
"""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import repo_root

TEXT_SUFFIXES = frozenset(
    {".csv", ".tsv", ".json", ".yaml", ".txt", ".html", ".svg", ".js", ".css", ".md", ".ipynb"}
)
_PRIVATE = re.compile(
    r"(?<![\w/:.~<>-])/(?:home|Users|root|tmp|mnt|media|scratch|srv|work|workspace|data)/(?:[\w.+@=,-]+/)*([\w.+@=-]*)"
)
#: Common names that identify nobody.
_NOBODY = frozenset({"root", "user", "localhost", "ubuntu", "debian", "runner", "admin"})
_SHORTEST_NAME = 4


def machine_names(results: Path | None = None) -> tuple[list[str], list[str]]:
    """Texts that identify this machine or its user.

    Returns:
        Texts with no other meaning (paths; host and user names with a digit, dot or hyphen), and plain words,
        which the code may use, too.
    """
    paths = {str(repo_root()), str(Path.home()), str(results.resolve().parent) if results else ""}
    sure = {path for path in paths if path.count("/") >= 2}
    plain = set()
    for word in {socket.gethostname(), socket.getfqdn(), _user()}:
        if len(word) >= _SHORTEST_NAME and word not in _NOBODY:
            (sure if re.search(r"[0-9.-]", word) else plain).add(word)
    return sorted(sure, key=len, reverse=True), sorted(plain)


def words_in(body: bytes, words: list[str]) -> set[str]:
    """The words among ``words`` that a file contains as whole words."""
    return {word for word in words if re.search(rb"(?<![\w-])" + word.encode() + rb"(?![\w-])", body)}


def scrub(text: str, names: list[str]) -> tuple[str, int]:
    """The text without names of this machine and private paths, and the number of replacements."""
    count = 0
    for name in (name for name in names if name.startswith("/")):
        text, found = re.subn(rf"{re.escape(name)}(?![\w.-])", "[path]", text)
        count += found
    text, found = _PRIVATE.subn(lambda match: f"[path]/{match.group(1)}", text)
    count += found
    for name in (name for name in names if not name.startswith("/")):
        text, found = re.subn(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "[name]", text)
        count += found
    return text, count


class Watch:
    """Searches chunks of bytes for names of this machine; for files that can't be scrubbed."""

    def __init__(self, where: str, names: list[str]):
        joined = b"|".join(
            rb"(?<![\w-])" + re.escape(name.encode()) + rb"(?![\w-])" for name in names if name
        )
        self._where, self._pattern, self._tail = where, re.compile(joined) if joined else None, b""
        self._keep = max((len(name.encode()) for name in names), default=0) + 1

    def pass_by(self, chunk: bytes) -> bytes:
        """The chunk itself.

        Raises:
            TesseraError: the chunk, with the end of the previous one, contains a name.
        """
        if self._pattern and (found := self._pattern.search(self._tail + chunk)):
            raise TesseraError(
                f"package of {self._where}",
                f"it contains a name of this machine or its user: '{found.group().decode(errors='replace')}'",
                "remove the name from the file, then pack again; no package was written",
                code="package-names-machine",
                exit_code=EXIT_FAILED,
            )
        self._tail = (self._tail + chunk)[-self._keep :]
        return chunk


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
