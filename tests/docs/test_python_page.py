"""docs/reference/python.md: each example prints what the page shows."""

from __future__ import annotations

import doctest

from tests.docs import pages

PAGE = "python.md"


def test_the_examples_print_what_the_page_shows():
    examples = "\n".join(pages.blocks(PAGE, "python"))
    found = doctest.DocTestParser().get_doctest(examples, {}, PAGE, str(pages.PAGES[PAGE]), 0)
    said: list[str] = []
    done = doctest.DocTestRunner(verbose=False).run(found, out=said.append)
    assert done.failed == 0, "".join(said)
    assert done.attempted > 30
