"""Archives of images whose links never end, or lead out of the archive, are refused."""

import io
import tarfile

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container.sif import single_image


@pytest.mark.parametrize("links", [
    {"manifest.json": "manifest.json"},
    {"manifest.json": "a", "a": "b", "b": "a"},
    {"manifest.json": "../../a", "a": "manifest.json"},
    {"manifest.json": "nothing"},
])  # fmt: skip
def test_links_that_lead_nowhere(tmp_path, links):
    with tarfile.open(tmp_path / "images.tar", "w") as archive:
        for name, target in links.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    with pytest.raises(TesseraError, match="images.tar"):
        with single_image(tmp_path / "images.tar", "x", tmp_path):
            pass


@pytest.mark.parametrize("content", [None, b"7", b"[7]", b"[]", b"{", b'[{"RepoTags": 7}]', b"[" * 100_000])
def test_a_manifest_of_another_form(tmp_path, content):
    """None: the name is a folder's."""
    with tarfile.open(tmp_path / "images.tar", "w") as archive:
        entry = tarfile.TarInfo("manifest.json")
        entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
        entry.size = len(content or b"")
        archive.addfile(entry, io.BytesIO(content or b""))
    with pytest.raises(TesseraError, match="images.tar") as error:
        with single_image(tmp_path / "images.tar", "x", tmp_path):
            pass
    assert error.value.code == "no-image-in-archive"


def test_errors_of_the_user_are_not_those_of_the_archive(tmp_path):
    with tarfile.open(tmp_path / "images.tar", "w") as archive:
        content = b'[{"RepoTags": ["x"], "Config": "c", "Layers": []}]'
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    with pytest.raises(KeyError, match="mine"):
        with single_image(tmp_path / "images.tar", "x", tmp_path):
            raise KeyError("mine")
