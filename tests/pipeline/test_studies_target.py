"""`snakemake studies` removes the prepared files of the rows that it records, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .stub_checkout import Checkout


def files(steps: list[str], step: str) -> list[str]:
    """Files of the steps of a kind, in order."""
    return [
        Path(re.search(r" file=(\S+)", line)[1]).name
        for line in steps
        if line.startswith(f"dev step {step} ")
    ]


@pytest.mark.slow
def test_prepared_files_go_when_their_rows_are_recorded(tmp_path):
    checkout = Checkout(tmp_path, "numa")
    steps = checkout.steps("studies")
    assert sorted(files(steps, "prepare")) == ["twitter", "xsbench-8196"]
    assert sorted(files(steps, "drop")) == ["twitter", "xsbench-8196"]
    for file, row in (("twitter", "mitosis-pagerank"), ("xsbench-8196", "mitosis-xsbench")):
        of_file = [i for i, line in enumerate(steps) if f" file=results/numa/prepared/{file} " in line]
        recording = [i for i, line in enumerate(steps) if line.startswith(f"dev step record workload={row} ")]
        assert len(of_file) == 2 and len(recording) == 1
        assert of_file[0] < recording[0] < of_file[1]
    guest = [line.split(" -- ")[1] for line in steps if line.startswith("dev attempt ")]
    assert sorted(guest) == [
        "lab run numa-fragmented accept_series=yes",
        "lab run numa-maps accept_series=yes",
    ]
    assert checkout.steps("studies") == []


@pytest.mark.slow
def test_a_file_stays_if_a_row_without_a_study_needs_it(tmp_path):
    checkout = Checkout(tmp_path, "numa")
    path = tmp_path / "config" / "numa.yaml"
    text = path.read_text()
    path.write_text(re.sub(r"(?m)^      mitosis-pagerank: .*\n", "", text))
    steps = checkout.steps("studies")
    assert files(steps, "prepare") == files(steps, "drop") == ["xsbench-8196"]
    # the study of PageRank needs the file, and so does a row without a study
    with_other = text.replace("workloads:\n", "workloads:\n  gapbs-pr-twitter: {size: published}\n", 1)
    path.write_text(with_other)
    steps = checkout.steps("studies")
    assert files(steps, "prepare") == ["twitter"] and files(steps, "drop") == []
