"""Unknown, absent and silent engines are errors that say what to do."""

from __future__ import annotations

import functools
import inspect
import subprocess

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import engine, images, process
from tessera.machine.container.toolchain import HostToolchain, toolchain


@pytest.fixture(autouse=True)
def forget():
    """Answers are remembered per process; each test asks again."""
    engine.require_docker.cache_clear()
    toolchain.cache_clear()
    yield
    engine.require_docker.cache_clear()
    toolchain.cache_clear()


def test_unknown_engine_lists_the_valid_ones(monkeypatch):
    monkeypatch.setenv("TESSERA_ENGINE", "podman")
    with pytest.raises(TesseraError, match="'podman'.*\n.*apptainer, docker, none"):
        toolchain()


def test_no_docker_command(monkeypatch):
    monkeypatch.setenv("TESSERA_ENGINE", "docker")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(TesseraError, match="engine 'docker'") as error:
        toolchain()
    assert error.value.code == "docker-not-installed"
    assert "--engine none" in error.value.remedy and "./run doctor" in error.value.remedy


def test_engine_that_does_not_answer(monkeypatch, tmp_path):
    client = tmp_path / "docker"
    client.write_text("#!/bin/sh\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setenv("TESSERA_ENGINE", "docker")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(TesseraError, match="engine 'docker'") as error:
        toolchain()
    assert error.value.code == "docker-does-not-answer"
    assert "--engine none" in error.value.remedy


@pytest.fixture
def hanging(monkeypatch, tmp_path):
    """An engine that never answers, and a limit of half a second."""
    client = tmp_path / "docker"
    client.write_text("#!/bin/sh\nexec sleep 1000\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    original = engine.docker
    monkeypatch.setattr(engine, "docker", functools.partial(original, timeout=0.5))
    monkeypatch.setattr(process, "docker", engine.docker)
    assert inspect.signature(original).parameters["timeout"].default == 60


@pytest.mark.parametrize("call", [lambda: engine.docker("ps"), lambda: process.end_containers(bool)])
def test_an_engine_that_hangs_is_an_error_in_time(hanging, call):
    with pytest.raises(TesseraError, match="docker ps.* no answer within 0.5 s") as error:
        call()
    assert error.value.code == "docker-hangs" and error.value.exit_code == 1


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_a_client_ends_though_the_engine_hangs(hanging, end):
    client = process.ContainerProcess(["sleep", "1000"], name="x")
    with pytest.raises(TesseraError, match="docker kill.* no answer") as error:
        getattr(client, end)()
    assert error.value.code == "docker-hangs"
    assert subprocess.Popen.wait(client, 10) < 0


def test_missing_image_names_the_command_that_builds_it(monkeypatch):
    monkeypatch.setattr(images, "image_exists", lambda tag: False)
    monkeypatch.setattr(images, "require_docker", lambda: "20.10")
    with pytest.raises(TesseraError, match="tessera-toolchain:abc") as error:
        images.require_image("tessera-toolchain:abc")
    assert error.value.remedy == "./run tessera dev build --image"


def test_engine_none_is_this_machine(monkeypatch):
    monkeypatch.setenv("TESSERA_ENGINE", "none")
    assert isinstance(toolchain(), HostToolchain)
    assert toolchain().describe()["engine"] == "none"
