"""What ``artifacts/kernel/SOURCE`` records of the source that the series is made for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root

LIVE = "http://deb.debian.org"
SNAPSHOT = "http://snapshot.debian.org/archive"
_RULES = {
    "package": r"linux-source-\d+\.\d+",
    "series": r"\d+\.\d+",
    "version": r"\d+\.\d+\.\d+-\S+",
    "archive": r"[a-z-]+",
    "deb": r"pool/\S+\.deb",
    "sha256": r"[0-9a-f]{64}",
    "snapshot": r"\d{8}T\d{6}Z",
    "tree-sha256": r"[0-9a-f]{64}",
}


@dataclass(frozen=True)
class Source:
    """The kernel source that the series is made for.

    Attributes:
        package, series, version: name of Debian's package, ``6.12``, and the exact version.
        archive, deb: Debian's archive, and the package's file in it.
        sha256: of that file.
        snapshot: a time (UTC) at which Debian's snapshot service has that file.
        tree_sha256: of the compressed source tree inside, ``linux-source-<series>.tar.xz``.
    """

    package: str
    series: str
    version: str
    archive: str
    deb: str
    sha256: str
    snapshot: str
    tree_sha256: str

    @property
    def tree(self) -> str:
        """Name of the compressed source tree."""
        return f"{self.package}.tar.xz"

    def addresses(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Address of the package's file, by origin: ``live``, ``snapshot``.

        ``$TESSERA_LIVE_ARCHIVE`` and ``$TESSERA_SNAPSHOT_ARCHIVE`` replace the hosts, for mirrors.
        """
        live = environ.get("TESSERA_LIVE_ARCHIVE", LIVE).rstrip("/")
        snapshot = environ.get("TESSERA_SNAPSHOT_ARCHIVE", SNAPSHOT).rstrip("/")
        return {
            "live": f"{live}/{self.archive}/{self.deb}",
            "snapshot": f"{snapshot}/{self.archive}/{self.snapshot}/{self.deb}",
        }


def kernel_folder() -> Path:
    """The component's folder."""
    return repo_root() / "artifacts" / "kernel"


def source() -> Source:
    """The content of ``SOURCE``.

    Raises:
        TesseraError: a line is missing, unknown or malformed.
    """
    path = kernel_folder() / "SOURCE"
    lines = [line.split(None, 1) for line in path.read_text().splitlines() if line.strip()]
    words = {line[0]: line[-1].strip() for line in lines}
    for name in {*words, *_RULES}:
        value = words.get(name, "")
        if name not in _RULES or not re.fullmatch(_RULES[name], value):
            raise TesseraError(
                f"{path.name} of artifacts/kernel: line '{name}'",
                f"found {value!r}; the lines are {', '.join(_RULES)}",
                "git checkout -- artifacts/kernel/SOURCE",
                code="kernel-source-record",
            )
    return Source(**{name.replace("-", "_"): words[name] for name in _RULES})
