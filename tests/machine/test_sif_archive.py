"""Archives of images whose links never end, or lead out of the archive, are refused."""

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
