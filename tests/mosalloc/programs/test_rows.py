"""Every program of the table under every layout; huge pages and programs that are missing SKIP by name."""

from __future__ import annotations

import pytest

from tessera.core.checks import PASS, SKIP
from tessera.lab.allocator_proof.programs.driver import ProgramOutcome
from tessera.lab.allocator_proof.programs.registry import PROGRAMS
from tessera.lab.allocator_proof.programs.session import MOSAIC_NAMES, Session, failure_details
from tessera.machine.container.engine import DOCKER, container_engine_name
from tessera.machine.container.images import ensure_programs_image

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]


@pytest.fixture(scope="module")
def outcomes(build):
    """``outcomes(name)``: one program's outcome by layout; all layouts run once, beside one plain run."""
    if container_engine_name() == DOCKER:
        ensure_programs_image(print)
    session, known = Session(), {}

    def of(name: str) -> dict[str, ProgramOutcome]:
        if name not in known:
            known[name] = {outcome.layout: outcome for outcome in session.run([PROGRAMS[name]])}
        return known[name]

    return of


def rows() -> list:
    found = []
    for name in PROGRAMS:
        for layout in MOSAIC_NAMES:
            marks = () if layout == "4kb" else (pytest.mark.hugepages,)
            found.append(pytest.param(name, layout, marks=marks, id=f"{name}-{layout}"))
    return found


@pytest.mark.parametrize(("name", "layout"), rows())
def test_program(outcomes, name, layout):
    outcome = outcomes(name)[layout]
    if outcome.verdict == SKIP:
        pytest.skip(outcome.reason)
    assert outcome.verdict == PASS, failure_details(outcome)
