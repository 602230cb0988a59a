"""The inputs of the kernel's build: Debian's source in one version, the patches, parts of a configuration.

If one source is gone, the next one is asked; another version never takes the place of the recorded one
unseen.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from tessera.core.downloads import Download
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import making, repo_root, sha256_of, write_text
from tessera.lab.kernel import build_tools
from tessera.machine.container import RunOptions
from tessera.machine.container.toolchain import Toolchain

# The files of the component.


def kernel_folder() -> Path:
    """The component's folder."""
    return repo_root() / "artifacts" / "kernel"


def patches() -> list[Path]:
    """The series, in its order."""
    folder = kernel_folder() / "patches"
    return [folder / name for name in (folder / "series").read_text().split()]


def fragment_files(names: Sequence[str]) -> list[Path]:
    """Files of parts of the configuration."""
    return [kernel_folder() / "config" / f"{name}.config" for name in names]


def component_script(name: str) -> list[Path]:
    """A script of the component, and the files that it sources."""
    return [kernel_folder() / name, kernel_folder() / "source.sh"]


# What ``artifacts/kernel/SOURCE`` records of the source that the series is made for.

LIVE = "http://deb.debian.org"
SNAPSHOT = "http://snapshot.debian.org/archive"
_RECORD_RULES = {
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
class KernelSource:
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


def recorded_source() -> KernelSource:
    """The content of ``SOURCE``.

    Raises:
        TesseraError: a line is missing, unknown or malformed.
    """
    path = kernel_folder() / "SOURCE"
    lines = [line.split(None, 1) for line in path.read_text().splitlines() if line.strip()]
    words = {line[0]: line[-1].strip() for line in lines}
    for name in {*words, *_RECORD_RULES}:
        value = words.get(name, "")
        if name not in _RECORD_RULES or not re.fullmatch(_RECORD_RULES[name], value):
            raise TesseraError(
                f"{path.name} of artifacts/kernel: line '{name}'",
                f"found {value!r}; the lines are {', '.join(_RECORD_RULES)}",
                "git checkout -- artifacts/kernel/SOURCE",
                code="kernel-source-record",
            )
    return KernelSource(**{name.replace("-", "_"): words[name] for name in _RECORD_RULES})


# The compressed source tree of the kernel, out of Debian's package at an address.
#
# A .deb is an ``ar`` archive (deb(5)): a magic line, then members with headers of 60 bytes. Its member
# ``data.tar.xz`` has the package's files. Both checksums of the record are compared.

_MAGIC = b"!<arch>\n"
_HEADER_BYTES = 60
_NAME, _SIZE = slice(0, 16), slice(48, 58)


def fetch_tree(url: str, wanted: KernelSource, folder: Path) -> Path:
    """Download the package from ``url``; the source tree in ``folder``. The package's file is removed.

    Raises:
        TesseraError: no such file or no network (codes of :class:`Download`), or other bytes than recorded
            (``kernel-source-checksum``).
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{Path(wanted.deb).name}.part"
    Download(
        url=url,
        part=part,
        asked=url,
        if_refused="the next source is tried",
        if_interrupted="run the same command again: it continues where it stopped",
        checked=True,
        attempts=2,
    ).complete()
    try:
        _compare_checksum(part, wanted.sha256, url)
        return unpacked_tree(part, wanted, folder)
    finally:
        part.unlink(missing_ok=True)


def unpacked_tree(package: Path, wanted: KernelSource, folder: Path) -> Path:
    """The source tree of a package's file, in ``folder``."""
    target = folder / wanted.tree
    with package.open("rb") as file, making(target) as unfinished:
        _seek_data(file, package)
        with tarfile.open(fileobj=file, mode="r|xz") as tree, unfinished.open("wb") as out:
            for member in tree:
                if member.name.removeprefix("./") == f"usr/src/{wanted.tree}":
                    shutil.copyfileobj(tree.extractfile(member), out)
                    break
        _compare_checksum(unfinished, wanted.tree_sha256, f"usr/src/{wanted.tree} in {package.name}")
    return target


def _seek_data(file: BinaryIO, package: Path) -> None:
    """Move to the first byte of the member ``data.tar.xz``."""
    found = file.read(len(_MAGIC)) == _MAGIC
    while found and len(header := file.read(_HEADER_BYTES)) == _HEADER_BYTES:
        if header[_NAME].decode("ascii", "replace").rstrip(" /") == "data.tar.xz":
            return
        size = int(header[_SIZE])
        file.seek(size + size % 2, 1)
    raise TesseraError(
        f"the files of {package.name}",
        "it has no member data.tar.xz, so it is no .deb that this version reads",
        "remove the file and try again",
        exit_code=EXIT_FAILED,
        code="kernel-source-package",
    )


def _compare_checksum(path: Path, recorded: str, what: str) -> None:
    found = sha256_of(path)
    if found != recorded:
        raise TesseraError(
            f"the kernel source {what}",
            f"its SHA-256 is {found[:16]}..., artifacts/kernel/SOURCE records {recorded[:16]}...",
            "use another archive; these bytes are not those that the series was made for",
            exit_code=EXIT_FAILED,
            code="kernel-source-checksum",
        )


# The order of sources of the kernel: which one gives the tree that is patched and built.
#
# 1. ``installed``: the toolchain has the recorded version, from Debian's archive.
# 2. ``live``: Debian's archive still has the recorded version beside a newer one.
# 3. ``snapshot``: Debian's snapshot service has it, at the recorded time.
# 4. ``newer``: the toolchain has another version of the series, every patch applies exactly, and the caller
#    accepts it.
# 5. ``package``: the unpacked package has the recorded version, in ``offline/kernel/``.
#
# ``build/kernel/source.json`` keeps the choice, with the reason for each source that was passed over; the
# provenance of results includes it.

Say = Callable[[str], None]
Applies = Callable[[], str]
CHOICE_FILE = "source.json"


@dataclass(frozen=True)
class FoundSource:
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


def find_source(tools: Toolchain, accept_series: bool, say: Say) -> FoundSource:
    """The source to build from: the recorded version, or with ``accept_series`` another one of its series.

    Raises:
        TesseraError: no source has an acceptable version; names each one with its reason.
    """
    with build_tools.locked_build("source"):
        installed = installed_version(tools, recorded_source().package)
        applies = (lambda: why_not_applied(tools, installed, say)) if accept_series else None
        return first_source(installed, say, applies=applies)


def why_not_applied(tools: Toolchain, version: str, say: Say) -> str:
    """Why the series does not apply to the installed source, in a line; empty if it applies exactly."""
    recipe, series = component_script("apply-series.sh"), patches()
    kept = (
        build_tools.build_folder()
        / f"applies-{build_tools.build_key(tools, [*recipe, *series], version)}.txt"
    )
    if not kept.exists():
        say(f"checking that every patch applies to {version} (30 s)")
        listing = build_tools.build_folder() / "apply-series"
        write_text(listing, "".join(f"{patch}\n" for patch in series))
        argv = [recipe[0], build_tools.build_folder() / "apply-tree", listing]
        options = RunOptions(writes=(build_tools.build_folder(),))
        done = tools.run(argv, capture=True, check=False, options=options)
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = "" if done.returncode == 0 else (lines[0] if lines else f"status {done.returncode}")
        write_text(kept, reason.replace(f"{kernel_folder()}/", ""))
    return kept.read_text()


def first_source(installed: str, say: Say, *, applies: Applies | None = None) -> FoundSource:
    """The first source of the order that gives the kernel's tree.

    Args:
        installed: version of the toolchain's source package, empty without one.
        applies: why the series does not apply to the installed version, empty if it does. None: the caller
            accepts the recorded version only.

    Raises:
        TesseraError: no source has it (``kernel-source``); names each one with its reason.
    """
    wanted = recorded_source()
    found = _first_in_order(wanted, installed, say, applies)
    facts = asdict(found) | {"archive": found.archive.name if found.archive else None}
    facts |= {"recorded": asdict(wanted)}
    write_text(build_tools.build_folder() / CHOICE_FILE, json.dumps(facts, indent=2) + "\n")
    return found


def installed_version(tools: Toolchain, package: str) -> str:
    """Version of the toolchain's source package; empty without one."""
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    return tools.run(query, capture=True, check=False).stdout.strip()


def _first_in_order(wanted: KernelSource, installed: str, say: Say, applies: Applies | None) -> FoundSource:
    if installed == wanted.version:
        return FoundSource(installed, "installed")
    passed = [f"installed: {installed or f'no package {wanted.package}'}"]
    for origin, url in wanted.addresses().items():
        archive = build_tools.build_folder() / "source" / origin / wanted.tree
        try:
            if not _is_recorded(archive, wanted):
                _require_network()
                say(f"fetching {wanted.package} {wanted.version} from {url} (about 150 MB)")
                archive = fetch_tree(url, wanted, archive.parent)
            return FoundSource(wanted.version, origin, archive, tuple(passed))
        except TesseraError as error:
            passed.append(f"{origin}: {error.found}")
    if installed.startswith(f"{wanted.series}."):
        reason = applies() if applies else "another version was not asked for (--accept-series)"
        if not reason:
            say(f"building from {installed}, not from {wanted.version}: every patch applies exactly")
            return FoundSource(installed, "newer", None, tuple(passed))
        passed.append(f"newer: {installed}: {reason}")
    archive = repo_root() / "offline" / "kernel" / wanted.tree
    if _is_recorded(archive, wanted):
        return FoundSource(wanted.version, "package", archive, tuple(passed))
    state = "other bytes than recorded" if archive.exists() else "missing"
    passed.append(f"package: offline/kernel/{wanted.tree}: {state}")
    raise TesseraError(
        f"the kernel source {wanted.package} {wanted.version}",
        "no source has it:" + "".join(f"\n    {line}" for line in passed),
        f"apt-get install {wanted.package}={wanted.version}; or try another version of {wanted.series}: "
        "--accept-series; or rebase the series (docs/explain/kernel.md)",
        exit_code=EXIT_FAILED,
        code="kernel-source",
    )


def _is_recorded(archive: Path, wanted: KernelSource) -> bool:
    return archive.is_file() and sha256_of(archive) == wanted.tree_sha256


def _require_network() -> None:
    if os.environ.get("TESSERA_OFFLINE"):
        raise TesseraError("the network", "not asked: --offline", "run without --offline")
