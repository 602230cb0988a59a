"""An image counts by its id: that of its manifest, or of the unpacked package. The engine is played."""

from __future__ import annotations

import json

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import engine, image_packages, images
from tessera.machine.container.image_inputs import base_tag, kernel_tag, stem, toolchain_tag
from tessera.machine.container.toolchain import toolchain

#: Images are files in ``ids``, tags are files that have an id in them; ``load`` gives what is in ``archive``.
DOCKER = """#!/bin/sh
cd {state}
new() {{ id=sha256:$(ls ids | wc -l); touch "ids/$id"; echo "$id" > "tags/$1"; }}
case $1 in
version) echo 20.10 ;;
image) if [ -e "ids/$5" ]; then echo "$5"; elif [ -e "tags/$5" ]; then cat "tags/$5"; else exit 1; fi ;;
tag) [ -e "ids/$2" ] && echo "$2" > "tags/$3" ;;
build) echo "build $(cat "tags/${{3#BASE=}}")" >> log; new "$5" ;;
run) echo "$*" >> runs; cat packages ;;
load) for tag in archive/*; do cp "$tag" tags/; touch "ids/$(cat "$tag")"; done ;;
esac
"""


@pytest.fixture
def docker(tmp_path, monkeypatch, root):
    """The folder of the engine's state; base images are made without Debian's archive."""
    state, commands = tmp_path / "state", tmp_path / "commands"
    for folder in (commands, *(state / name for name in ("ids", "tags", "archive"))):
        folder.mkdir(parents=True)
    (state / "packages").write_text("libc6:amd64=2.36-9\n")
    (commands / "docker").write_text(DOCKER.format(state=state))
    (commands / "docker").chmod(0o755)
    (tmp_path / "docker").symlink_to(root / "docker")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    monkeypatch.setenv("TESSERA_ENGINE", "docker")
    monkeypatch.setenv("PATH", f"{commands}:/usr/bin:/bin")
    for name in ("TESSERA_DEBIAN_MIRROR", "TESSERA_DEBIAN_SNAPSHOT"):
        monkeypatch.delenv(name, raising=False)

    def build_base(tag, arguments, folder):
        put(state, tag, f"sha256:base{len(list((state / 'ids').iterdir()))}")
        images._record(tag, folder, {"arguments": arguments.as_environment()})

    monkeypatch.setattr(images, "_build_base", build_base)
    monkeypatch.setattr(images, "differences", lambda image, found: {})
    engine.require_docker.cache_clear()
    toolchain.cache_clear()
    yield state
    engine.require_docker.cache_clear()
    toolchain.cache_clear()


def put(state, tag: str, identity: str) -> None:
    """Give the engine an image under a tag."""
    (state / "ids" / identity).touch()
    (state / "tags" / tag).write_text(f"{identity}\n")


def ensured() -> str:
    """What building the toolchain says."""
    said: list[str] = []
    assert images.ensure_images(said.append) == toolchain_tag()
    return "\n".join(said)


def manifest(tag: str):
    return images.build_dir("images") / f"{stem(tag)}.json"


def test_what_was_built_here_is_used(docker):
    assert "made again" not in ensured()
    built = json.loads(manifest(toolchain_tag()).read_text())
    assert built["id"] == images.require_image(toolchain_tag()) and built["origin"] == "live"
    assert ensured() == "" and len((docker / "log").read_text().splitlines()) == 1


def test_another_image_that_got_the_tag_is_not_run(docker):
    """As a build of the same files in another checkout gives it."""
    ensured()
    ours = json.loads(manifest(toolchain_tag()).read_text())["id"]
    put(docker, toolchain_tag(), "sha256:other")
    assert ensured() == ""
    assert toolchain().image == ours and toolchain().describe()["image"] == toolchain_tag()
    assert images.engine_id(toolchain_tag()) == ours


@pytest.mark.parametrize("built", [True, False])
def test_an_image_of_nobody_is_refused_and_built_again(docker, built):
    """As `docker load` of a stranger's archive leaves it."""
    ours = ""
    if built:
        ensured()
        ours = json.loads(manifest(toolchain_tag()).read_text())["id"]
        (docker / "ids" / ours).unlink()
    put(docker, toolchain_tag(), "sha256:other")
    with pytest.raises(TesseraError) as refused:
        images.require_image(toolchain_tag())
    assert refused.value.code == "image-unknown" and "sha256:other" in refused.value.found
    assert ours in refused.value.found and "dev build --image" in refused.value.remedy
    said = ensured()
    assert "sha256:other" in said and ours in said
    assert images.require_image(toolchain_tag()) not in ("sha256:other", "")


def test_a_stranger_is_no_base_of_ours(docker):
    ensured()
    ours = json.loads(manifest(toolchain_tag()).read_text())["id"]
    put(docker, toolchain_tag(), "sha256:other")
    images.ensure_kernel_image(lambda line: None)
    assert (docker / "log").read_text().splitlines()[-1] == f"build {ours}"


@pytest.mark.parametrize("text", [None, "", '{"image": "tess', "null", '{"id": "sha256:1"}', b"\xff\0"])
def test_a_manifest_that_is_missing_empty_or_half_is_named_and_made_again(docker, text):
    ensured()
    path = manifest(toolchain_tag())
    whole = path.read_text()
    path.unlink()
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TesseraError) as refused:
        images.require_image(toolchain_tag())
    assert str(path) in refused.value.found
    assert str(path) in ensured()
    assert json.loads(path.read_text()) | {"id": ""} == json.loads(whole) | {"id": ""}
    assert images.image_exists(toolchain_tag()) and ensured() == ""


def test_a_build_that_was_killed_before_its_last_word_counts_for_nothing(docker, monkeypatch):
    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(images, "_note", lambda *words, **facts: (_ for _ in ()).throw(KeyboardInterrupt))
        ensured()
    assert not images.image_exists(base_tag()) and images.engine_id(base_tag())
    assert "origin" in ensured() or images.image_exists(base_tag())
    assert json.loads(manifest(base_tag()).read_text())["origin"] == "live"


def test_the_record_of_packages_asks_images_by_their_ids(docker):
    ensured()
    ours = images.require_image(toolchain_tag())
    put(docker, toolchain_tag(), "sha256:other")
    stanza = {"Package": "libc6", "Version": "2.36-9", "Architecture": "amd64", "SHA256": "bb"}
    (docker / "packages").write_text("".join(f"{key}: {value}\n" for key, value in stanza.items()))
    (found,) = image_packages.collect_packages({toolchain_tag(): ours})
    assert found.sha256 == "bb" and f" {ours} sh -c " in (docker / "runs").read_text()


# The unpacked package.


def package(docker, tag: str, named: str, loaded: str) -> None:
    """The index names one image, the archive gives another or the same."""
    offline = images.build_dir("images").parents[1] / "offline"
    offline.mkdir()
    (offline / "index.json").write_text(json.dumps({"images": {tag: {"id": named}}}))
    (docker / "archive" / tag).write_text(f"{loaded}\n")


def test_an_image_of_the_package_is_used_by_its_id(docker):
    package(docker, toolchain_tag(), "sha256:theirs", "sha256:theirs")
    put(docker, toolchain_tag(), "sha256:theirs")
    assert ensured() == "" and toolchain().image == "sha256:theirs"
    assert not (docker / "log").exists()


def test_an_archive_with_another_image_than_the_index_is_refused_by_name(docker, monkeypatch):
    def gone(*words):
        raise TesseraError("image", "404 Not Found", "find another archive")

    monkeypatch.setattr(images, "_build_base", gone)
    package(docker, toolchain_tag(), "sha256:theirs", "sha256:other")
    with pytest.raises(TesseraError) as refused:
        ensured()
    assert refused.value.code == "image-origins" and toolchain_tag() in refused.value.asked
    assert "sha256:theirs" in refused.value.found and "sha256:other" in refused.value.found
    assert not images.image_exists(toolchain_tag())
    (docker / "archive" / toolchain_tag()).write_text("sha256:theirs\n")
    ensured()
    assert json.loads(manifest(toolchain_tag()).read_text())["origin"] == "package"
    assert images.require_image(toolchain_tag()) == "sha256:theirs"


@pytest.mark.parametrize("text", ["", '{"images": {"tess', "[]", "null", "{}"])
def test_an_index_that_is_empty_or_half_is_named(docker, text):
    package(docker, toolchain_tag(), "sha256:theirs", "sha256:theirs")
    index = images.build_dir("images").parents[1] / "offline" / "index.json"
    index.write_text(text)
    with pytest.raises(TesseraError) as refused:
        images.require_image(toolchain_tag())
    assert str(index) in refused.value.asked


# Debian's snapshot service.


def test_other_packages_than_recorded_are_an_error_from_the_snapshot_only(docker, monkeypatch):
    """A service that answers with an older state, which Debian has signed, too, must not pass for ours."""
    monkeypatch.setattr(images, "differences", lambda image, found: {"libc6": "2.36-10 -> 2.36-9"})
    said = ensured()
    assert "1 packages have other versions" in said
    assert json.loads(manifest(toolchain_tag()).read_text())["differs"] == {"libc6": "2.36-10 -> 2.36-9"}
    for tag in (base_tag(), toolchain_tag()):
        manifest(tag).unlink()
    build = images._build_base

    def from_snapshot(tag, arguments, folder):
        if not arguments.mirror:
            raise TesseraError("image", "404 Not Found", "find another archive")
        build(tag, arguments, folder)

    monkeypatch.setattr(images, "_build_base", from_snapshot)
    with pytest.raises(TesseraError) as refused:
        ensured()
    assert refused.value.code == "image-origins" and "snapshot: 1 packages" in refused.value.found
    assert "libc6 2.36-10 -> 2.36-9" in refused.value.found
    assert not images.image_exists(base_tag()) and not images.image_exists(toolchain_tag())


def test_images_on_a_snapshot_are_compared_too(docker, monkeypatch):
    ensured()
    path = manifest(toolchain_tag())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"origin": image_packages.SNAPSHOT}))
    monkeypatch.setattr(images, "differences", lambda image, found: {"gcc": "none -> 12"})
    with pytest.raises(TesseraError) as refused:
        images.ensure_kernel_image(lambda line: None)
    assert "gcc none -> 12" in refused.value.found and not images.image_exists(kernel_tag())
