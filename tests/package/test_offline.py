"""The parts for machines without a network: what is packed, under which names, and what is refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tessera import __version__
from tessera.cli.dev.package import package as command
from tessera.core.errors import TesseraError
from tessera.report.package import make, offline, verify_package

TOP = f"tessera-{__version__}/"


@pytest.fixture
def made(monkeypatch, checkout, tmp_path):
    """Stand-ins for pip and for the engine; the list of images that were saved."""
    saved = []

    def save(tags):
        saved.append(tags)
        path = tmp_path / "images.tar.gz"
        path.write_bytes(b"layers of " + " ".join(tags).encode())
        return path

    def file(name):
        path = tmp_path / name
        path.write_bytes(name.encode())
        return path

    monkeypatch.setattr(offline, "toolchain_tag", lambda: "tools:1")
    monkeypatch.setattr(offline, "workloads_tag", lambda: "programs:2")
    monkeypatch.setattr(offline, "kernel_tag", lambda: "kernel:3")
    monkeypatch.setattr(
        offline, "wheels", lambda: [file("b-1-py3-none-any.whl"), file("a-1-py3-none-any.whl")]
    )
    monkeypatch.setattr(offline, "saved", save)
    monkeypatch.setattr(
        offline, "contents_of", lambda tag: {"id": f"sha256:{tag}", "packages": {"gcc": "12"}}
    )
    monkeypatch.setattr(
        offline, "recorded_source", lambda: SimpleNamespace(version="6.12.117-1", tree_sha256="ab")
    )
    monkeypatch.setattr(offline, "kernel_source", lambda: file("linux-source-6.12.tar.xz"))
    return saved


def entries(path) -> dict[str, zipfile.ZipInfo]:
    return {
        info.filename.removeprefix(TOP): info
        for info in zipfile.ZipFile(path).infolist()
        if "/offline/" in info.filename
    }


def test_all_parts(made, results, tmp_path):
    done = make(results, tmp_path / "out.zip", without=())
    found = entries(done.path)
    assert list(found) == [
        "offline/images.tar.gz", "offline/kernel/linux-source-6.12.tar.xz",
        "offline/wheels/a-1-py3-none-any.whl", "offline/wheels/b-1-py3-none-any.whl", "offline/index.json",
    ]  # fmt: skip
    assert made == [["tools:1", "programs:2", "kernel:3"]]
    assert {info.compress_type for info in found.values()} == {zipfile.ZIP_STORED}  # they are compressed
    index = json.loads(zipfile.ZipFile(done.path).read(f"{TOP}offline/index.json"))
    assert list(index["images"]) == ["kernel:3", "programs:2", "tools:1"] and index["parts"] == [
        *offline.PARTS
    ]
    assert index["images"]["tools:1"] == {"id": "sha256:tools:1", "packages": {"gcc": "12"}}
    assert index["kernel"] == {"version": "6.12.117-1", "sha256": "ab"}
    assert done.offline_bytes["wheels"] == 2 * len("a-1-py3-none-any.whl")
    assert done.about["offline"] == ["wheels", "images", "kernel"]
    verify_package(done.path)


def test_without_the_kernel_its_image_is_left_out_too(made, results, tmp_path):
    found = entries(make(results, tmp_path / "out.zip", without=("kernel",)).path)
    assert "offline/images.tar.gz" in found and not [name for name in found if "kernel" in name]
    assert made == [["tools:1", "programs:2"]]


def test_a_plain_package_has_no_such_folder(made, results, tmp_path):
    done = make(results, tmp_path / "out.zip")
    assert entries(done.path) == {} and done.offline_bytes == {} and "offline" not in done.about


def test_unknown_parts_are_refused_with_the_list(made, results, tmp_path):
    with pytest.raises(TesseraError) as refused:
        make(results, tmp_path / "out.zip", without=("kernels",))
    assert "kernels" in refused.value.asked and "wheels" in str(refused.value)
    assert not (tmp_path / "out.zip").exists()
    words = ["--results", str(results), "--out", str(tmp_path / "out.zip"), "--without", "kernel"]
    assert CliRunner().invoke(command, words).exit_code == 2  # without --offline


def test_the_command_prints_each_size(made, results, tmp_path):
    words = ["--results", str(results), "--out", str(tmp_path / "out.zip"), "--offline"]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    for part in ("wheels", "images.tar.gz", "kernel"):
        assert f"offline/{part}: 0.0 MB" in done.output
    assert "./run --offline smoke" in done.output


def test_a_failure_of_pip_names_the_remedy(checkout, monkeypatch):
    (checkout / "requirements.lock").write_text("")
    (checkout / "requirements-build.lock").write_text(
        "no-such-package-of-anybody==0 --hash=sha256:" + "0" * 64 + "\n"
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(TesseraError) as refused:
        offline.wheels()
    assert refused.value.code == "package-offline-part" and "--without" in refused.value.remedy
    assert not [path for path in (checkout / "build" / "offline").iterdir() if path.suffix != ".tmp"]


def test_a_full_disk_under_pip_has_its_own_remedy(checkout, monkeypatch):
    pip = checkout / "pip"
    pip.write_text("#!/bin/sh\necho 'OSError: [Errno 28] No space left on device' >&2; exit 2\n")
    pip.chmod(0o755)
    for name in offline.LOCKS:
        (checkout / name).write_text("")
    monkeypatch.setattr(offline, "module_command", lambda *words: [str(pip), *words])
    with pytest.raises(TesseraError) as refused:
        offline.wheels()
    assert refused.value.exit_code == 1 and str(checkout / "build" / "offline") in refused.value.remedy


def test_what_builds_packages_without_a_wheel_is_packed_too(checkout, monkeypatch):
    asked = []

    def ran(words):
        asked.append(words)
        Path(words[words.index("--dest") + 1]).mkdir(parents=True, exist_ok=True)
        return ""

    monkeypatch.setattr(offline, "_ran", ran)
    for name in offline.LOCKS:
        (checkout / name).write_text("")
    offline.wheels()
    offline.wheels()  # found
    assert len(asked) == 1
    assert [str(checkout / name) in asked[0] for name in offline.LOCKS] == [True, True]
    (checkout / offline.LOCKS[1]).write_text("# another version\n")
    offline.wheels()
    assert len(asked) == 2


def test_images_with_the_password_of_a_mirror_are_not_packed(made, monkeypatch):
    monkeypatch.setenv("TESSERA_DEBIAN_MIRROR", "http://alice:hunter2@mirror.example.org/debian")
    with pytest.raises(TesseraError) as error:
        offline.parts()
    assert error.value.code == "package-private-mirror" and made == []
    assert "hunter2" not in str(error.value) and "mirror.example.org" in error.value.found
    assert offline.parts((offline.IMAGES, offline.KERNEL))
