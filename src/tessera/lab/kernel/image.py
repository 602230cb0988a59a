"""Build the kernel and its first file system, named by the hash of their inputs.

``build/kernel/kernel-<key>/`` holds ``bzImage``, ``config``, ``System.map`` and ``info.json``;
``build/kernel/guest-<key>/`` the archives. The same inputs need no build, and a change is never missed.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import unknown_name
from tessera.core.files import making_folder, writing
from tessera.lab.kernel import build_tools
from tessera.lab.kernel.build_tools import checkout_names, run_build_script
from tessera.lab.kernel.guest import GuestProgram
from tessera.lab.kernel.source import (
    Say,
    component_script,
    find_source,
    fragment_files,
    kernel_folder,
    patches,
)
from tessera.machine.container import RunOptions
from tessera.machine.container.engine import NONE, container_engine_name
from tessera.machine.container.images import ensure_kernel_image
from tessera.machine.container.toolchain import Toolchain, kernel_toolchain
from tessera.machine.limits import usable_processors

#: Of the compiler's cache. Without "depend" it would preprocess each file once more than the compiler does.
CACHE = {"CCACHE_DEPEND": "1", "CCACHE_MAXSIZE": "2G"}


@dataclass(frozen=True)
class KernelBuild:
    """A variant of the kernel.

    Attributes:
        patched: with the series; without it the kernel is Debian's source as it is.
        fragments: files of ``artifacts/kernel/config``, in order.
        broken: a patch of ``artifacts/kernel/broken`` on top, which can leave out parts on purpose.
        oracle: keep vmlinux, and build the module and programs of ``artifacts/kernel/oracle``.
    """

    patched: bool
    fragments: tuple[str, ...]
    broken: str = ""
    oracle: bool = False


_CHECKED = ("base", "replication", "debug", "checked")
#: Of kernels whose instructions are counted.
_COUNTED = ("base", "static-branches")
VARIANTS = {
    "checked": KernelBuild(True, _CHECKED),
    "measure": KernelBuild(True, (*_COUNTED, "replication", "debug")),
    "broken": KernelBuild(True, _CHECKED, "hooks-can-be-skipped"),
    "lockdep": KernelBuild(True, (*_CHECKED, "lockdep")),
    "kasan": KernelBuild(True, (*_CHECKED, "kasan")),
    "kcsan": KernelBuild(True, (*_CHECKED, "kcsan")),
    "off": KernelBuild(True, _COUNTED),
    "plain": KernelBuild(False, _COUNTED),
    "oracle": KernelBuild(False, ("base", "oracle"), oracle=True),
}


def kernel_tools(say: Say) -> Toolchain:
    """The tools, their image built if need be."""
    if container_engine_name() != NONE:
        ensure_kernel_image(say)
    return kernel_toolchain()


def build_kernel(name: str, say: Say, *, accept_series: bool = False, jobs: int | None = None) -> Path:
    """Folder of the built kernel of a variant; ``jobs`` compilers at a time, or as many as usable cores."""
    if name not in VARIANTS:
        raise unknown_name("kernel variant", name, tuple(VARIANTS))
    variant, tools = VARIANTS[name], kernel_tools(say)
    found = find_source(tools, accept_series, say)
    series = patches() if variant.patched else []
    if variant.broken:
        series.append(kernel_folder() / "broken" / f"{variant.broken}.patch")
    fragments, build = fragment_files(variant.fragments), component_script("build-kernel.sh")
    oracle = kernel_folder() / "oracle"
    more = sorted(p for p in oracle.rglob("*") if p.is_file()) if variant.oracle else []
    key = build_tools.build_key(tools, [*build, *series, *fragments, *more], found.version)
    out = build_tools.build_folder() / f"kernel-{key}"
    with build_tools.locked_build(out.name):
        if (out / "info.json").exists():
            return out
        say(f"building kernel {found.version}, variant {name}, {len(series)} patches (5 to 10 min)")
        with making_folder(out) as partial:
            listing = partial / "series"
            listing.write_text(checkout_names().text("".join(f"{patch}\n" for patch in series)))
            # Always the same folder, for one tree: the compiler's cache tells objects of others apart.
            with build_tools.locked_build("tree"):
                env = compiler_cache() | found.environment()
                env |= {"ORACLE": str(oracle)} if variant.oracle else {}
                env |= {"JOBS": str(jobs or usable_processors())}
                tree = build_tools.build_folder() / "tree"
                run_build_script(tools, [build[0], partial, tree, listing, *fragments], env)
            facts = {"variant": name, "source": found.version, "origin": found.origin}
            facts |= {"patches": [p.name for p in series], **tools.describe()}
            (partial / "info.json").write_text(json.dumps(facts, indent=2) + "\n")
    return out


def build_guest(say: Say) -> Path:
    """Folder with ``common.cpio`` and ``stress-ng.cpio``."""
    tools, component = kernel_tools(say), kernel_folder()
    parts = ("guest", "tools", "selftests", "stress", "lives", "broken", "experiments")
    roots = [component / part for part in parts]
    roots += [component.parent / shared for shared in ("workloads", "common")]
    files = sorted(p for root in roots for p in root.rglob("*") if p.is_file())
    build = component / "build-guest.sh"
    out = build_tools.build_folder() / f"guest-{build_tools.build_key(tools, [build, *files])}"
    with build_tools.locked_build(out.name):
        if not (out / "stress-ng.cpio").exists():
            say("building the guest's programs")
            out.mkdir(parents=True, exist_ok=True)
            tools.run([build, out / "tree"], options=RunOptions(writes=(out,)))
            for part in ("common", "stress-ng"):
                _pack(out / "tree" / part, out / f"{part}.cpio")
            shutil.rmtree(out / "tree")
    return out


def build_selftests_mm(say: Say, *, accept_series: bool = False) -> Path:
    """Archive with the kernel's own tests of memory management, in the guest's ``/mm``."""
    tools, build = kernel_tools(say), component_script("build-selftests-mm.sh")
    found = find_source(tools, accept_series, say)
    out = (
        build_tools.build_folder() / f"selftests-mm-{build_tools.build_key(tools, build, found.version)}.cpio"
    )
    with build_tools.locked_build("tree"):
        if not out.exists():
            say("building the kernel's own tests of memory management")
            tree = build_tools.build_folder() / "selftests-mm"
            run_build_script(
                tools, [build[0], tree, build_tools.build_folder() / "tree"], found.environment()
            )
            _pack(tree, out)
            shutil.rmtree(tree)
    return out


def guest_program(
    name: str,
    say: Say,
    *,
    accept_series: bool = False,
    stress_ng: bool = False,
    selftests_mm: bool = False,
) -> GuestProgram:
    """A variant's kernel with its first file system, built if need be."""
    kernel = build_kernel(name, say, accept_series=accept_series)
    guest = build_guest(say)
    archives = [guest / "common.cpio"] + ([guest / "stress-ng.cpio"] if stress_ng else [])
    if selftests_mm:
        archives.append(build_selftests_mm(say, accept_series=accept_series))
    return GuestProgram(kernel / "bzImage", tuple(archives))


def compiler_cache() -> dict[str, str]:
    """Environment of the compiler's cache."""
    cache = build_tools.build_folder() / "ccache"
    cache.mkdir(parents=True, exist_ok=True)
    return CACHE | {"CCACHE_DIR": str(cache)}


def _pack(tree: Path, out: Path) -> None:
    """Every file below ``tree`` as an archive."""
    found = {f"/{p.relative_to(tree)}": p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    with writing(out, "wb") as stream:
        stream.write(build_tools.pack_cpio(found))
