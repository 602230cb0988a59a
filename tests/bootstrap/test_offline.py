"""``./run --offline``: checksums first, then wheels and images of the package; nothing is downloaded."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess

import pytest

SETUP = """
set -euo pipefail
root=$PWD state=$PWD/.tessera venv=$PWD/.venv engine=docker python=/usr/bin/python3
say() { printf 'run: %s\\n' "$*" >&2; }
fail() { printf 'run: %s: %s\\n  what to do: %s\\n' "$1" "$2" "$3" >&2; exit 2; }
mkdir -p "$state"
"""


@pytest.fixture
def unpacked(root, tmp_path):
    """An unpacked package in a folder with spaces; returns its folder and a function that runs its steps."""
    folder = tmp_path / "an unpacked package, 50% #1"
    images = {"tools:1": {"id": "sha256:t"}, "programs:2": {"id": "sha256:p"}}
    files = {
        "run": b"#!/bin/sh\n",
        "offline/index.json": json.dumps({"images": images}).encode(),
        "offline/wheels/a-1-py3-none-any.whl": b"wheel",
        "offline/images.tar.gz": b"layers",
    }
    for name, body in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    sums = [f"{hashlib.sha256(body).hexdigest()}  {name}" for name, body in files.items()]
    sums.append("0" * 64 + "  results/default/cells.csv")  # results may change: a run writes there
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n")

    def steps(script: str, **env: str) -> subprocess.CompletedProcess[str]:
        sources = "".join(f'source "{root}/bootstrap/{name}.sh"\n' for name in ("packages", "offline"))
        return subprocess.run(
            ["bash", "-c", SETUP + sources + script],
            cwd=folder,
            env=os.environ | env,
            text=True,
            capture_output=True,
        )

    return folder, steps


def test_a_whole_package_is_checked_once(unpacked):
    folder, steps = unpacked
    assert "checking" in steps("check_package").stderr
    assert steps("check_package").stderr == ""


def test_a_half_copied_file_is_named(unpacked):
    folder, steps = unpacked
    (folder / "offline" / "images.tar.gz").write_bytes(b"lay")
    done = steps("check_package")
    assert done.returncode == 2 and "offline/images.tar.gz" in done.stderr
    (folder / "offline" / "images.tar.gz").unlink()
    assert "offline/images.tar.gz" in steps("check_package").stderr


def test_a_checkout_is_no_offline_package(unpacked):
    folder, steps = unpacked
    (folder / "offline" / "index.json").unlink()
    done = steps("check_package")
    assert done.returncode == 2 and "package --offline" in done.stderr


def test_pip_and_uv_read_the_wheels_of_the_package_only(unpacked):
    folder, steps = unpacked
    done = steps(
        "use_package_wheels; echo $PIP_NO_INDEX $UV_OFFLINE $PIP_FIND_LINKS; echo ${UV_DEFAULT_INDEX:-none}",
        UV_DEFAULT_INDEX="https://example.org/simple",
    )
    links, index = done.stdout.splitlines()
    assert links.startswith("1 1 file:///")
    assert links.endswith("/an%20unpacked%20package%2C%2050%25%20%231/offline/wheels")
    assert index == "none"
    (folder / "offline" / "wheels" / "a-1-py3-none-any.whl").unlink()
    assert steps("use_package_wheels").returncode == 2


def test_missing_programs_are_named_and_nothing_is_installed(unpacked):
    _, steps = unpacked
    done = steps(
        "have_package() { [[ $1 != docker.io && $1 != mmdebstrap ]]; }\n"
        "as_root() { echo no; }\nrequire_packages"
    )
    assert done.returncode == 2 and "docker.io" in done.stderr and "mmdebstrap" not in done.stderr
    assert done.stdout == ""


def test_only_absent_images_are_loaded(unpacked):
    _, steps = unpacked
    load = 'if [[ $1 == load ]]; then touch loaded; echo "$*"; fi'
    fake = f"docker() {{ {load}; [[ $3 == sha256:t || -e loaded ]]; }}\n"
    done = steps(fake + "load_images")
    assert (
        done.returncode == 0 and "loading programs:2 from" in done.stderr and "images.tar.gz" in done.stderr
    )
    assert "loading" not in steps("docker() { [[ $1 != load ]]; }\nload_images").stderr


def test_another_image_with_the_tag_is_not_the_packages(unpacked):
    """As an earlier package leaves it: the archive is loaded; what is not in it is refused by its name."""
    _, steps = unpacked
    others = "docker() { [[ $1 == load || $3 != sha256:* ]]; }\n"
    done = steps(others + "load_images")
    assert done.returncode == 2 and "loading tools:1 programs:2" in done.stderr
    assert "tools:1" in done.stderr.splitlines()[-2] and "sha256:t" in done.stderr


@pytest.mark.parametrize("index", ["", "{", '{"images": {"tools:1": {}}}'])
def test_an_index_without_ids_is_named(unpacked, index):
    folder, steps = unpacked
    (folder / "offline" / "index.json").write_text(index)
    done = steps("docker() { true; }\nload_images")
    assert done.returncode == 2 and "offline/index.json" in done.stderr


def test_an_engine_that_cannot_load_is_named(unpacked):
    _, steps = unpacked
    assert steps("docker() { false; }\nload_images").returncode == 2
