"""Image tags follow their inputs: the same inputs the same tag, any change another."""

from __future__ import annotations

import hashlib

import pytest

from tessera.machine.container import image_inputs


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "Dockerfile").write_text("FROM x\n")
    (tmp_path / "sub" / "script.sh").write_text("echo\n")
    return tmp_path


def test_digest_is_of_paths_modes_contents_and_arguments(folder):
    content = {name: hashlib.sha256(name_text.encode()).hexdigest()
               for name, name_text in (("Dockerfile", "FROM x\n"), ("sub/script.sh", "echo\n"))}  # fmt: skip
    text = "".join(f"{name}\0False\0{content[name]}\n" for name in sorted(content)) + "A=1\n"
    assert image_inputs.inputs_digest(folder, {"A": "1"}) == hashlib.sha256(text.encode()).hexdigest()


CHANGES = {
    "content": lambda folder: (folder / "Dockerfile").write_text("FROM y\n"),
    "mode": lambda folder: (folder / "sub" / "script.sh").chmod(0o755),
    "name": lambda folder: (folder / "Dockerfile").rename(folder / "Containerfile"),
    "new file": lambda folder: (folder / "more").touch(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_changes_the_digest(folder, change):
    before = image_inputs.inputs_digest(folder, {})
    CHANGES[change](folder)
    assert image_inputs.inputs_digest(folder, {}) != before


def test_arguments_change_both_tags():
    plain = image_inputs.BaseArguments()
    mirrored = image_inputs.BaseArguments(mirror="http://example.invalid/debian")
    assert image_inputs.base_tag(plain) != image_inputs.base_tag(mirrored)
    assert image_inputs.toolchain_tag(plain) != image_inputs.toolchain_tag(mirrored)
    assert image_inputs.toolchain_tag(plain) == image_inputs.toolchain_tag(image_inputs.BaseArguments())


def test_arguments_come_from_the_environment():
    environ = {"TESSERA_DEBIAN_MIRROR": "m", "TESSERA_DEBIAN_SNAPSHOT": "20250520T000000Z"}
    arguments = image_inputs.BaseArguments.from_environment(environ)
    assert arguments.as_environment() == {
        "DEBIAN_SUITE": "bookworm",
        "DEBIAN_MIRROR": "m",
        "DEBIAN_SNAPSHOT": "20250520T000000Z",
    }
