"""What the kernel did to a program, in notebook 09: sliders over archived runs of ``tessera lab os``.

The data are tables of ``tessera lab os show``, made by ``tests/notebooks/os_data.py``. Picture and table are
ordinary outputs that the sliders update, so a page shows their first state.
"""

from __future__ import annotations

from functools import cache

import pandas as pd

from tessera.core.files import repo_root
from tessera.core.results.table_io import read_undeclared
from tessera.report.explore.display import Followed, widget_bar
from tessera.report.figures import style

FOLDER = "notebooks/data/os"
PLATFORM = "haswell-sim"
TABLES = ("kinds", "sizes", "areas", "chunks", "misses")
#: words of the slider -> ``thp.enabled`` and ``thp.use_zero_page``
THP = {
    "always": ("always", True),
    "always, no zero page": ("always", False),
    "madvise": ("madvise", True),
    "never": ("never", False),
}
#: words -> the unusable index of order 9, in thousandths
FRAGMENTATION = {"0%": 0, "50%": 500, "90%": 900}
MEMORY = {"128MB": 128 << 20, "1GB": 1 << 30, "16GB": 16 << 30}
KEYS = {"thp": tuple(THP), "fragmentation": tuple(FRAGMENTATION), "memory": tuple(MEMORY)}
MB_OF_4KB, MB_OF_2MB = 4 / 1024, 2
PROVENANCE = "simulated"


@cache
def table(name: str) -> pd.DataFrame:
    """One of :data:`TABLES`, with the columns ``thp, fragmentation, memory`` in front."""
    return read_undeclared(repo_root() / FOLDER / f"{name}.csv")


def _of(name: str, chosen: dict[str, str]) -> pd.DataFrame:
    rows = table(name)
    for key, value in chosen.items():
        rows = rows[rows[key] == value]
    return rows.drop(columns=list(chosen))


class ScenarioSliders(Followed):
    """Three sliders, and picture and table that follow them."""

    def __init__(self, **chosen: str):
        self.chosen = {key: chosen.get(key, words[0]) for key, words in KEYS.items()}

    def view(self):
        """(page sizes over time and faults by kind, a table of the faults) of what is chosen."""
        return draw_choice(self.chosen), fault_counts(**self.chosen)

    def changed(self, key: str, value: str) -> None:
        """A slider moved."""
        self.chosen[key] = value
        self.update()

    def widgets(self):
        """A slider for each of :data:`KEYS`."""
        return _bar(self)


def sliders(**chosen: str) -> None:
    """Show the sliders; nothing is returned, so that the cell prints nothing else."""
    ScenarioSliders(**chosen).show()


def _bar(owner: ScenarioSliders):
    import ipywidgets

    rows = []
    for key, words in KEYS.items():
        slider = ipywidgets.SelectionSlider(
            options=words, value=owner.chosen[key], description=key, style={"description_width": "8em"},
            layout=ipywidgets.Layout(width="36em"), continuous_update=False,
        )  # fmt: skip
        slider.observe(lambda change, key=key: owner.changed(key, change["new"]), names="value")
        rows.append(slider)
    found = widget_bar(rows, tuple(KEYS))
    found.sliders = dict(zip(KEYS, rows, strict=True))
    return found


def draw_choice(chosen: dict[str, str]):
    """Mapped memory by page size over the run, and faults by kind."""
    sizes = _of("sizes", chosen)
    figure, (over_time, at_end) = style.panels(1, 2, width=style.WIDTH, height=2.8)
    place = 100 * sizes["block"] / sizes["block"].max()
    for column, label, megabytes, colour in (
        ("pages_2mb", "2MB pages", MB_OF_2MB, style.BLUE),
        ("pages_4kb", "4KB pages", MB_OF_4KB, style.ORANGE),
        ("zero_pages_4kb", "zero pages", MB_OF_4KB, style.MUTED),
    ):
        over_time.plot(place, sizes[column] * megabytes, color=colour, label=label)
    over_time.set_xlabel("part of the run (%)")
    over_time.set_ylabel("mapped (MB)")
    most = _by_kind(chosen)
    at_end.bar(range(len(most)), most.to_numpy(), color=style.BLUE)
    at_end.set_xticks(range(len(most)), [str(name) for name in most.index])
    at_end.set_ylabel("thousand faults")
    style.legend_below(figure, [over_time], columns=3)
    style.headline(figure, ", ".join(f"{key} {value}" for key, value in chosen.items()), PROVENANCE)
    return figure


def _by_kind(chosen: dict[str, str]) -> pd.Series:
    kinds = _of("kinds", chosen)
    names = kinds["kind"] + "\n" + kinds["page_size"]
    return pd.Series(kinds["faults"].to_numpy() / 1000, index=names)


def fault_counts(**chosen: str) -> pd.DataFrame:
    """Faults by kind of one choice."""
    return _of("kinds", chosen).reset_index(drop=True)


def choices() -> int:
    """How many scenarios the data have."""
    return len(table("misses"))


def areas(**chosen: str) -> pd.DataFrame:
    """The areas (VMAs) that the program has at the end."""
    return _of("areas", chosen).reset_index(drop=True)


def contiguity(**others: str) -> pd.DataFrame:
    """Memory (MB) in chunks of at least so many pages, a column for each setting of huge pages.

    ``others``: fragmentation and memory.
    """
    columns = {thp: _of("chunks", {"thp": thp, **others}).set_index("least_pages")["pages"] for thp in THP}
    found = (pd.DataFrame(columns).fillna(0) * MB_OF_4KB).round(2)
    return found.reset_index(names="least_pages")


def compared(key: str, **others: str) -> pd.DataFrame:
    """A row for each value of one slider: faults, the largest memory in 2MB pages, STLB misses.

    ``others``: the values of the other two.
    """
    rows = []
    for value in KEYS[key]:
        chosen = {**others, key: value}
        misses = _of("misses", chosen).iloc[0]
        sizes = _of("sizes", chosen)
        rows.append(
            {
                key: value,
                "faults": int(sizes["faults"].iloc[-1]),
                "most_mb_in_2mb_pages": int(sizes["pages_2mb"].max()) * MB_OF_2MB,
                "stlb_misses": int(misses["stlb_misses"]),
            }
        )
    return pd.DataFrame(rows)
