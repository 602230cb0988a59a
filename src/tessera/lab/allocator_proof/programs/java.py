"""Java: artifacts/mosalloc/programs/Churn.java, compiled plain, run under the mosaic."""

from __future__ import annotations

from tessera.core.files import repo_root
from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, expect_equal

SOURCE = repo_root() / "artifacts" / "mosalloc" / "programs" / "Churn.java"

#: A small heap, so that it is collected often; G1 is chosen by hand, since small machines get another one.
FLAGS = ("-XX:+UseG1GC", "-Xms64m", "-Xmx256m", "-Xss512k", "-XX:-UsePerfData")

#: The real executable: /usr/bin/java is a chain of links, and the libraries are looked up beside it.
JAVA = "/usr/lib/jvm/default-java/bin/java"


def drive(box: Box) -> str:
    box.tool([f"{JAVA}c", "-d", box.folder, SOURCE])
    out = box.run([JAVA, *FLAGS, "-cp", box.folder, "Churn"]).out
    lines = dict(line.rsplit(" ", 1) for line in out.splitlines())
    expect_equal("the stack's end is a StackOverflowError", lines["stack overflow"], "true")
    expect_equal("faults that became NullPointerException", lines["null pointers"], "20")
    expect_equal("a spinning thread stops for a collection", lines["safepoints"], "true")
    return out


def row(name: str, what: str, options: tuple[str, ...]) -> ProvedProgram:
    return ProvedProgram(
        name=name,
        what=what,
        drive=drive,
        needs=(Need(f"{JAVA}c", "default-jdk-headless"),),
        heap_bytes=4 * MB,
        anon_bytes=320 * MB,
        splits=True,  # the virtual machine protects its polling pages and its reservations
        options=options,
        timeout_seconds=30,
    )


WHAT = "maps, arrays, threads, G1; StackOverflowError and NullPointerException caught; checksums"
PROGRAMS = (
    row("java", WHAT, ()),
    row("java-hints", f"{WHAT}; the Java heap comes from the pool", ("--hints", "pool")),
)
