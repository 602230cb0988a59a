"""The order of sources of images: what is tried, in which order, and what the manifest says afterwards."""

from __future__ import annotations

import json
import subprocess

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import image_packages, images
from tessera.machine.container.image_inputs import base_tag, toolchain_tag

GONE = TesseraError("image", "404 Not Found", "find another archive")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """An engine without images, and builders that are played; ``broken`` names the archives that fail."""

    class Machine:
        broken: set[str] = set()
        archive = "live"

        def __init__(self):
            self.built, self.there = [], set()

        def base(self, tag, arguments, folder):
            self._make(tag, arguments.mirror or "live", folder)

        def on(self, tag, base, folder):
            self._make(tag, self.archive, folder)

        def _make(self, tag, archive, folder):
            self.archive = "snapshot" if archive.endswith("snapshot.list") else archive
            self.built.append(f"{tag.split(':')[0]} {self.archive}")
            if self.archive in self.broken:
                raise GONE
            self.there.add(tag)
            content = {"packages": {"libc6:amd64": "2.36-9"}, "arguments": {"DEBIAN_MIRROR": archive}}
            (folder / f"{images.stem(tag)}.json").write_text(json.dumps(content))

    one = Machine()
    build = tmp_path / "build" / "images"
    (tmp_path / "docker").mkdir()
    monkeypatch.setattr(images, "build_dir", lambda name: build)
    monkeypatch.setattr(images, "image_exists", lambda tag: tag in one.there)
    monkeypatch.setattr(images, "require_docker", lambda: "20.10")
    monkeypatch.setattr(images, "_build_base", one.base)
    monkeypatch.setattr(images, "_build_on", one.on)
    monkeypatch.setattr(images, "differences", lambda image, found: {})
    for name in ("TESSERA_DEBIAN_MIRROR", "TESSERA_DEBIAN_SNAPSHOT"):
        monkeypatch.delenv(name, raising=False)
    return one


def ensure() -> list[str]:
    said: list[str] = []
    images.ensure_images(said.append)
    return said


def test_the_live_archive_comes_first(machine):
    ensure()
    assert machine.built == ["tessera-base live", "tessera-toolchain live"]
    assert images.image_manifest(toolchain_tag())["origin"] == "live"


def test_the_snapshot_makes_both_images_again(machine):
    """A toolchain from one archive on a base from another would mix versions."""
    machine.broken = {"live"}
    machine.there.add(base_tag())
    said = ensure()
    assert machine.built == ["tessera-toolchain live", "tessera-base snapshot", "tessera-toolchain snapshot"]
    assert (
        images.image_manifest(toolchain_tag())["origin"]
        == images.image_manifest(base_tag())["origin"]
        == "snapshot"
    )
    assert images.image_manifest(base_tag())["arguments"]["DEBIAN_MIRROR"] == ""  # no path of this machine
    assert [line for line in said if "live" in line and "404" in line]


def test_without_any_source_all_are_named(machine):
    machine.broken = {"live", "snapshot"}
    with pytest.raises(TesseraError) as refused:
        ensure()
    assert refused.value.code == "image-origins" and refused.value.exit_code == 1
    assert all(word in str(refused.value) for word in ("live: 404", "snapshot: 404", toolchain_tag()))


def test_a_chosen_mirror_has_no_substitute(machine, monkeypatch):
    monkeypatch.setenv("TESSERA_DEBIAN_MIRROR", "http://mirror.test/debian")
    machine.broken = {"http://mirror.test/debian"}
    with pytest.raises(TesseraError):
        ensure()
    assert machine.built == ["tessera-base http://mirror.test/debian"]


def test_the_unpacked_package_is_the_last_source(machine, monkeypatch):
    machine.broken = {"live", "snapshot"}
    tag = toolchain_tag()
    monkeypatch.setattr(image_packages, "packaged", lambda: [tag])
    monkeypatch.setattr(image_packages, "load_packaged", machine.there.add)
    monkeypatch.setattr(images, "_record", lambda tag, folder, facts: machine.built.append("recorded"))
    ensure()
    assert machine.built[-1] == "recorded" and tag in machine.there


def test_an_image_on_the_toolchain_names_its_archive(machine):
    machine.broken = {"live"}
    ensure()
    machine.broken = set()
    tag = images.ensure_kernel_image(lambda line: None)
    assert images.image_manifest(tag)["origin"] == "snapshot"


def test_the_sources_of_a_snapshot(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "SNAPSHOT").write_text("20250520T000000Z\n")
    path = image_packages.snapshot_sources(
        "bookworm", tmp_path / "list", {"TESSERA_SNAPSHOT_ARCHIVE": "http://a/"}
    )
    assert path.read_text().splitlines() == [
        "deb [check-valid-until=no] http://a/debian/20250520T000000Z bookworm main",
        "deb [check-valid-until=no] http://a/debian/20250520T000000Z bookworm-updates main",
        "deb [check-valid-until=no] http://a/debian-security/20250520T000000Z bookworm-security main",
    ]


def test_the_recorded_time_is_checked(tmp_path, monkeypatch):
    assert image_packages.snapshot_time() > "20260101T000000Z"  # of this checkout
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "SNAPSHOT").write_text("last year\n")
    with pytest.raises(TesseraError, match="last year"):
        image_packages.snapshot_time()


def test_loading_needs_the_image_in_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    assert image_packages.packaged() == []
    (tmp_path / "offline").mkdir()
    (tmp_path / "offline" / "index.json").write_text(json.dumps({"images": {"tools:1": {}}}))
    asked: list[tuple[str, ...]] = []

    def engine(*words: str, timeout: float | None) -> subprocess.CompletedProcess[str]:
        asked.append(words)
        return subprocess.CompletedProcess(words, len(asked) - 1, "", "enospc-17")

    monkeypatch.setattr(image_packages, "docker", engine)
    with pytest.raises(TesseraError, match="tools:2"):
        image_packages.load_packaged("tools:2")
    image_packages.load_packaged("tools:1")
    assert asked[0][-1] == str(tmp_path / "offline" / "images.tar.gz")
    with pytest.raises(TesseraError, match="enospc-17"):
        image_packages.load_packaged("tools:1")
