"""Several platforms in one run, where one of them may stop the simulator."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tessera.core.errors import TesseraError
from tessera.simulate import runner

TRACE, LAYOUTS = Path("t.tst"), [Path("growing-0.csv")]


@pytest.fixture
def runs(monkeypatch):
    """The names of the platforms of each run; a run with ``bad`` in it dies."""
    seen: list[list[str]] = []

    def fake(trace, platforms, layouts, **options):
        assert (trace, layouts, options["threads"]) == (TRACE, LAYOUTS, 2)
        seen.append([platform.name for platform in platforms])
        if "bad" in seen[-1]:
            raise TesseraError("tessera-sim", "ended with status -11", "see above")
        return [[{"platform": platform.name}] for platform in platforms]

    monkeypatch.setattr(runner, "simulate_all", fake)
    return seen


def each(*names: str, said: list[str] | None = None) -> list:
    platforms = [SimpleNamespace(name=name) for name in names]
    options = {} if said is None else {"progress": said.append}
    return runner.simulate_each(TRACE, platforms, LAYOUTS, threads=2, **options)


def test_all_are_simulated_in_one_run(runs):
    assert each("a", "b") == [[{"platform": "a"}], [{"platform": "b"}]]
    assert runs == [["a", "b"]]


def test_one_that_stops_the_simulator_does_not_stop_the_others(runs):
    said: list[str] = []
    first, bad, last = each("a", "bad", "b", said=said)
    assert len(said) == 1 and "status -11" in said[0]
    assert (first, last) == ([{"platform": "a"}], [{"platform": "b"}])
    assert isinstance(bad, TesseraError) and "status -11" in bad.found
    assert runs == [["a", "bad", "b"], ["a"], ["bad"], ["b"]]


def test_an_only_platform_is_simulated_once(runs):
    (bad,) = each("bad")
    assert isinstance(bad, TesseraError)
    assert runs == [["bad"]]
