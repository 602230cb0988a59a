"""What a kernel is built from, and refusals before anything is built."""

import re

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import image, source


def test_series_names_the_patches_that_are_there_in_their_order():
    listed = [patch.name for patch in source.patches()]
    assert listed == sorted(p.name for p in (source.kernel_folder() / "patches").glob("*.patch"))
    assert 8 <= len(listed) <= 16


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
