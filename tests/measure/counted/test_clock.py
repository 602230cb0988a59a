"""A run without counters is believed only if its status, its pages, its verifier and its time allow it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container.process import HostProcess
from tessera.machine.container.toolchain import HostToolchain
from tessera.measure.counted import host, turns
from tessera.measure.counted.counted_run import clock_ns, launched
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.request import ReadyWorkload
from tessera.measure.counted.turns import Turns
from tessera.measure.launch import last_words
from tessera.record.workloads.definition import Size
from tessera.record.workloads.program_run import ProgramRun

GOOD = '{"workload": "gups", "roi_ns": 5, "verified": true}\n'
REPORT = {"verdict": "confirmed", "reason": "", "exit_status": 0, "signal": None, "windows": [],
          "pools": [], "counters": {}, "allow_fallback": False}  # fmt: skip
ROW = ReadyWorkload("gups", Size("tiny", (), 0, 0, 0), ProgramRun(("/program",)), "")


class Ends(HostToolchain):
    """Instead of the launcher, a shell that writes a report and ends as told."""

    def __init__(self, status=0, output=GOOD, errors="", **report):
        self.status, self.output, self.errors, self.report = status, output, errors, REPORT | report

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        words = [str(word) for word in argv]
        file = words[words.index("--report") + 1]
        script = 'printf "%s" "$1" > "$2"; printf "%s" "$3"; printf "%s" "$4" >&2; exit "$5"'
        said = (json.dumps(self.report), file, self.output, self.errors, str(self.status))
        return HostProcess(["sh", "-c", script, "sh", *said], **keywords)


@pytest.fixture
def run(tmp_path, monkeypatch):
    def once(**ends):
        monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: Ends(**ends))
        return launched(
            ROW, tmp_path / "a.csv", tmp_path, MeasurementSite(Path("/"), Path("/launcher"), False), None
        )

    return once


def test_a_good_run_has_its_time_and_no_counts(run):
    found = run(output="noise\n" + GOOD)
    assert (found.message, found.counts.region_ns, found.counts.events) == ("", 5, ())


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({"status": 1, "errors": "gups: checksum 1, expected 2\n  what to do: x\n"}, "status 1: gups: check"),
        ({"status": 137, "output": ""}, "status 137: no message"),
        ({"output": ""}, "not a JSON object"),
        ({"output": "done\n"}, "not a JSON object"),
        ({"output": "[]\n"}, "not a JSON object"),
        ({"output": GOOD.replace("true", "false")}, '"verified": false'),
        ({"output": GOOD.replace("5", "0")}, "roi_ns is 0"),
        ({"output": GOOD.replace("5", '"5"')}, "roi_ns is 5"),
        ({"output": GOOD.replace("5", "true")}, "roi_ns is True"),
        ({"output": GOOD.replace('"roi_ns": 5, ', "")}, "roi_ns is None"),
        ({"verdict": "mismatch", "reason": "4KB pages at 0"}, "pages mismatch: 4KB pages at 0"),
    ],
)
def test_anything_else_is_a_failure_with_its_reason(run, ends, said):
    found = run(**ends)
    assert said in found.message
    assert found.counts.region_ns == 0


def test_a_time_is_a_positive_whole_number():
    assert clock_ns({"roi_ns": 1}) == 1
    with pytest.raises(TesseraError, match="-1"):
        clock_ns({"roi_ns": -1})


def test_last_words_are_the_finding_not_the_remedy():
    assert last_words("a\nb: found\n  what to do: c\n\n") == "b: found"
    assert last_words("  what to do: c\n") == "what to do: c"
    assert last_words("") == ""


class Journal:
    """Keeps what it is given; ``before`` are passes of an earlier process."""

    def __init__(self, before=()):
        self.before, self.kept = dict(before), []

    def found(self, layout, number):
        return dict(self.before)

    def keep(self, layout, number, name, ended):
        self.kept.append((layout, number, name, ended.message))


@pytest.fixture
def turn(tmp_path, monkeypatch):
    def once(journal, attempts, **ends):
        monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: Ends(**ends))
        where, files = MeasurementSite(Path("/"), Path("/launcher"), False), {"a": tmp_path / "a.csv"}
        made = Turns(
            ROW, files, turns.clock_pass(), where, tmp_path, journal, lambda text: None, attempts=attempts
        )
        return made.run("a", 3)

    return once


def test_a_turn_of_the_clock_is_one_run_in_ns(turn):
    journal = Journal()
    assert turn(journal, 1) == turns.Turn("a", 3, "ok", 5.0)
    assert journal.kept == [("a", 3, "clock", "")]


def test_a_pass_that_an_earlier_process_kept_is_not_run_again(turn):
    journal = Journal({"clock": 8})
    assert turn(journal, 1, status=1) == turns.Turn("a", 3, "ok", 8.0)
    assert journal.kept == []


@pytest.mark.parametrize(("attempts", "said"), [(1, "status 1: no message"), (2, "2 attempts, the last: ")])
def test_a_failed_turn_has_no_runtime_and_is_kept_once(turn, attempts, said):
    journal = Journal()
    assert turn(journal, attempts, status=1) == turns.Turn("a", 3, "failed", None)
    ((*place, message),) = journal.kept
    assert place == ["a", 3, "clock"] and message.startswith(said)


def test_variables_of_rehearsals_do_not_change_the_real_machine(monkeypatch, tmp_path):
    """Host cells have no mark of a rehearsal, so no variable may replace their launcher."""
    monkeypatch.setenv("TESSERA_LAUNCHER", "/bin/true")
    monkeypatch.setenv("TESSERA_MACHINE_ROOT", str(tmp_path))
    monkeypatch.setattr(host, "launcher", lambda: Path("/real"))
    assert host.real_host() == MeasurementSite(Path("/"), Path("/real"), False)
    assert host.this_host() == MeasurementSite(tmp_path, Path("/bin/true"), True)
