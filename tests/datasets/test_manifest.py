"""The manifest of the repository, what breaks one, and datasets in arguments of workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import datasets, workloads

ROOT = Path(__file__).resolve().parents[2]
HEADER = "name,version,url,licence,bytes,sha256\n"
GOOD = "graph,1,https://example.org/a/graph.tar.gz,free,10," + "a" * 64 + "\n"


@pytest.fixture
def repository(monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", str(ROOT))


def test_the_repository_has_the_inputs_of_the_papers(repository):
    assert {"gap-twitter", "gap-road", "gap-web", "kdd12"} <= set(datasets.dataset_names())


def test_workloads_name_datasets_that_exist(repository):
    named = {
        name
        for workload in map(workloads.load_workload, workloads.workload_names())
        for size in workload.sizes.values()
        for name in size.datasets
    }
    assert named <= set(datasets.dataset_names())
    assert {"gap-twitter", "gap-road", "gap-web"} <= named


def test_a_good_row(tmp_path):
    path = tmp_path / "manifest.csv"
    path.write_text(HEADER + GOOD)
    made = datasets.read_datasets(path)["graph"]
    assert (made.file_name, made.size_bytes, made.sha256) == ("graph.tar.gz", 10, "a" * 64)


#: The name of a case, its manifest, and the rule that it breaks.
BAD = [
    ("text0-the columns are", GOOD, "columns"),
    ("text1-there twice", HEADER + GOOD + GOOD, "duplicate"),
    ("text2-not a name", HEADER + GOOD.replace("graph,", "Graph,", 1), "name"),
    ("text3-address of a file", HEADER + GOOD.replace("https", "ftp"), "url"),
    ("text4-address of a file", HEADER + GOOD.replace("graph.tar.gz", ""), "url"),
    ("text5-number of bytes", HEADER + GOOD.replace(",10,", ",ten,"), "bytes"),
    ("text6-SHA-256", HEADER + GOOD.replace("aaaa", "AAAA"), "sha256"),
    ("text7-no licence", HEADER + GOOD.replace("free", ""), "licence"),
    (HEADER + "graph,1\n-has not 6 fields", HEADER + "graph,1\n", "fields"),
]


@pytest.mark.parametrize(("text", "rule"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_bad_manifest_says_what_is_wrong(tmp_path, text, rule):
    path = tmp_path / "manifest.csv"
    path.write_text(text)
    with pytest.raises(TesseraError, match="manifest.csv") as error:
        datasets.read_datasets(path)
    assert error.value.code == f"manifest-{rule}"


def test_a_placeholder_becomes_the_path_of_the_graph(checkout):
    (checkout / "datasets" / "manifest.csv").write_text(HEADER + GOOD)
    args = ["--graph", "file:{graph}.wsg", "--delta", "2"]
    with pytest.raises(TesseraError, match="tessera workload data fetch graph") as error:
        datasets.expand(args)
    assert error.value.code == "dataset-missing"
    folder = checkout / "datasets" / "cache" / "graph"
    folder.mkdir(parents=True)
    (folder / "graph.tar.gz").write_bytes(b"")
    with pytest.raises(TesseraError, match="graph.tar.gz") as error:
        datasets.expand(args)
    assert error.value.code == "dataset-not-converted"
    (folder / "graph.wsg").write_bytes(b"")
    assert datasets.expand(args) == ("--graph", f"file:{folder / 'graph.wsg'}", "--delta", "2")


def test_other_arguments_stay(checkout):
    assert datasets.expand(["--graph", "road", "{not a dataset}"]) == ("--graph", "road", "{not a dataset}")
