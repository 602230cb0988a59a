"""Remove user name, host name and absolute paths from texts about a run."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Callable
from pathlib import Path

from tessera.core.paths import repo_root

#: An absolute path with at least two parts; URLs (``https://``) have no space or quote before the slash.
_ABSOLUTE = re.compile(r"(?<![\w/:.~<>])/(?:[\w.+@-]+/)+[\w.+@-]*")


def scrubber() -> Callable[[object], object]:
    """A function that cleans strings inside nested lists and dictionaries."""
    swaps = [(str(repo_root()), "."), (str(Path.home()), "~")]
    names = [(socket.gethostname(), "<host>"), (socket.getfqdn(), "<host>"), (_user(), "<user>")]
    # `root`, `localhost` and `user` identify nobody and are ordinary words.
    words = [(n, to) for n, to in names if len(n) > 2 and n not in ("root", "localhost", "user")]

    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {str(key): clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        if not isinstance(value, str):
            return value
        for found, to in swaps:
            if found not in ("", "/"):
                value = re.sub(rf"{re.escape(found)}(?=/|\b|$)", to, value)
        value = _ABSOLUTE.sub(lambda match: f"<path>/{Path(match.group()).name}", value)
        for found, to in words:
            value = re.sub(rf"\b{re.escape(found)}\b", to, value)
        return value

    return clean


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
