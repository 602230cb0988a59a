"""Fields of every file are changed, with all sums written again: found, or listed on the page of the format.

A random 15% of the changes are made; all of them with TESSERA_MUTATIONS=1.
"""

import os
import random
from fnmatch import fnmatchcase

import pytest

from tessera.measure.bundles.verify import verify_files
from tests.bundles.mutations import drawn
from tests.bundles.processor import Plan, made
from tests.docs import pages

LAYOUTS = ("growing-0", "growing-4", "growing-8", "random-0", "random-1")
PLAN = Plan(optional=("by-size", "code"), rounds=3, layouts=LAYOUTS)


@pytest.fixture(scope="module")
def good():
    return made(PLAN).files


@pytest.fixture(scope="module")
def listed():
    """(file, field, change) of the table "What cannot be known"."""
    section = pages.text("bundle-format.md", "What cannot be known")
    rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| `")]
    cells = [[cell.replace("`", "").strip() for cell in row] for row in rows]
    return [(file, field, change) for file, fields, change in cells for field in fields.split(", ")]


def is_listed(kind, listed):
    file, field, change = kind
    return any(
        file == f and fnmatchcase(field, pattern.replace("[]", "[[]]")) and (c == "any" or c == change)
        for f, pattern, c in listed
    )


def found(files, base):
    done = verify_files("made", files)
    return not done.passed or done.bars != base


def test_every_mutation_is_found_or_listed(good, listed):
    base = verify_files("made", good).bars
    rng = random.Random(20260504)
    missed, count = {}, 0
    for mutation in drawn(good, rng, share=1.0 if os.environ.get("TESSERA_MUTATIONS") == "1" else 0.15):
        count += 1
        if not found(mutation.files, base) and not is_listed(mutation.kind, listed):
            missed.setdefault(mutation.kind, mutation.text)
    assert count > 250
    assert not missed


def test_what_is_listed_is_not_found(good, listed):
    """The list has no row that the checks make superfluous."""
    base = verify_files("made", good).bars
    open_rows = {row: [] for row in listed}
    for mutation in drawn(good, random.Random(5), rows=1):
        for row in listed:
            if is_listed(mutation.kind, [row]):
                open_rows[row].append(mutation)
    assert len(listed) > 15
    for row, mutations in open_rows.items():
        assert any(not found(mutation.files, base) for mutation in mutations), row
