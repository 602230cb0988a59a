"""Doctor's rows on software: engine, images, environment, built components."""

from __future__ import annotations

import os
import shutil

from tessera.core.checks import Check
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir, repo_root
from tessera.machine.container import engine
from tessera.machine.container.build import COMPONENTS, missing_programs
from tessera.machine.container.image_inputs import toolchain_tag
from tessera.machine.container.images import image_exists
from tessera.machine.container.sif import require_sif, sif_path
from tessera.machine.doctor import part_found, part_missing, skipped

_PREPARES = "./run setup prepares it (./run smoke and ./run reproduce do too)"


def software_checks() -> list[Check]:
    """Rows about software; those of the chosen engine are required."""
    return [*_engine(), _environment(), _components()]


def _engine() -> list[Check]:
    chosen = engine.container_engine_name()
    if chosen == engine.APPTAINER:
        return _apptainer()
    if chosen == engine.NONE:
        missing = missing_programs()
        if missing:
            return [
                part_missing(
                    "engine none", f"no {', '.join(missing)}", "./run --engine none setup installs them"
                )
            ]
        return [part_found("engine none", "compilers and QEMU of this machine")]
    return [*_docker(), *(_apptainer_too() if shutil.which("apptainer") else [])]


def _docker() -> list[Check]:
    if shutil.which("docker") is None:
        return [
            part_missing(
                "Docker", "not installed", "./run setup installs it (docker.io); or ./run --engine none ..."
            )
        ]
    version = engine.server_version()
    if version is None:
        remedy = "./run setup starts it when root" if os.geteuid() == 0 else "sudo systemctl start docker"
        return [
            part_missing(
                "Docker",
                "docker is installed, but no engine answers",
                f"{remedy}; or ./run --engine none ...",
            )
        ]
    return [part_found("Docker", f"engine {version}"), _image()]


def _apptainer() -> list[Check]:
    """Apptainer as the chosen engine: all that it needs is required."""
    try:
        row = part_found("Apptainer", engine.require_apptainer())
    except TesseraError as error:
        return [part_missing("Apptainer", error.found, error.remedy)]
    try:
        return [row, part_found("toolchain image", sif_path(require_sif(toolchain_tag())).name)]
    except TesseraError as error:
        return [row, part_missing("toolchain image", error.found, error.remedy)]


def _apptainer_too() -> list[Check]:
    """Apptainer beside the chosen engine."""
    try:
        return [part_found("Apptainer", f"{engine.require_apptainer()}; ./run --engine apptainer uses it")]
    except TesseraError as error:
        return [skipped("Apptainer", error.found, error.remedy)]


def _image() -> Check:
    tag = toolchain_tag()
    if image_exists(tag):
        return part_found("toolchain image", tag)
    return skipped("toolchain image", f"{tag} is not built yet", f"{_PREPARES}; it takes about 2 min")


def _environment() -> Check:
    if (repo_root() / ".venv" / "bin" / "tessera").exists():
        return part_found("Python environment", ".venv")
    return skipped("Python environment", ".venv does not exist yet", _PREPARES)


def _components() -> Check:
    unbuilt = [name for name in COMPONENTS if not (build_dir(name) / ".sources").exists()]
    if not unbuilt:
        return part_found("components", f"built: {', '.join(COMPONENTS)}")
    return skipped(
        "components",
        f"not built yet: {', '.join(unbuilt)}",
        "./run tessera dev build (the main job builds those that it needs)",
    )
