"""Builds: nothing runs when nothing changed, and objects of two toolchains never mix."""

from __future__ import annotations

import subprocess

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import build as builder
from tessera.machine.container.toolchain import Toolchain


class Recorder(Toolchain):
    """A toolchain that writes its commands down."""

    def __init__(self, engine: str = "docker", compiler: str = "1"):
        self.facts = {"engine": engine, "compiler": compiler, "engine_version": "any"}
        self.commands: list[list[str]] = []

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        self.commands.append([str(word) for word in argv])
        return subprocess.Popen(["true"], **keywords)

    def describe(self):
        return dict(self.facts)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    source = tmp_path / "artifacts" / "tracer"
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text("project(x)\n")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    return tmp_path


def _build(monkeypatch, tools: Recorder, *, tests: bool = False) -> list[list[str]]:
    monkeypatch.setattr(builder, "toolchain", lambda: tools)
    tools.commands.clear()
    builder.build_component("tracer", lambda text: None, tests=tests)
    return list(tools.commands)


def test_first_build_configures_and_builds(checkout, monkeypatch):
    source, folder = str(checkout / "artifacts/tracer"), str(checkout / "build/tracer")
    configure, compile_all = _build(monkeypatch, Recorder())
    assert configure[:7] == ["cmake", "-S", source, "-B", folder, "-G", "Ninja"]
    assert set(configure[7:]) == {"-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF"}
    assert compile_all == ["cmake", "--build", folder]


def test_tests_are_built_only_when_asked_for(checkout, monkeypatch):
    """A build with tests serves those who need none; the other way round it is built again."""
    _build(monkeypatch, Recorder())
    assert "-DBUILD_TESTING=ON" in _build(monkeypatch, Recorder(), tests=True)[0]
    assert _build(monkeypatch, Recorder()) == _build(monkeypatch, Recorder(), tests=True) == []


def test_unchanged_sources_start_no_program(checkout, monkeypatch):
    _build(monkeypatch, Recorder())
    assert _build(monkeypatch, Recorder()) == []


def test_a_change_anywhere_below_artifacts_builds_again(checkout, monkeypatch):
    """Of another component too: the simulator builds the tracer's library."""
    _build(monkeypatch, Recorder())
    (checkout / "artifacts" / "shared.h").touch()
    assert len(_build(monkeypatch, Recorder())) == 2


@pytest.mark.parametrize("other", [Recorder(compiler="2"), Recorder(engine="docker", compiler="3")])
def test_another_toolchain_starts_from_a_clean_folder(checkout, monkeypatch, other):
    _build(monkeypatch, Recorder())
    (checkout / "build" / "tracer" / "old.o").touch()
    assert len(_build(monkeypatch, other)) == 2
    assert not (checkout / "build" / "tracer" / "old.o").exists()


def test_another_engine_version_is_the_same_toolchain(checkout, monkeypatch):
    _build(monkeypatch, Recorder())
    newer = Recorder()
    newer.facts["engine_version"] = "another"
    assert _build(monkeypatch, newer) == []


def test_the_simulators_benchmark_is_built_with_the_tests_only(root):
    """A run does not need it; the README says which command builds it."""
    without_tests = (
        (root / "artifacts/simulator/CMakeLists.txt").read_text().split("if(NOT BUILD_TESTING)")[1]
    )
    assert "simulator_benchmark PROPERTIES EXCLUDE_FROM_ALL" in without_tests.split("endif()")[0]
    readme = (root / "artifacts/simulator/README.md").read_text().split("## Speed")[1]
    assert "./run tessera dev build --test simulator" in readme.split("\n\n")[1]


def test_a_failed_build_is_tried_again(checkout, monkeypatch):
    failing = Recorder()
    failing.popen = lambda argv, *a, options=None, **k: subprocess.Popen(["false"])
    with pytest.raises(TesseraError, match="status 1"):
        _build(monkeypatch, failing)
    assert len(_build(monkeypatch, Recorder())) == 2


def test_a_component_without_project_is_an_error(checkout, monkeypatch):
    monkeypatch.setattr(builder, "toolchain", Recorder)
    with pytest.raises(TesseraError, match="artifacts/simulator/CMakeLists.txt"):
        builder.build_component("simulator", lambda text: None)
