"""Texts without names of people, machines and folders.

Two uses: messages are cleaned before they are written, and ``verify`` looks for what should not be there. It
can know names of this machine only; ``tessera bundle show`` prints every text for its owner.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tessera.bundles.model import Bundle
from tessera.bundles.values import LONGEST_TEXT

#: An absolute path outside of the kernel's own folders, which are the same on every machine; not of a URL.
_PATH = re.compile(
    r"(?<![\w/.~<>])(?!(?<=:)//)(?!/(?:sys|proc|dev)/)/(?:[\w.+@-]+/)*[\w.+@-]+|(?:~|<home>)/[\w.+@/-]+"
)
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_NETWORK = re.compile(rf"(?<![\w.-]){_BYTE}(?:\.{_BYTE}){{3}}(?![\w-]|\.\d)")
_HARDWARE = re.compile(r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:])")
_KERNEL = "machine.json, kernel"  #: a release may have four numbers, too
#: Ordinary words, which name nobody.
_ORDINARY = ("root", "localhost", "user", "host")


def clean(text: str) -> str:
    """The text in one line, without absolute paths and names of this machine, its user and their home."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    text = _NETWORK.sub("<ip>", _HARDWARE.sub("<mac>", text))
    text = _without(text, "home")  # before paths: its name may have a space
    text = _PATH.sub(lambda match: f"<path> {Path(match.group()).name}", text)
    return _without(text, "user", "host")[:LONGEST_TEXT]


def _without(text: str, *kinds: str) -> str:
    for name, kind in _names().items():
        if kind in kinds:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"<{kind}>", text)
    return text


def problems(texts: Iterable[tuple[str, str]], *, names: bool = True) -> Iterator[str]:
    """What is private in (place, text) pairs. The value itself is not printed.

    Args:
        names: also look for names of this machine, which may be ordinary words.
    """
    for place, text in texts:
        if _PATH.search(text):
            yield f"{place}: an absolute path"
        if _HARDWARE.search(text):
            yield f"{place}: a hardware address"
        if place != _KERNEL and _NETWORK.search(text):
            yield f"{place}: a network address"
        for name, kind in _names().items() if names else ():
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                yield f"{place}: the name of the {kind}"


def in_bundle(bundle: Bundle) -> Iterator[str]:
    """What is private in a bundle. Words that Tessera chose are searched for paths only."""
    yield from problems(_free(bundle))
    rules = [(one.check, text) for one in bundle.environment for text in (one.wanted, one.remedy)]
    yield from problems([(f"environment.csv, {check}", text) for check, text in rules], names=False)


def _free(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """(place, text) of every text that comes from the machine or its user."""
    yield _KERNEL, bundle.machine.kernel
    for name, text in bundle.machine.mitigations.items():
        yield f"machine.json, mitigations {name}", text
    for one in bundle.environment:
        yield f"environment.csv, {one.check}", one.found
    for workload in bundle.workloads.values():
        for argument in workload.arguments:
            yield f"workloads.json, {workload.name}", argument
    for run in bundle.runs:
        if run.message:
            yield f"runs.csv, run {run.run}", run.message


@cache
def _names() -> dict[str, str]:
    """Names of this machine and its user, the longest first."""
    found = {str(Path.home()): "home", _user(): "user"}
    full = socket.getfqdn()
    for name in (full, full.split(".")[0], socket.gethostname()):
        found[name] = "host"
    kept = {n: kind for n, kind in found.items() if len(n) > 2 and n not in (*_ORDINARY, "/root")}
    return dict(sorted(kept.items(), key=lambda item: -len(item[0])))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
