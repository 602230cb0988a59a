"""Reading a downloaded file again, and the command line."""

from __future__ import annotations

import hashlib

import pytest
from click.testing import CliRunner

from tessera.cli.workload import data as command
from tessera.cli.workload import workload
from tessera.core.errors import TesseraError
from tessera.record import datasets

from .server import of_file, serving


@pytest.fixture
def fetched(dataset, body):
    """Downloads and returns the dataset and its file."""

    def get(**published):
        with serving(of_file(body)) as url:
            made = dataset(url, **published)
            datasets.fetch_dataset(made, attempts=1)
        return made, datasets.cache_folder(made) / "graph.bin"

    return get


def test_verified_and_unverified(fetched):
    assert datasets.verify_dataset(fetched()[0]) == "verified"


def test_unverified_without_a_published_checksum(fetched):
    assert datasets.verify_dataset(fetched(sha256="")[0]) == "unverified"


@pytest.mark.parametrize(
    "published",
    [{}, {"sha256": ""}],
    ids=["published0-published is", "published1-when it was fetched"],
)
def test_a_flipped_bit_is_found(fetched, published):
    made, path = fetched(**published)
    data = bytearray(path.read_bytes())
    right = hashlib.sha256(data).hexdigest()  # as published, or as fetched
    data[1_234_567] ^= 1
    path.write_bytes(data)
    with pytest.raises(TesseraError, match=f"{hashlib.sha256(data).hexdigest()}.* {right}") as error:
        datasets.verify_dataset(made)
    assert error.value.code == "dataset-wrong"


def test_a_truncated_file_is_found(fetched):
    made, path = fetched()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TesseraError, match="2999999 .*3000000") as error:
        datasets.verify_dataset(made)
    assert error.value.code == "dataset-wrong"


def test_what_is_missing_is_an_error(dataset):
    with pytest.raises(TesseraError, match="tessera workload data fetch graph") as error:
        datasets.verify_dataset(dataset("http://localhost/graph.bin"))
    assert error.value.code == "dataset-missing"


def write_manifest(checkout, url, sha256=""):
    (checkout / "datasets" / "manifest.csv").write_text(
        f"name,version,url,licence,bytes,sha256\ngraph,1,{url},free,,{sha256}\n"
    )


def test_the_commands_one_after_the_other(checkout, body):
    run = CliRunner()
    with serving(of_file(body)) as url:
        write_manifest(checkout, url, hashlib.sha256(body).hexdigest())
        assert "graph (1): missing" in run.invoke(command, ["show"]).output
        done = run.invoke(command, ["fetch", "graph"])
        assert (done.exit_code, "3000000 bytes" in done.output) == (0, True)
    assert "graph (1): present, 2.9 MB" in run.invoke(command, ["show"]).output
    assert "graph: verified" in run.invoke(command, ["verify"]).output
    (checkout / "datasets" / "cache" / "graph" / "graph.bin").write_bytes(b"damaged")
    damaged = run.invoke(command, ["verify"])
    assert (damaged.exit_code, hashlib.sha256(body).hexdigest() in damaged.output) == (1, True)


def test_an_unknown_name_is_refused_before_anything_is_fetched(checkout, body):
    how = of_file(body)
    with serving(how) as url:
        write_manifest(checkout, url)
        refused = CliRunner().invoke(command, ["fetch", "graph", "nonsense"])
    assert isinstance(refused.exception, TesseraError)
    assert "'nonsense'" in refused.exception.asked and ": graph" in refused.exception.remedy
    assert how.requests == []


def test_it_is_a_command_of_tessera():
    assert workload.commands["data"] is command
