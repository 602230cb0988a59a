"""An installation of SPEC CPU2006 in small: its folders, and one benchmark that sums numbers."""

from __future__ import annotations

import shutil
import subprocess

import pytest

#: Sums the numbers of a file; prints the sum and writes it, with a fraction, to sum.out.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    FILE *in = fopen(argv[1], "r");
    long sum = 0, n;
    while (in && fscanf(in, "%ld", &n) == 1) sum += n;
    FILE *out = fopen("sum.out", "w");
    fprintf(out, "total %f\n", sum + 0.25);
    printf("sum %ld of %s\n", sum, getenv("UNIT"));
    return in == NULL;
}
"""


@pytest.fixture
def spec_installation(tmp_path):
    """Make an installation with one benchmark, set up for its ref input; returns its root."""

    def make(root, benchmark):
        if shutil.which("cc") is None:
            pytest.skip("no C compiler: apt install gcc")
        folder = root / "benchspec" / "CPU2006" / benchmark
        run, output = folder / "run" / "run_base_ref_gcc.0000", folder / "data" / "ref" / "output"
        run.mkdir(parents=True)
        output.mkdir(parents=True)
        source = tmp_path / "sum.c"
        source.write_text(SOURCE)
        subprocess.run(["cc", "-o", run / "sum_base.gcc", source], check=True)
        (run / "numbers.in").write_text("1\n2\n39\n")
        (run / "sum.out").write_text("from an earlier run\n")
        (run / "speccmds.cmd").write_text(
            f"-r\n-N C\n-E UNIT metres\n-C {run}\n"
            "-o sum.log -e sum.err ../run_base_ref_gcc.0000/sum_base.gcc numbers.in\n"
        )
        (output / "sum.log").write_text("sum 42 of metres\n")
        (output / "sum.out").write_text("total 42.2500004\n")  # within the tolerance of 1e-6
        return root

    return make
