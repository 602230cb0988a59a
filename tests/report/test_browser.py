"""The site in a browser, as wide as a phone and a desk: no errors, no network, no defect, it sorts."""

from __future__ import annotations

import shutil

import pytest

from tessera.report.pages import PAGES
from tests.report import looks
from tests.report.browser import find

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find() is None, reason="no browser: apt-get install chromium"),
]
WIDTHS = (320, 390, 1280)


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    return tmp_path_factory.mktemp("screenshots")


def _pages(site) -> list:
    return [site / page.href for page in PAGES if (site / page.href).exists()] + [site / "workload-gups.html"]


def test_no_page_overflows_complains_or_asks_the_network(browser, rendered, shots):
    found = []
    for path in _pages(rendered):
        for width in WIDTHS:
            browser.open(path, width)
            wide = browser.value("document.documentElement.scrollWidth")
            if wide > width:
                found.append(f"{path.name} at {width}: {wide} pixels wide")
            found += [f"{path.name} at {width}: {text}" for text in browser.messages]
            found += [
                f"{path.name} asks {url}"
                for url in browser.requests
                if not url.startswith(("file:", "data:"))
            ]
            browser.screenshot(shots / f"{path.stem}-{width}.png", width)
            assert (shots / f"{path.stem}-{width}.png").stat().st_size > 5000
            found += [f"{path.name} at {width}: {text}" for text in browser.value(looks.PAGE_FAULTS)]
    assert found == []


def test_a_script_in_the_text_of_a_page_does_not_run(browser, rendered, tmp_path):
    """A text that no template escaped; scripts and pictures of the folder work in the tests of this file."""
    copy = shutil.copytree(rendered, tmp_path / "report")
    page = copy / "claims.html"
    hostile = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\" alt=''>"
    hostile += "<img src='http://127.0.0.1:9/x.png' alt=''>"
    page.write_text(page.read_text().replace("</main>", f"{hostile}</main>"))
    browser.open(page, 1280)
    assert browser.value("document.title") != "run"
    assert browser.value("document.querySelectorAll('#claims-table th button').length") > 0
    assert sum("Content Security Policy" in text for text in browser.messages) >= 3, browser.messages


def test_what_the_network_check_would_see(browser, tmp_path):
    """An image from elsewhere and a script's error are noticed, so that their absence means something."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<!doctype html><img src='http://127.0.0.1:9/x.png' alt=''><script>nothing()</script>"
        "<hr style='width:900px'>"
    )
    browser.open(page, 390)
    browser.value("0")
    assert any("127.0.0.1:9" in url for url in browser.requests)
    assert any("nothing" in text for text in browser.messages)
    assert browser.value("document.documentElement.scrollWidth") > 390


def test_a_click_sorts_and_a_second_one_turns_it_round(browser, rendered):
    browser.open(rendered / "models.html", 1280)
    browser.value("document.querySelectorAll('#worst th button')[2].click()")
    values = "[...document.querySelectorAll('#worst tbody tr')].map(r => Number(r.cells[2].dataset.sort))"
    up = browser.value(values)
    assert len(up) > 5 and up == sorted(up)
    browser.value("document.querySelectorAll('#worst th button')[2].click()")
    assert browser.value(values) == sorted(up, reverse=True)
    assert (
        browser.value("document.querySelectorAll('#worst th')[2].getAttribute('aria-sort')") == "descending"
    )


def test_the_keyboard_sorts_too(browser, rendered):
    browser.open(rendered / "models.html", 1280)
    browser.value("document.querySelectorAll('#worst th button')[1].focus()")
    browser.press("Enter", 13)
    names = browser.value("[...document.querySelectorAll('#worst tbody tr')].map(r => r.cells[1].innerText)")
    assert names == sorted(names) and len(set(names)) > 1


def test_the_box_and_the_choices_filter_together(browser, rendered):
    browser.open(rendered / "claims.html", 390, query="?verdict=HOLDS-IN-SIMULATION")
    rows = (
        "[...document.querySelectorAll('#claims-table tbody tr')]"
        ".filter(r => r.offsetHeight > 0).map(r => r.dataset.verdict)"
    )
    assert set(browser.value(rows)) == {"HOLDS-IN-SIMULATION"}
    browser.value("document.querySelector('[data-filter-by=verdict] button').click()")
    everything = browser.value(rows)
    assert len(set(everything)) == 8  # proof-reading has a table of its own
    browser.value(
        "(s => {s.value = 'invariant'; s.dispatchEvent(new Event('change'))})"
        "(document.querySelector('[data-filter-by=kind]'))"
    )
    assert 0 < len(browser.value(rows)) < len(everything)


def test_the_menu_opens_on_a_phone_and_is_a_list_on_a_desk(browser, rendered):
    shown = "document.querySelector('#pages').offsetHeight > 0"
    browser.open(rendered / "index.html", 390)
    assert not browser.value(shown)
    browser.value("document.querySelector('.menu').click()")
    assert browser.value(shown)
    assert browser.value("document.querySelector('.menu').getAttribute('aria-expanded')") == "true"
    browser.open(rendered / "index.html", 1280)
    assert browser.value(shown)


def test_dark_pages_are_dark(browser, rendered, shots):
    browser.dark(True)
    browser.open(rendered / "index.html", 390)
    colour = browser.value("getComputedStyle(document.body).backgroundColor")
    browser.screenshot(shots / "index-dark.png", 390)
    browser.dark(False)
    assert sum(int(part) for part in colour[4:-1].split(",")) < 150, colour


def test_a_link_into_a_closed_part_opens_it(browser, rendered):
    browser.open(rendered / "layouts.html", 1280)
    closed = "[...document.querySelectorAll('details.wide')].find(d => !d.open)"
    name = browser.value(f"{closed}.querySelector('figure').id")
    browser.value(f"location.hash = '{name}'")
    browser.call("Runtime.evaluate", expression="new Promise(requestAnimationFrame)", awaitPromise=True)
    assert browser.value(f"document.getElementById('{name}').closest('details').open")
