"""``SHA256SUMS``: a line ``<sha256>  <name>`` for every other file, sorted by name, as of sha256sum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tessera.bundles import names
from tessera.bundles.wrong import shown, wrong


def text(files: Mapping[str, bytes]) -> str:
    """The content for these files."""
    return "".join(
        f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files) if name != names.SUMS
    )


def problems(files: Mapping[str, bytes]) -> list[str]:
    """Files that are not as listed; empty if every file is there with its sum and nothing else is."""
    listed = _listed(files[names.SUMS])
    here = _listed(text(files).encode())
    found = [f"{shown(name)} is listed, but missing" for name in sorted(set(listed) - set(here))]
    found += [f"{shown(name)} is not listed" for name in sorted(set(here) - set(listed))]
    both = sorted(set(listed) & set(here))
    return found + [f"{shown(name)} was changed" for name in both if listed[name] != here[name]]


def _listed(data: bytes) -> dict[str, str]:
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise wrong(names.SUMS, f"not UTF-8: {error}", "sums") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        digest, gap, name = line[:64], line[64:66], line[66:]
        if gap != "  " or not name or name in found or set(digest) - set("0123456789abcdef"):
            raise wrong(f"{names.SUMS} line {number}", f"{shown(line)} is no sum of a new file", "sums")
        found[name] = digest
    return found
