"""docs/reference/commands.md and search.html are what their module writes, and leave nothing out."""

import html
import re

import pytest

from tessera.cli import reference
from tessera.core.results.catalogue import TABLES
from tessera.lab.catalogue import STUDIES
from tessera.record.traces.header import KEYS, trace_info
from tests.report import browser

from .pages import ROOT


@pytest.fixture(scope="module")
def written():
    return reference.pages()


def test_the_pages_are_those_of_the_commands(written):
    """Remake them with python -m tessera.cli.reference."""
    for path, text in written.items():
        assert (ROOT / path).read_text() == text, path


def test_nothing_of_this_machine_is_on_the_pages(written):
    for text in written.values():
        assert str(ROOT) not in text and "/root" not in text and "/home" not in text


def test_each_study_and_each_column_can_be_found(written):
    page = written[f"{reference.FOLDER}/search.html"]
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td><td>(.+?)</td></tr>", page, re.S)
    assert len(rows) == page.count("<tr><td>")
    found = {(kind, html.unescape(name), html.unescape(of)) for kind, name, of, _ in rows}
    assert {("study", name, "") for name in STUDIES} <= found
    for table in TABLES.values():
        assert {("column", name, table.pattern) for name in table.names} <= found, table.name
    assert ("option", "--out PATH", "tessera lab run NAME [KEY=VALUE]...") in found


def test_the_keys_of_a_trace_are_those_of_its_header():
    found = trace_info(ROOT / "tests/traces/examples/phases.tst")
    assert {key.name for key in KEYS} - {"thread"} == set(found)  # of one thread, there is no such key


@pytest.mark.skipif(browser.find() is None, reason="no browser: apt-get install chromium")
def test_the_filter_finds_rows_with_all_words_and_no_width_overflows(tmp_path):
    one = browser.Browser(tmp_path)
    try:
        for width in (390, 1280):
            one.open(ROOT / reference.FOLDER / "search.html", width)
            assert one.value("document.documentElement.scrollWidth") <= width and one.messages == []
        one.value(
            "(() => { const box = document.querySelector('.table-filter input');"
            " box.value = 'simulate --each'; box.dispatchEvent(new Event('input')); })()"
        )
        left = one.value("[...document.querySelectorAll('tbody tr')].filter(r => !r.hidden).length")
        assert 0 < left < 20
    finally:
        one.close()
