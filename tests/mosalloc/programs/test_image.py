"""The programs' image: its name follows from its inputs, and it is asked for, never assumed."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import image_inputs, images
from tessera.machine.container.image_inputs import BaseArguments, programs_tag


def test_the_tag_follows_the_toolchain(monkeypatch):
    ours = programs_tag()
    assert programs_tag() == ours and ours.startswith("tessera-programs:")
    assert programs_tag(BaseArguments(snapshot="20250520T000000Z")) != ours
    monkeypatch.setattr(image_inputs, "toolchain_tag", lambda arguments: "tessera-toolchain:other")
    assert programs_tag() != ours


def test_an_existing_image_is_not_built_again(monkeypatch):
    monkeypatch.setattr(images, "image_exists", lambda tag: True)
    said = []
    assert images.ensure_programs_image(said.append) == programs_tag()
    assert said == []


def test_it_is_built_on_the_toolchain_that_is_built_first(monkeypatch):
    built, there = [], set()

    def build(tag: str, base: str, folder) -> None:
        built.append((tag.partition(":")[0], base.partition(":")[0]))
        there.add(tag)

    monkeypatch.setattr(images, "image_exists", there.__contains__)
    monkeypatch.setattr(images, "require_docker", lambda: "20.10")
    monkeypatch.setattr(images, "_build_base", lambda tag, arguments, folder: there.add(tag))
    monkeypatch.setattr(images, "_build_on", build)
    images.ensure_programs_image(lambda text: None)
    assert built == [("tessera-toolchain", "tessera-base"), ("tessera-programs", "tessera-toolchain")]


def test_a_missing_image_names_the_command_that_builds_it(monkeypatch):
    monkeypatch.setattr(images, "image_exists", lambda tag: False)
    monkeypatch.setattr(images, "require_docker", lambda: "20.10")
    with pytest.raises(TesseraError, match=r"\./run tessera lab allocator programs"):
        images.require_image(programs_tag())
