"""The manifest of the repository, what breaks one, and datasets in arguments of workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import datasets, workloads
from tessera.record.datasets import manifest

ROOT = Path(__file__).resolve().parents[2]
HEADER = "name,version,url,licence,bytes,sha256\n"
GOOD = "graph,1,https://example.org/a/graph.tar.gz,free,10," + "a" * 64 + "\n"


@pytest.fixture
def repository(monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", str(ROOT))


def test_the_repository_has_the_inputs_of_the_papers(repository):
    assert {"gap-twitter", "gap-road", "gap-web", "kdd12"} <= set(datasets.names())


def test_workloads_name_datasets_that_exist(repository):
    named = {
        name
        for workload in map(workloads.load, workloads.names())
        for size in workload.sizes.values()
        for name in size.datasets
    }
    assert named <= set(datasets.names())
    assert {"gap-twitter", "gap-road", "gap-web"} <= named


def test_a_good_row(tmp_path):
    path = tmp_path / "manifest.csv"
    path.write_text(HEADER + GOOD)
    made = manifest.read(path)["graph"]
    assert (made.file_name, made.size_bytes, made.sha256) == ("graph.tar.gz", 10, "a" * 64)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD, "the columns are"),
        (HEADER + GOOD + GOOD, "there twice"),
        (HEADER + GOOD.replace("graph,", "Graph,", 1), "not a name"),
        (HEADER + GOOD.replace("https", "ftp"), "address of a file"),
        (HEADER + GOOD.replace("graph.tar.gz", ""), "address of a file"),
        (HEADER + GOOD.replace(",10,", ",ten,"), "number of bytes"),
        (HEADER + GOOD.replace("aaaa", "AAAA"), "SHA-256"),
        (HEADER + GOOD.replace("free", ""), "no licence"),
        (HEADER + "graph,1\n", "has not 6 fields"),
    ],
)
def test_a_bad_manifest_says_what_is_wrong(tmp_path, text, said):
    path = tmp_path / "manifest.csv"
    path.write_text(text)
    with pytest.raises(TesseraError, match=said):
        manifest.read(path)


def test_a_placeholder_becomes_the_path_of_the_graph(checkout):
    (checkout / "datasets" / "manifest.csv").write_text(HEADER + GOOD)
    args = ["--graph", "file:{graph}.wsg", "--delta", "2"]
    with pytest.raises(TesseraError, match="it is missing.*"):
        datasets.expand(args)
    folder = checkout / "datasets" / "cache" / "graph"
    folder.mkdir(parents=True)
    (folder / "graph.tar.gz").write_bytes(b"")
    with pytest.raises(TesseraError, match="not converted"):
        datasets.expand(args)
    (folder / "graph.wsg").write_bytes(b"")
    assert datasets.expand(args) == ("--graph", f"file:{folder / 'graph.wsg'}", "--delta", "2")


def test_other_arguments_stay(checkout):
    assert datasets.expand(["--graph", "road", "{not a dataset}"]) == ("--graph", "road", "{not a dataset}")
