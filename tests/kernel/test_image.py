"""What a kernel is built from, and refusals before anything is built."""

import re
import subprocess

import pytest

from tessera.core.errors import TesseraError
from tessera.kernel import image, source


class Tools:
    """Answers dpkg-query with a version, as a toolchain would."""

    def __init__(self, version):
        self.version = version

    def run(self, argv, **_):
        assert argv[0] == "dpkg-query"
        return subprocess.CompletedProcess(argv, 0 if self.version else 1, self.version, "")


def test_series_names_the_patches_that_are_there_in_their_order():
    listed = [patch.name for patch in source.patches()]
    assert listed == sorted(p.name for p in (source.kernel_folder() / "patches").glob("*.patch"))
    assert 8 <= len(listed) <= 12


def test_the_recorded_version_is_accepted():
    assert source.check_source(Tools(source.source().version), False) == source.source().version


def test_another_version_of_the_series_stops_with_both_named():
    with pytest.raises(TesseraError) as caught:
        source.check_source(Tools("6.12.999-1"), False)
    assert "6.12.999-1" in str(caught.value) and source.source().version in str(caught.value)
    assert source.check_source(Tools("6.12.999-1"), True) == "6.12.999-1"


@pytest.mark.parametrize("version", ["6.1.170-1", "6.120.1-1"])
def test_another_series_is_never_accepted(version):
    with pytest.raises(TesseraError, match=re.escape(version)):
        source.check_source(Tools(version), True)


def test_a_missing_source_is_named_with_its_package():
    with pytest.raises(TesseraError, match="apt-get install linux-source-6.12"):
        source.check_source(Tools(""), True)


def test_an_unknown_variant_lists_the_known_ones():
    with pytest.raises(TesseraError, match="checked"):
        image.build_kernel("fast", print)


def test_every_fragment_of_every_variant_exists():
    for variant in image.VARIANTS.values():
        for fragment in variant.fragments:
            assert (source.kernel_folder() / "config" / f"{fragment}.config").exists()


def test_patches_touch_no_file_twice_as_new_and_carry_a_sign_off():
    created = []
    for patch in source.patches():
        text = patch.read_text()
        assert "\nSigned-off-by: " in text and text.startswith("From ")
        created += re.findall(r"^ create mode 100644 (\S+)$", text, re.MULTILINE)
    assert len(created) == len(set(created)) > 8
