"""Which engine runs the components, and whether it answers.

``docker`` and ``apptainer`` run them in the toolchain image; ``none`` runs them on this machine. No engine
falls back to another, because results name their engine: without Docker, the user must choose another one.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name

DOCKER = "docker"
APPTAINER = "apptainer"
NONE = "none"
ENGINES = (DOCKER, APPTAINER, NONE)

#: Label of the containers: whose work they do (:class:`tessera.core.processes.WorkMark`).
MARK_LABEL = "tessera.run"

#: Seconds to wait for an answer before the engine counts as absent.
ANSWER_TIMEOUT_SECONDS = 20

#: Seconds for a short command: an idle engine takes less than one; a busy disk makes it up to a hundred times
#: slower. An engine that hangs must not hang the end of a run.
COMMAND_TIMEOUT_SECONDS = 60


def container_engine_name() -> str:
    """The engine in ``$TESSERA_ENGINE`` (default ``docker``); an unknown name is an error."""
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
            "the docker command is not installed",
            "./run setup installs it (./run doctor lists what is missing); or use this machine's compilers: "
            "./run --engine none ...",
            code="docker-not-installed",
        )
    return client


def docker(
    *arguments: str, timeout: float | None = COMMAND_TIMEOUT_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a short docker command (never ``docker run``); output captured, status not checked.

    Args:
        timeout: seconds; None for commands that move an image's files (``load``, ``import``), which last as
            long as the image is large.

    Raises:
        TesseraError: no answer in time; ``code`` is ``docker-hangs``.
    """
    try:
        return subprocess.run(
            [docker_client(), *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise TesseraError(
            f"docker {shlex.join(arguments)}",
            f"the Docker engine gave no answer within {timeout:g} s",
            "restart it (sudo systemctl restart docker, or end dockerd and start it again), then run the "
            "same command again; or use this machine's compilers: ./run --engine none ...",
            exit_code=EXIT_FAILED,
            code="docker-hangs",
        ) from None


def server_version() -> str | None:
    """Version of the Docker engine; None if it does not answer."""
    try:
        answer = docker("version", "--format", "{{.Server.Version}}", timeout=ANSWER_TIMEOUT_SECONDS)
    except TesseraError as error:
        if error.code != "docker-hangs":
            raise
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


@functools.cache
def require_docker() -> str:
    """Version of the Docker engine; raises an error that says how to start one if none answers."""
    version = server_version()
    if version is None:
        raise TesseraError(
            "engine 'docker'",
            f"the docker command gets no answer from a Docker engine within {ANSWER_TIMEOUT_SECONDS} s",
            "start the engine (sudo systemctl start docker, or sudo dockerd) and add this user to the group "
            "docker; or use this machine's compilers: ./run --engine none ...",
            code="docker-does-not-answer",
        )
    return version


def apptainer_client() -> str:
    """Path of the ``apptainer`` command."""
    client = shutil.which("apptainer")
    if client is None:
        raise TesseraError(
            "engine 'apptainer'",
            "the apptainer command is not installed, or not on $PATH",
            "load it (module load apptainer) or ask those who run this machine to install it; or use another "
            "engine: ./run --engine docker ..., ./run --engine none ...",
            code="apptainer-not-installed",
        )
    return client


@functools.cache
def require_apptainer() -> str:
    """Version of Apptainer; raises an error if it is not installed or does not work."""
    command = [apptainer_client(), "version"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=COMMAND_TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise TesseraError(
            "engine 'apptainer'",
            f"'apptainer version' gave no answer within {COMMAND_TIMEOUT_SECONDS:g} s",
            "mend this installation of Apptainer; the file system that it lies on may hang",
            exit_code=EXIT_FAILED,
            code="apptainer-does-not-work",
        ) from None
    if done.returncode != 0:
        raise TesseraError(
            "engine 'apptainer'",
            f"'apptainer version' exited with status {done.returncode}: {done.stderr.strip()[-300:]}",
            "mend this installation of Apptainer",
            code="apptainer-does-not-work",
        )
    return done.stdout.strip()
