"""Build the kernel and its first file system, named by the hash of what they are made of.

``build/kernel/kernel-<key>/`` holds ``bzImage``, ``config``, ``System.map`` and ``info.json``;
``build/kernel/guest-<key>/`` the archives. The same inputs need no build, and a change is never missed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tessera.container.engine import NONE, engine_name
from tessera.container.images import ensure_kernel_image
from tessera.container.toolchain import Toolchain, kernel_toolchain
from tessera.errors import TesseraError, unknown_name
from tessera.kernel import archive
from tessera.kernel.guest import Program
from tessera.paths import build_dir, repo_root

Say = Callable[[str], None]

#: Of the compiler's cache. Without "depend" it would preprocess each file once more than the compiler does.
CACHE = {"CCACHE_DEPEND": "1", "CCACHE_MAXSIZE": "2G"}


@dataclass(frozen=True)
class Variant:
    """A kernel that can be asked for.

    Attributes:
        patched: with the series; without it the kernel is Debian's source as it is.
        fragments: files of ``artifacts/kernel/config``, in order.
        broken: a patch of ``artifacts/kernel/broken`` on top, which takes something away on purpose.
    """

    patched: bool
    fragments: tuple[str, ...]
    broken: str = ""


VARIANTS = {
    "checked": Variant(True, ("base", "replication", "debug", "checked")),
    "measure": Variant(True, ("base", "replication", "debug")),
    "broken": Variant(True, ("base", "replication", "debug", "checked"), "mprotect-forgets-replicas"),
    "off": Variant(True, ("base",)),
    "plain": Variant(False, ("base",)),
}

#: Of the kernels of ``tessera kernel bisect``.
BISECT_FRAGMENTS = ("base", "bisect", "replication")


@dataclass(frozen=True)
class Source:
    """The kernel source that the series is made for (``artifacts/kernel/SOURCE``)."""

    package: str
    series: str
    version: str


def kernel_folder() -> Path:
    """The component's folder."""
    return repo_root() / "artifacts" / "kernel"


def source() -> Source:
    """What ``SOURCE`` says."""
    words = dict(line.split(None, 1) for line in (kernel_folder() / "SOURCE").read_text().splitlines())
    return Source(words["package"], words["series"], words["version"])


def patches() -> list[Path]:
    """The series, in its order."""
    folder = kernel_folder() / "patches"
    return [folder / name for name in (folder / "series").read_text().split()]


def fragment_files(names: tuple[str, ...]) -> list[Path]:
    """Files of parts of the configuration."""
    return [kernel_folder() / "config" / f"{name}.config" for name in names]


def ready(say: Say) -> Toolchain:
    """The tools, their image built if need be."""
    if engine_name() != NONE:
        ensure_kernel_image(say)
    return kernel_toolchain()


def check_source(tools: Toolchain, accept_series: bool) -> str:
    """Version of the installed source; an error if the series is made for another one."""
    wanted = source()
    answer = tools.run(["dpkg-query", "-W", "-f", "${Version}", wanted.package], capture=True, check=False)
    found = answer.stdout.strip()
    if not found:
        raise TesseraError(
            f"the kernel source {wanted.package}", "it is not installed", f"apt-get install {wanted.package}"
        )
    if found != wanted.version and not (accept_series and found.startswith(f"{wanted.series}.")):
        raise TesseraError(
            f"the patches of artifacts/kernel for {wanted.package} {wanted.version}",
            f"the installed version is {found}",
            "try it with --accept-series: a patch that doesn't apply exactly stops the build; or rebase "
            "the series (docs/kernel.md)",
        )
    return found


def build_kernel(name: str, say: Say, *, accept_series: bool = False) -> Path:
    """Folder of the built kernel of a variant."""
    if name not in VARIANTS:
        raise unknown_name("kernel variant", name, tuple(VARIANTS))
    variant, tools, folder = VARIANTS[name], ready(say), kernel_folder()
    version = check_source(tools, accept_series)
    series = patches() if variant.patched else []
    if variant.broken:
        series.append(folder / "broken" / f"{variant.broken}.patch")
    fragments = fragment_files(variant.fragments)
    key = _digest([folder / "build-kernel.sh", *series, *fragments], [version, _identity(tools)])
    out = build_dir("kernel") / f"kernel-{key}"
    with _lock(f"kernel-{key}"):
        if (out / "info.json").exists():
            return out
        say(f"building kernel {version}, variant {name}, {len(series)} patches (5 to 10 min)")
        partial = out.with_name(out.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        listing = partial / "series"
        listing.write_text("".join(f"{patch}\n" for patch in series))
        # Always the same folder, for one tree: the compiler's cache tells objects of different folders apart.
        with _lock("tree"):
            argv = [folder / "build-kernel.sh", partial, build_dir("kernel") / "tree", listing, *fragments]
            tools.run(argv, env=_cache())
        facts = {"variant": name, "source": version, "patches": [p.name for p in series], **tools.describe()}
        (partial / "info.json").write_text(json.dumps(facts, indent=2) + "\n")
        partial.rename(out)
    return out


def build_series(say: Say, *, accept_series: bool = False) -> Path:
    """Folder with a subfolder a patch: ``bzImage`` of the kernel with the patches up to it, or ``errors``."""
    tools, folder, series = ready(say), kernel_folder(), patches()
    version = check_source(tools, accept_series)
    fragments = fragment_files(BISECT_FRAGMENTS)
    key = _digest([folder / "build-series.sh", *series, *fragments], [version, _identity(tools)])
    out = build_dir("kernel") / f"series-{key}"
    with _lock(f"series-{key}"):
        if (out / "done").exists():
            return out
        say(f"building kernel {version} after each of {len(series)} patches (20 to 60 min)")
        out.mkdir(parents=True, exist_ok=True)
        (out / "series").write_text("".join(f"{patch}\n" for patch in series))
        tree = build_dir("kernel") / "series-tree"
        argv = [folder / "build-series.sh", out, tree, out / "series", *fragments]
        with _lock("series-tree"):
            tools.run(argv, env=_cache())
        (out / "done").touch()
    return out


def build_guest(say: Say) -> Path:
    """Folder with ``common.cpio`` and ``stress-ng.cpio``."""
    tools, folder = ready(say), kernel_folder()
    parts = ("guest", "tools", "selftests", "stress", "experiments")
    roots = [folder / part for part in parts] + [folder.parent / "workloads"]
    files = sorted(p for root in roots for p in root.rglob("*") if p.is_file())
    key = _digest([folder / "build-guest.sh", *files], [_identity(tools)])
    out = build_dir("kernel") / f"guest-{key}"
    with _lock(f"guest-{key}"):
        if not (out / "stress-ng.cpio").exists():
            say("building the guest's programs")
            out.mkdir(parents=True, exist_ok=True)
            tools.run([folder / "build-guest.sh", out / "tree"])
            for part in ("common", "stress-ng"):
                _pack(out / "tree" / part, out / f"{part}.cpio")
            shutil.rmtree(out / "tree")
    return out


def build_selftests_mm(say: Say, *, accept_series: bool = False) -> Path:
    """Archive with the kernel's own tests of memory management, in the guest's ``/mm``."""
    tools, script = ready(say), kernel_folder() / "build-selftests-mm.sh"
    key = _digest([script], [check_source(tools, accept_series), _identity(tools)])
    out = build_dir("kernel") / f"selftests-mm-{key}.cpio"
    with _lock("tree"):
        if not out.exists():
            say("building the kernel's own tests of memory management")
            tree = build_dir("kernel") / "selftests-mm"
            tools.run([script, tree, build_dir("kernel") / "tree"])
            _pack(tree, out)
            shutil.rmtree(tree)
    return out


def program(
    name: str,
    say: Say,
    *,
    accept_series: bool = False,
    stress_ng: bool = False,
    selftests_mm: bool = False,
) -> Program:
    """A variant's kernel with its first file system, built if need be."""
    kernel = build_kernel(name, say, accept_series=accept_series)
    guest = build_guest(say)
    archives = [guest / "common.cpio"] + ([guest / "stress-ng.cpio"] if stress_ng else [])
    if selftests_mm:
        archives.append(build_selftests_mm(say, accept_series=accept_series))
    return Program(kernel / "bzImage", tuple(archives))


def _cache() -> dict[str, str]:
    """Environment of the compiler's cache."""
    cache = build_dir("kernel") / "ccache"
    cache.mkdir(parents=True, exist_ok=True)
    return CACHE | {"CCACHE_DIR": str(cache)}


def _pack(tree: Path, out: Path) -> None:
    """Every file below ``tree`` as an archive; complete when it has its name."""
    found = {f"/{p.relative_to(tree)}": p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    partial = out.with_name(out.name + ".partial")
    partial.write_bytes(archive.pack(found))
    partial.rename(out)


def _identity(tools: Toolchain) -> str:
    """What objects depend on; the engine's own version is no part of it."""
    facts = tools.describe()
    facts.pop("engine_version", None)
    return json.dumps(facts, sort_keys=True)


def _digest(files: list[Path], words: list[str]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    for word in words:
        digest.update(f"{word}\0".encode())
    return digest.hexdigest()[:16]


@contextmanager
def _lock(name: str) -> Iterator[None]:
    """One build of a thing at a time; a second one waits."""
    folder = build_dir("kernel")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
