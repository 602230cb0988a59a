"""The guest's tools `stop-at-end`, `call-inside` and `bind`, in the toolchain."""

from __future__ import annotations

import re

import pytest

from tessera.lab.kernel.source import kernel_folder
from tessera.machine.container import RunOptions
from tessera.machine.container.toolchain import toolchain

pytestmark = pytest.mark.toolchain

MARKER = '__asm__ volatile(".byte 0x0f,0x1f,0x80,0x54,0x53,0x52,0x45" ::: "memory");'
#: name -> body of main; the second marker is in code that does not run
PROGRAMS = {
    "marked": f'puts("before"); fflush(stdout); {MARKER} puts("after");',
    "twice": f"if (argc > 1) {{ {MARKER} }} {MARKER}",
    "unmarked": 'puts("before");',
    "early": f"if (argc == 1) return 7; {MARKER}",
    "crash": f"if (argc == 1) *(volatile int *)0 = 1; {MARKER}",
}
SCRIPT = r"""cd "$1" || exit
for tool in stop-at-end call-inside bind; do gcc -O1 -static -o $tool "$2"/$tool.c || exit; done
for name in marked twice unmarked early crash; do
    gcc -O1 -w -include stdio.h -o $name $name.c || exit
    rm -f pid
    ./stop-at-end pid ./$name > $name.out 2> $name.err
    echo $name $? > $name.result
    if [ -s pid ]; then
        grep State /proc/$(cat pid)/status >> $name.result
        kill -CONT $(cat pid)
        sleep 0.2
    fi
done
./stop-at-end -e 'echo at $PID >&2; [ -d /proc/$PID ]; echo 157 15 @0x4241' pid ./early argument 2> entry.err
echo entry $? > entry.result
cat /proc/$(cat pid)/comm > entry.comm
kill -KILL $(cat pid)
./stop-at-end pid ./marked > inside.out
./call-inside $(cat pid) 157 15 @0x4443; echo inside $? > inside.result
grep State /proc/$(cat pid)/status >> inside.result
cat /proc/$(cat pid)/comm > inside.comm
./call-inside $(cat pid) 3 99 2> failing.err; echo failing $? > failing.result
./call-inside $(cat pid) 157 x 2> words.err; echo words $? > words.result
./call-inside 0 157 2> nobody.err; echo nobody $? > nobody.result
./stop-at-end -e 'echo 3 99' pid2 ./early argument 2> printed.err; echo printed $? > printed.result
./stop-at-end -e 'echo nothing' pid2 ./early argument 2> text.err; echo text $? > text.result
kill -CONT $(cat pid)
tries=0
until grep -q after inside.out || [ $tries = 600 ]; do sleep 0.1; tries=$((tries + 1)); done
./stop-at-end -e false pid ./early 2> command.err; echo command $? > command.result
./stop-at-end pid ./none 2> none.err; echo none $? > none.result
./bind -c 77 true 2> bind.err; echo bind $? > bind.result
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stop")
    for name, body in PROGRAMS.items():
        (folder / f"{name}.c").write_text(f"int main(int argc, char **argv) {{ {body} return 0; }}\n")
    argv = ["sh", "-c", SCRIPT, "sh", folder, kernel_folder() / "tools"]
    toolchain().run(argv, options=RunOptions(writes=(folder,)))
    return folder


def result(done, name):
    return (done / f"{name}.result").read_text().split()


@pytest.mark.parametrize("name", ["marked", "twice"])
def test_a_program_stands_at_its_marker(done, name):
    assert result(done, name) == [name, "0", "State:", "T", "(stopped)"]


def test_the_program_goes_on_behind_the_marker(done):
    assert (done / "marked.out").read_text() == "before\nafter\n"


def test_a_command_runs_before_the_program(done):
    assert result(done, "entry") == ["entry", "0"]
    assert re.fullmatch(r"at [0-9]+\n", (done / "entry.err").read_text())


@pytest.mark.parametrize(("name", "expected"), [("entry", "AB\n"), ("inside", "CD\n")])
def test_a_program_makes_a_call_that_acts_on_itself(done, name, expected):
    """157 15: prctl(PR_SET_NAME, pointer to the name)."""
    assert (done / f"{name}.comm").read_text() == expected


def test_a_program_is_as_it_was_after_the_call(done):
    assert result(done, "inside") == ["inside", "0", "State:", "T", "(stopped)"]
    assert (done / "inside.out").read_text() == "before\nafter\n"


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("unmarked", "2", "no marker of an end"),
        ("early", "3", "it ended before the marker"),
        ("crash", "3", "it ended before the marker"),
        ("command", "2", "false: it failed"),
        ("none", "2", "it does not start"),
        ("bind", "2", "processors of node 77"),
        ("failing", "1", "Bad file descriptor"),
        ("words", "2", "not numbers"),
        ("nobody", "2", "No such process"),
        ("printed", "2", "Bad file descriptor"),
        ("text", "2", "no system call"),
    ],
)
def test_what_cannot_be_done_is_said(done, name, status, said):
    assert result(done, name) == [name, status]
    assert said in (done / f"{name}.err").read_text()
