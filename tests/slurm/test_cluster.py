"""What a cluster does to jobs: it kills them for memory, loses nodes, and cancels them.

Each test runs a small workflow through a real Slurm with the profile of this checkout.
"""

from __future__ import annotations

import time

import pytest

from .runs import options, wait_until

#: A job that touches 300 MB, and an error that is no failure of the job: as a recording, it keeps the reason.
HUNGRY = """
rule work:
    output: "out.txt"
    shell:
        "echo {{resources.mem_mb}} >> tries.txt;"
        " {python} -c 'bytearray(300 << 20)' && echo done > {{output}} || echo failed > {{output}}"
"""

#: Two jobs that wait until a file of their name exists.
WAITING = """
rule all:
    localrule: True
    input: "a.txt", "b.txt"

rule work:
    output: "{name}.txt"
    shell:
        "echo {wildcards.name} $SLURMD_NODENAME >> starts.txt;"
        " until [ -e go-{wildcards.name} ]; do sleep 0.2; done; echo {wildcards.name} > {output}"
"""


def test_a_job_killed_for_memory_runs_again_with_more(workflow, cluster, python):
    """Also if the step itself went on without the killed program: a row that failed so must not stay."""
    if not cluster.limits_memory:
        pytest.skip("this system has no memory controller of cgroup v1, so Slurm kills nothing here")
    workflow.write(HUNGRY.format(python=python))
    # Snakemake's own two processes need 150 to 250 MB: 400 MB are too little for all, 800 MB are enough
    done = workflow.run("out.txt", *options(memory_mb=400))
    assert done.returncode == 0, done.stdout[-3000:]
    assert workflow.lines("tries.txt") == ["400", "800"]
    assert workflow.lines("out.txt") == ["done"]


def test_a_drained_node_loses_nothing(workflow, cluster):
    """Its job ends, later ones go to the other node."""
    workflow.write(WAITING)
    drained = ""
    with workflow.started("all", "--jobs", "1", *options(memory_mb=4000)) as run:
        try:
            wait_until(lambda: len(workflow.lines("starts.txt")) == 1, "the first job starts")
            first, drained = workflow.lines("starts.txt")[0].split()
            cluster.run("scontrol", "update", f"nodename={drained}", "state=drain", "reason=test")
            for name in ("a", "b"):
                (workflow.folder / f"go-{name}").touch()
            assert run.wait(600) == 0, workflow.said()[-3000:]
        finally:
            if drained:
                cluster.run("scontrol", "update", f"nodename={drained}", "state=resume")
    starts = [line.split() for line in workflow.lines("starts.txt")]
    assert sorted(name for name, _ in starts) == ["a", "b"]  # each once
    assert starts[0][0] == first and starts[1][1] == next(n for n in cluster.nodes if n != drained)


def test_a_cancelled_run_goes_on_where_it_was(workflow, cluster):
    """scancel ends a job, and the run, told not to retry, fails; the next start runs what it lacks."""
    workflow.write(WAITING)
    with workflow.started("all", "--retries", "0", *options(memory_mb=500)) as run:
        wait_until(lambda: len(workflow.lines("starts.txt")) == 2, "both jobs start")
        (workflow.folder / "go-a").touch()
        wait_until(lambda: workflow.lines("a.txt") == ["a"], "one job ends")
        time.sleep(0.5)
        running = [number for number, state in cluster.states().items() if state == "RUNNING"]
        cluster.run("scancel", *running)
        assert run.wait(600) != 0
    assert workflow.lines("b.txt") == []
    (workflow.folder / "go-b").touch()
    done = workflow.run("all", *options(memory_mb=500))
    assert done.returncode == 0, done.stdout[-3000:]
    names = [line.split()[0] for line in workflow.lines("starts.txt")]
    # on a slow machine, the job of the other may not have ended when both were cancelled
    assert names.count("b") == 2 and names.count("a") in (1, 2)
    assert [workflow.lines(f"{name}.txt") for name in ("a", "b")] == [["a"], ["b"]]
