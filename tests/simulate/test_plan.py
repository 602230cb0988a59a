"""Plans: texts that mean the same, options that exclude each other, what the simulator is given."""

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.simulate.sampling import FULL, TLBS, Intervals, Sampling, parse_sampling, plan_of


@pytest.mark.parametrize(
    "text",
    [
        "fast",
        "units=0",
        "units=x",
        "units=2,timed_instructions=0",
        "period=3",
        "units=\u00b2",
        "units=2,units=3",
    ],
)
def test_bad_sampling_is_refused(text):
    with pytest.raises(TesseraError, match="sampling"):
        parse_sampling(text)


def test_sampling_argument_is_what_the_simulator_reads():
    assert parse_sampling("full").argument() == "full"
    assert (
        parse_sampling("units=3").argument() == "units=3,warmup_accesses=2500000,timed_instructions=1000000"
    )


def test_plans_of_the_command():
    assert plan_of("units=3,warmup_accesses=40,timed_instructions=50") == Sampling(3, 40, 50)
    assert plan_of("full") == FULL
    assert plan_of(None) == Sampling()


@pytest.mark.parametrize("text", ["full,units=3", "units", "warmup_accesses=x", "intervals.txt"])
def test_other_words_are_refused(text):
    with pytest.raises(TesseraError, match="units=N"):
        plan_of(text)


def test_intervals_reach_the_simulator_as_a_file(tmp_path):
    plan = Intervals.of([(0, 10, 100, 1.0), (500, 0, 7, 2.5)])
    flag, path = plan.arguments(tmp_path)
    assert flag == "--interval-file"
    lines = Path(path).read_text().splitlines()
    assert lines == ["start_access,warmup_accesses,timed_instructions,weight", "0,10,100,1.0", "500,0,7,2.5"]
    assert plan_of(path) == plan


def test_a_missing_interval_file_is_named(tmp_path):
    with pytest.raises(TesseraError, match="absent.csv") as caught:
        plan_of(str(tmp_path / "absent.csv"))
    assert caught.value.code == "interval-file-unreadable"


def test_tlbs_is_a_plan_of_the_command_and_not_of_configurations(tmp_path):
    assert plan_of("tlbs") == TLBS
    assert TLBS.arguments(tmp_path) == ["--sampling", "tlbs"] and TLBS.argument() == "tlbs"
    with pytest.raises(TesseraError, match="tlbs"):
        parse_sampling("tlbs")  # what is fitted to such cells needs C
