"""The inputs of the kernel's build: Debian's source in one version, patches, parts of a configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tessera.core.files import write_text
from tessera.kernel import built_once
from tessera.kernel.origin import order
from tessera.kernel.origin.order import Found
from tessera.kernel.origin.record import kernel_folder, source
from tessera.machine.container.toolchain import Toolchain

__all__ = ["find_source", "fragment_files", "kernel_folder", "patches", "script", "source"]


def patches() -> list[Path]:
    """The series, in its order."""
    folder = kernel_folder() / "patches"
    return [folder / name for name in (folder / "series").read_text().split()]


def fragment_files(names: Sequence[str]) -> list[Path]:
    """Files of parts of the configuration."""
    return [kernel_folder() / "config" / f"{name}.config" for name in names]


def script(name: str) -> list[Path]:
    """A script of the component, and the files that it sources."""
    return [kernel_folder() / name, kernel_folder() / "source.sh"]


def find_source(tools: Toolchain, accept_series: bool, say: Callable[[str], None]) -> Found:
    """The source to build from: the recorded version, or with ``accept_series`` another one of its series.

    Raises:
        TesseraError: no source has an acceptable version; names each one with its reason.
    """
    with built_once.locked("source"):
        installed = order.installed_version(tools, source().package)
        applies = (lambda: why_not(tools, installed, say)) if accept_series else None
        return order.find(installed, say, applies=applies)


def why_not(tools: Toolchain, version: str, say: Callable[[str], None]) -> str:
    """Why the series does not apply to the installed source, in a line; empty if it applies exactly."""
    recipe, series = script("apply-series.sh"), patches()
    kept = built_once.folder() / f"applies-{built_once.key(tools, [*recipe, *series], version)}.txt"
    if not kept.exists():
        say(f"checking that every patch applies to {version} (30 s)")
        listing = built_once.folder() / "apply-series"
        write_text(listing, "".join(f"{patch}\n" for patch in series))
        argv = [recipe[0], built_once.folder() / "apply-tree", listing]
        done = tools.run(argv, capture=True, check=False)
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = "" if done.returncode == 0 else (lines[0] if lines else f"status {done.returncode}")
        write_text(kept, reason.replace(f"{kernel_folder()}/", ""))
    return kept.read_text()
