"""The sections in the order of the proof: a section is one file of ``sections/`` and one line here."""

from __future__ import annotations

from tessera.allocator_proof.suite.model import Section
from tessera.allocator_proof.suite.sections import (
    benchmark,
    cases,
    differential,
    libraries,
    lives,
    programs,
    stacks,
    threads,
)
from tessera.core.errors import unknown_name

SECTIONS: tuple[Section, ...] = (
    cases.SECTION,
    differential.SECTION,
    libraries.SECTION,
    lives.SECTION,
    threads.SECTION,
    stacks.SECTION,
    programs.SECTION,
    benchmark.SECTION,
)


def chosen(names: tuple[str, ...]) -> list[Section]:
    """The sections of these names in the proof's order, all without names."""
    known = {section.name: section for section in SECTIONS}
    for name in names:
        if name not in known:
            raise unknown_name("section", name, list(known))
    return [section for section in SECTIONS if not names or section.name in names]
