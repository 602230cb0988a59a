"""The inputs of the kernel's build: Debian's source in one version, patches, parts of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.machine.container.toolchain import Toolchain


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
    """The content of ``SOURCE``."""
    words = dict(line.split(None, 1) for line in (kernel_folder() / "SOURCE").read_text().splitlines())
    return Source(words["package"], words["series"], words["version"])


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
            "try it with --accept-series, which stops at the first patch that does not apply exactly; or "
            "rebase the series (docs/kernel.md)",
        )
    return found
