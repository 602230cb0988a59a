"""The order of sources of the kernel: which one gives the tree that is patched and built.

1. ``installed``: the toolchain has the recorded version, from Debian's archive.
2. ``live``: Debian's archive still has the recorded version beside a newer one.
3. ``snapshot``: Debian's snapshot service has it, at the recorded time.
4. ``newer``: the toolchain has another version of the series, every patch applies exactly, and the caller
   accepts it.
5. ``package``: the unpacked package has the recorded version, in ``offline/kernel/``.

``build/kernel/source.json`` keeps the choice, with the reason for each source that was passed over; the
provenance of results includes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.paths import repo_root
from tessera.kernel import built_once
from tessera.kernel.origin.fetch import fetch
from tessera.kernel.origin.record import Source, source
from tessera.machine.container.toolchain import Toolchain

Say = Callable[[str], None]
Applies = Callable[[], str]
RECORD = "source.json"


@dataclass(frozen=True)
class Found:
    """The source that is used.

    Attributes:
        version: Debian's version.
        origin: ``installed``, ``live``, ``snapshot``, ``newer`` or ``package``.
        archive: the compressed tree; None is the installed one.
        passed_over: earlier sources of the order, each with the reason.
    """

    version: str
    origin: str
    archive: Path | None = None
    passed_over: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Variables for the scripts of ``artifacts/kernel``."""
        return {} if self.archive is None else {"KERNEL_SOURCE": str(self.archive)}


def find(installed: str, say: Say, *, applies: Applies | None = None) -> Found:
    """The first source of the order that gives the kernel's tree.

    Args:
        installed: version of the toolchain's source package, empty without one.
        applies: why the series does not apply to the installed version, empty if it does. None: the caller
            accepts the recorded version only.

    Raises:
        TesseraError: no source has it (``kernel-source``); names each one with its reason.
    """
    wanted = source()
    found = _first(wanted, installed, say, applies)
    facts = asdict(found) | {"archive": found.archive.name if found.archive else None}
    facts |= {"recorded": asdict(wanted)}
    write_text(_folder() / RECORD, json.dumps(facts, indent=2) + "\n")
    return found


def installed_version(tools: Toolchain, package: str) -> str:
    """Version of the toolchain's source package; empty without one."""
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    return tools.run(query, capture=True, check=False).stdout.strip()


def _first(wanted: Source, installed: str, say: Say, applies: Applies | None) -> Found:
    if installed == wanted.version:
        return Found(installed, "installed")
    passed = [f"installed: {installed or f'no package {wanted.package}'}"]
    for origin, url in wanted.addresses().items():
        archive = _folder() / "source" / origin / wanted.tree
        try:
            if not _is_recorded(archive, wanted):
                _require_network()
                say(f"fetching {wanted.package} {wanted.version} from {url} (about 150 MB)")
                archive = fetch(url, wanted, archive.parent)
            return Found(wanted.version, origin, archive, tuple(passed))
        except TesseraError as error:
            passed.append(f"{origin}: {error.found}")
    if installed.startswith(f"{wanted.series}."):
        reason = applies() if applies else "another version was not asked for (--accept-series)"
        if not reason:
            say(f"building from {installed}, not from {wanted.version}: every patch applies exactly")
            return Found(installed, "newer", None, tuple(passed))
        passed.append(f"newer: {installed}: {reason}")
    archive = repo_root() / "offline" / "kernel" / wanted.tree
    if _is_recorded(archive, wanted):
        return Found(wanted.version, "package", archive, tuple(passed))
    state = "other bytes than recorded" if archive.exists() else "missing"
    passed.append(f"package: offline/kernel/{wanted.tree}: {state}")
    raise TesseraError(
        f"the kernel source {wanted.package} {wanted.version}",
        "no source has it:" + "".join(f"\n    {line}" for line in passed),
        f"apt-get install {wanted.package}={wanted.version}; or try another version of {wanted.series}: "
        "--accept-series; or rebase the series (docs/kernel.md)",
        exit_code=EXIT_FAILED,
        code="kernel-source",
    )


def _folder() -> Path:
    return built_once.folder()


def _is_recorded(archive: Path, wanted: Source) -> bool:
    return archive.is_file() and sha256_of(archive) == wanted.tree_sha256


def _require_network() -> None:
    if os.environ.get("TESSERA_OFFLINE"):
        raise TesseraError("the network", "not asked: --offline", "run without --offline")
