"""Regions of interest beyond markers: skipped beginnings, a switch from outside, where a recording stops."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import traces

ELEMENTS = 1 << 20
WALK = f"""int main() {{
  volatile uint64_t* a = (volatile uint64_t*)malloc({ELEMENTS} * 8);
  for (uint64_t i = 0; i < {ELEMENTS}; i++) a[i] = i;
  for (uint64_t i = 0; i < {ELEMENTS}; i++) (void)a[i];
  printf("{{\\"verified\\":true,\\"base\\":%llu}}\\n", (unsigned long long)(uintptr_t)a); return 0;
}}
"""

#: Two threads that read their own halves of an array all the time; the main one sleeps. SIGTERM ends them.
WORKERS = """
#include <signal.h>
#include <thread>
#include <unistd.h>
static volatile sig_atomic_t stop = 0;
static volatile uint64_t a[2][4096];
static volatile uint64_t rounds = 0;
static void work(int half, int pause) {
  while (!stop) {
    for (int i = 0; i < 4096; i++) (void)a[half][i];
    rounds = rounds + 1;
    if (pause) usleep(pause);
  }
}
int main() {
  signal(SIGTERM, [](int) { stop = 1; });
  std::thread lazy(work, 0, 20000), busy(work, 1, 0);
  while (!stop) usleep(1000);
  lazy.join(); busy.join();
  printf("{\\"verified\\":true,\\"base\\":%llu,\\"rounds\\":%llu}\\n",
         (unsigned long long)(uintptr_t)a, (unsigned long long)rounds);
  return 0;
}
"""


def wait_for(switch: traces.RecordingSwitch) -> None:
    """Until QEMU has loaded the plugin and, most likely, the program runs."""
    end = time.monotonic() + 60
    while not switch.attached and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(2)


def for_a_moment(switch: traces.RecordingSwitch):
    """A companion that records for a moment and then ends the program."""

    def companion(program) -> None:
        wait_for(switch)
        switch.on()
        time.sleep(0.3)
        if not switch.limit_reached:
            switch.off()
        time.sleep(0.3)
        program.terminate()

    return companion


@pytest.mark.toolchain
def test_skip_leaves_the_beginning_out_and_loses_nothing_after_it(compiled, dumped, tmp_path: Path):
    """The array is written (2^20 stores), then read: after 1.5 x 2^20 accesses half of the reads are left."""
    skip = ELEMENTS + ELEMENTS // 2
    done = traces.record_program([compiled("walk", WALK)], tmp_path / "t.tst", roi=f"skip:{skip}")
    base = json.loads(done.stdout)["base"]
    _, accesses = dumped(done.trace)
    seen = [(kind, (address - base) // 8) for kind, address in accesses if 0 <= address - base < ELEMENTS * 8]
    first = seen[0][1]
    assert abs(first - ELEMENTS // 2) < 20000  # start-up accesses count too
    assert seen == [("load", i) for i in range(first, ELEMENTS)]


@pytest.mark.toolchain
def test_skipping_everything_is_an_error_with_the_number_there_was(compiled, tmp_path: Path):
    with pytest.raises(TesseraError, match="never began") as caught:
        traces.record_program([compiled("walk", WALK)], tmp_path / "t.tst", roi="skip:100000000")
    assert 2 * ELEMENTS < int(caught.value.remedy.rsplit(" ", 1)[1]) < 3 * ELEMENTS


@pytest.mark.toolchain
@pytest.mark.parametrize(("thread", "half"), [("busiest", 1), ("1", 0), ("2", 1)])
def test_the_switch_records_one_thread_for_a_while(compiled, dumped, tmp_path: Path, thread: str, half: int):
    switch = traces.RecordingSwitch(tmp_path / "switch")
    done = traces.record_program(
        [compiled("workers", WORKERS, "-pthread")],
        tmp_path / "t.tst",
        roi=switch.roi,
        threads=True,
        thread=thread,
        companion=for_a_moment(switch),
        max_accesses=300000,
    )
    said = json.loads(done.stdout)
    _, accesses = dumped(done.trace)
    halves = {
        (address - said["base"]) // 32768 for _, address in accesses if 0 <= address - said["base"] < 65536
    }
    assert halves == {half}
    assert traces.trace_info(done.trace)["threads"] >= 2
    assert (
        traces.trace_info(done.trace)["accesses"] < said["rounds"] * 4096
    )  # it ran longer than it was recorded


@pytest.mark.toolchain
def test_a_switch_that_is_never_turned_on_is_an_error(compiled, tmp_path: Path):
    switch = traces.RecordingSwitch(tmp_path / "switch")

    def companion(program) -> None:
        wait_for(switch)
        program.terminate()

    with pytest.raises(TesseraError, match="never began"):
        traces.record_program(
            [compiled("workers", WORKERS, "-pthread")],
            tmp_path / "t.tst",
            roi=switch.roi,
            threads=True,
            companion=companion,
        )


@pytest.mark.toolchain
def test_stop_when_recorded_ends_the_program(compiled, dumped, tmp_path: Path):
    source = WALK.replace("(void)a[i];", "(void)a[i];\n  for (;;) (void)a[7];")
    done = traces.record_program(
        [compiled("endless", source)], tmp_path / "t.tst", max_accesses=200000, stop_when_recorded=True
    )
    found = traces.trace_info(done.trace)
    assert (done.stopped, found["stopped"], found["complete_roi"]) == (True, True, False)
    assert found["accesses"] == 200000
    assert done.stdout == ""


def test_a_switch_without_a_recording_does_nothing(tmp_path: Path):
    switch = traces.RecordingSwitch(tmp_path / "switch")
    start = time.monotonic()
    switch.on()
    switch.off()
    assert time.monotonic() - start < 1
    assert not switch.attached
    (tmp_path / "other").write_bytes(b"12345")
    with pytest.raises(TesseraError, match="5 bytes, not 4"):
        traces.RecordingSwitch.existing(tmp_path / "other")


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        ({"roi": "skip:0"}, "roi-skip-count"),
        ({"roi": "skip:-3"}, "roi-skip-count"),
        ({"roi": "skip"}, "region of interest 'skip'"),
        ({"roi": "whole:3"}, "region of interest 'whole:3'"),
        ({"roi": "skip:5", "threads": True}, "roi-skip-threads"),
        ({"roi": "closed:"}, "roi-file-name"),
        ({"roi": "written:/tmp/report.txt"}, "roi-file-name"),
        ({"roi": "closed"}, "region of interest 'closed'"),
        ({"roi": "closed:input.txt", "threads": True}, "roi-closed-threads"),
        ({"roi": "switch:/no/such/file"}, "roi-switch-missing"),
        ({"threads": True, "thread": "fastest"}, "thread 'fastest'"),
        ({"thread": "2"}, "thread-without-threads"),
        ({"stop_when_recorded": True}, "stop-without-limit"),
    ],
    ids=[
        "keywords0-not skip: and a positive number",
        "keywords1-not skip: and a positive number",
        "keywords2-no such region of interest",
        "keywords3-no such region of interest",
        "keywords4-have no order",
        "closed-without-name",
        "written-with-folder",
        "closed-without-colon",
        "closed-with-threads",
        "keywords5-there is no file",
        "keywords6-no such thread",
        "keywords7-only one thread",
        "keywords8-no limit",
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, keywords: dict, found: str):
    with pytest.raises(TesseraError) as caught:
        traces.record_program(["/bin/true"], tmp_path / "t.tst", **keywords)
    assert found in (caught.value.code, caught.value.asked)
