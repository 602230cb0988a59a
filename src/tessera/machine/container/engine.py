"""Which engine runs the components, and whether it answers.

``docker`` runs them in the toolchain image; ``none`` runs them on this machine. There is no fallback
from one to the other: results name their engine, and a machine without Docker is asked to say so.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

from tessera.core.errors import TesseraError, unknown_name

DOCKER = "docker"
NONE = "none"
ENGINES = (DOCKER, NONE)

#: Seconds after which an engine that doesn't answer counts as absent.
ANSWER_TIMEOUT_SECONDS = 20


def engine_name() -> str:
    """The engine of ``$TESSERA_ENGINE`` (default ``docker``); an unknown one is an error."""
    name = os.environ.get("TESSERA_ENGINE") or DOCKER
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    return name


def docker_client() -> str:
    """Path of the ``docker`` command."""
    client = shutil.which("docker")
    if client is None:
        raise TesseraError(
            "engine 'docker'",
            "there is no docker command on this machine",
            "run ./run doctor, which says what is missing; ./run reproduce installs it; or use this "
            "machine's own compilers: ./run --engine none ...",
        )
    return client


def docker(*arguments: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run a short docker command (never ``docker run``); output captured, status not checked."""
    return subprocess.run(
        [docker_client(), *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=timeout,
    )


def server_version() -> str | None:
    """Version of the engine that answers; None when none does."""
    try:
        answer = docker("version", "--format", "{{.Server.Version}}", timeout=ANSWER_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


@functools.cache
def require_docker() -> str:
    """Version of the docker engine, or an error that says how to get one that answers."""
    version = server_version()
    if version is None:
        raise TesseraError(
            "engine 'docker'",
            "the docker command is here but no engine answers it",
            "start one (sudo systemctl start docker, or sudo dockerd) and make sure that this user "
            "may use it (group docker); or use this machine's own compilers: ./run --engine none ...",
        )
    return version
