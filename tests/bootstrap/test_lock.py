"""The four lists of Python packages agree, and the lock names no host."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def direct(root) -> set[str]:
    """Names in requirements.in."""
    lines = (root / "requirements.in").read_text().splitlines()
    return {canonicalize_name(line.strip()) for line in lines if line.strip() and not line.startswith("#")}


@pytest.fixture(scope="module")
def lock_text(root) -> str:
    return (root / "requirements.lock").read_text()


@pytest.fixture(scope="module")
def locked(lock_text) -> dict[str, str]:
    """name -> version of requirements.lock."""
    pins = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", lock_text, flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pins}


def test_lock_pins_every_direct_dependency(direct, locked):
    assert direct - locked.keys() == set()


def test_every_pin_has_a_hash(lock_text, locked):
    blocks = re.split(r"^(?=[A-Za-z0-9])", lock_text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(locked)
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_build_pins_have_hashes_too(root):
    """setup.py of a package without a wheel asks for setuptools, of any version."""
    text = (root / "requirements-build.lock").read_text()
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert [block.partition("==")[0] for block in blocks] == ["setuptools"]
    assert all("--hash=sha256:" in block for block in blocks)


@pytest.mark.parametrize(
    "name",
    ["requirements.lock", "requirements-build.lock", "requirements.in", "environment.yml", "pyproject.toml"],
)
def test_no_host_is_named(root, name):
    """Anybody's index or mirror serves: hashes decide what is accepted."""
    text = (root / name).read_text()
    assert re.findall(r"https?://\S+|--(?:extra-)?index-url.*|--find-links.*", text) == []


def test_environment_yml_has_the_same_direct_dependencies(root, direct, locked):
    entries = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    plain = [entry for entry in entries if isinstance(entry, str)]
    through_pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    requirements = [Requirement(entry) for entry in plain + through_pip]
    bounds = {canonicalize_name(r.name): r.specifier for r in requirements}
    assert bounds.keys() - {"python", "pip"} == direct
    refused = [f"{n} {locked[n]} not {bounds[n]}" for n in direct if not bounds[n].contains(locked[n])]
    assert refused == []


def test_pyproject_takes_its_dependencies_from_requirements_in(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["dependencies"]
    assert project["tool"]["setuptools"]["dynamic"]["dependencies"] == {"file": ["requirements.in"]}
    assert project["project"]["requires-python"] == ">=3.11"


def test_running_environment_is_the_lock(locked):
    """What runs these tests is what the lock says (the environment of ./run, not another one)."""
    from importlib.metadata import version

    for name in ("numpy", "scikit-learn", "snakemake", "pandas"):
        assert version(name) == locked[name]
