"""Translation designs: misses by mapping, and what models of P and the bracket say of runtimes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.core.mapping.kinds import OVER
from tessera.core.results.study_tables import DESIGN_CELLS
from tessera.core.results.transfer_tables import ANSWERED, LADDER, VERDICTS
from tessera.lab.studies.design_catalogue import BASELINE_DESIGN, IDEAL, VARIANT_NAMES
from tessera.lab.studies.placements import KINDS
from tessera.report.figures import figure, style
from tessera.report.new_designs import CHANGES, label
from tessera.report.results import NotDrawn, Results

# Misses of each translation design, relative to those of 4KB pages: a panel for each mapping.
#
# :func:`draw_design_misses` shows the mappings of one machine, :func:`draw_nested_misses` a guest's mapping
# alone and over its host.

COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILLION)
WORKLOAD_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++")
SMALL_BAR = 0.02  #: bars below this fraction, and missing ones, have a text
DESIGNS_NOT_SHOWN = (BASELINE_DESIGN, IDEAL)  #: 100% and 0% by definition
NESTED_TITLE = "Misses with a guest alone and over its host"


def design_misses_table(results) -> pd.DataFrame:
    """Columns: workload, platform, mapping, design, stlb_misses, relative (a fraction), provenance."""
    rows = Results.of(results).needed(DESIGN_CELLS, "designs", why="no study of designs was made")
    rows = rows[rows["misses_to_baseline_percent"].notna() & ~rows["design"].isin(DESIGNS_NOT_SHOWN)].copy()
    rows["relative"] = 1 + rows["misses_to_baseline_percent"] / 100
    columns = ["workload", "platform", "mapping", "design", "stlb_misses", "relative", "provenance"]
    return rows[columns].reset_index(drop=True)


@figure(
    "designs",
    "Misses of translation designs, by mapping",
    "Misses of each design as a share of the baseline's (4KB pages only) under the same mapping. A panel "
    "is a mapping of pages to frames, a colour a workload. no cell: the simulator rejected the "
    "design under this mapping. For designs behind L3 (hvc-*), misses are of accesses that missed L3.",
    page="designs.html",
)
def draw_design_misses(results, reference):
    """A bar for each design and workload; "no cell" if the simulator rejected the design."""
    rows = design_misses_table(results)
    rows = rows[rows["mapping"].isin(KINDS) & ~rows["design"].isin(VARIANT_NAMES)].reset_index(drop=True)
    mappings = list(dict.fromkeys(rows["mapping"]))
    if not mappings:
        raise NotDrawn("figure designs", "no design has a mapping of one machine", "./run reproduce")
    return _mapping_panels(
        rows, mappings, f"Misses of translation designs on {rows['platform'].iloc[0]}", 3
    ), rows


@figure(
    "designs-nested",
    "Misses with a guest alone and over its host",
    "Misses of each design as a share of the baseline's under the same mapping. Left: the guest's "
    "mapping alone. Right: the guest over its host. The designs run on the composed mapping; loads of "
    "two-dimensional walks are not part of these counts.",
    page="designs.html",
)
def draw_nested_misses(results, reference):
    """For each guest over its host: left the guest's mapping alone, right both."""
    rows = design_misses_table(results)
    nested = [name for name in dict.fromkeys(rows["mapping"]) if OVER in name]
    parts, mappings = [], []
    for name in nested:
        over = rows[rows["mapping"] == name]
        alone = rows[rows["mapping"] == name.split(OVER)[0]]
        alone = alone[alone["design"].isin(over["design"]) & alone["workload"].isin(over["workload"])]
        if len(alone):
            parts += [alone.assign(panel=f"{alone['mapping'].iloc[0]}, for {name}"), over.assign(panel=name)]
            mappings += [f"{alone['mapping'].iloc[0]}, for {name}", name]
    if not parts:
        why = "no design was simulated, beside the baseline, with a guest alone and over its host"
        raise NotDrawn("figure designs-nested", why, "./run reproduce")
    shown = pd.concat(parts, ignore_index=True)
    figure = _mapping_panels(
        shown.drop(columns="mapping").rename(columns={"panel": "mapping"}), mappings, NESTED_TITLE, 2
    )
    return figure, shown


def _mapping_panels(rows: pd.DataFrame, mappings: list[str], title: str, most_columns: int):
    """A panel for each of ``mappings``, with all designs and workloads of the rows."""
    designs, workloads = (list(dict.fromkeys(rows[k])) for k in ("design", "workload"))
    columns = min(most_columns, len(mappings))
    lines = -(-len(mappings) // columns)
    figure, all_axes = style.panels(
        lines,
        columns,
        width=max(style.WIDTH, 1.6 + 2.4 * columns),
        height=1.0 + lines * (0.7 + 0.13 * len(designs) * (1 + len(workloads))),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for axes, mapping in zip(all_axes.flat, mappings, strict=False):
        _mapping_panel(axes, rows[rows["mapping"] == mapping], designs, workloads)
        axes.set_title(mapping)
    for axes in all_axes.flat[len(mappings) :]:
        axes.set_axis_off()
    for axes in all_axes[:, 0]:
        axes.set_yticks(range(len(designs)), designs)
    all_axes[0, 0].invert_yaxis()
    all_axes[-1, columns // 2].set_xlabel("misses relative to the baseline (4KB pages only)")
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, title, "simulated")
    return figure


def _mapping_panel(axes, rows: pd.DataFrame, designs: list[str], workloads: list[str]) -> None:
    height = 0.8 / len(workloads)
    for number, workload in enumerate(workloads):
        part = rows[rows["workload"] == workload]
        shift = height * (number - (len(workloads) - 1) / 2)
        axes.barh(
            [designs.index(name) + shift for name in part["design"]],
            part["relative"],
            height=height,
            color=COLOURS[number % len(COLOURS)],
            hatch=WORKLOAD_HATCHES[number % len(WORKLOAD_HATCHES)],
            edgecolor=style.PAPER,
            label=workload,
        )
        there = dict(zip(part["design"], part["relative"], strict=True))
        for line, design in enumerate(designs):
            if there.get(design, 0) < SMALL_BAR:
                text = style.percent_text(there[design]) if design in there else "no cell"
                axes.text(0.01, line + shift, text, va="center", fontsize=6.5, color=style.MUTED)
    axes.axvline(1, color=style.MUTED, linewidth=1)
    style.percent_axis(axes.xaxis)


# Share of points that each model of P predicts, by class of design and declared input.

#: verdict, worth -> mark behind the share
VERDICT_MARKS = {"survives": "+", "mixed": "~", "fails": "-"}
WORTH_MARKS = {"useless": "x", "trivial": "o", "": ""}


def transfer_table(results) -> pd.DataFrame:
    """Columns of the verdicts that are drawn."""
    rows = Results.of(results).needed(VERDICTS, "transfer", why="no study of transfer was made")
    rows = rows[rows["judged"] > 0]
    columns = ["platform", "inputs", "group", "model", "verdict", "worth", "judged", "passing", "pass_share"]
    return rows[[*columns, "provenance"]].reset_index(drop=True)


@figure(
    "transfer",
    "Models of P in classes of designs",
    "Share of the judged points that each model predicts (percent), by class of design and by what H "
    "and C count. + survives, ~ mixed, - fails. The model constant predicts that no design matters. "
    "x: useless, it passes no more points than constant. o: fewer than 20 informative points.",
    page="transfer.html",
)
def draw_transfer(results, reference):
    """A panel for each platform and input; a cell is a model in a class."""
    rows = transfer_table(results)
    inputs, platforms = (list(dict.fromkeys(rows[name])) for name in ("inputs", "platform"))
    groups, models = (list(dict.fromkeys(rows[name])) for name in ("group", "model"))
    figure, all_axes = style.panels(
        len(platforms),
        len(inputs),
        width=max(style.WIDTH, 1.5 + len(inputs) * (0.6 + 0.5 * len(groups))),
        height=1.0 + len(platforms) * (0.7 + 0.22 * len(models)),
        sharey=True,
        squeeze=False,
    )
    for line, platform in zip(all_axes, platforms, strict=True):
        for axes, name in zip(line, inputs, strict=True):
            part = rows[(rows["platform"] == platform) & (rows["inputs"] == name)]
            _transfer_panel(axes, part, groups, models)
            axes.set_title(name if len(platforms) == 1 else f"{name}, {platform}")
        line[0].set_yticks(range(len(models)), models)
    style.headline(figure, "Points that a model of P predicts, by class of design", "simulated")
    return figure, rows


def _transfer_panel(axes, rows: pd.DataFrame, groups: list[str], models: list[str]) -> None:
    shares = np.full((len(models), len(groups)), np.nan)
    for row in rows.itertuples():
        place = models.index(row.model), groups.index(row.group)
        shares[place] = row.pass_share
        text = f"{100 * row.pass_share:.0f}{VERDICT_MARKS.get(row.verdict, '')}{WORTH_MARKS[row.worth]}"
        dark = row.pass_share > 0.6
        axes.text(place[1], place[0], text, ha="center", va="center", fontsize=6.5,
                  color=style.PAPER if dark else style.INK)  # fmt: skip
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(visible=False)


# From P to a design, one mechanism a step: what each step adds to R, as a share of R of P.

LADDER_KEYS = ["workload", "platform", "ladder", "layout"]


def ladder_table(results) -> pd.DataFrame:
    """Columns: keys, step, mechanism, step_share (of R of P), total_share (their sum so far), provenance."""
    results = Results.of(results)
    studied = len(results.read(VERDICTS, expected=False))
    why = "the study of transfer has no ladder" if studied else "no study of transfer was made"
    rows = results.needed(LADDER, "transfer-ladder", why=why)
    base = rows[rows["step"] == 0].set_index(LADDER_KEYS)["runtime_cycles"].rename("base")
    rows = rows.join(base, on=LADDER_KEYS)
    rows["step_share"] = rows["step_cycles"] / rows["base"]
    rows["total_share"] = rows["runtime_cycles"] / rows["base"] - 1
    rows = rows[(rows["step"] > 0) & rows["step_share"].notna()]
    return rows[[*LADDER_KEYS, "step", "mechanism", "step_share", "total_share", "provenance"]].reset_index(
        drop=True
    )


@figure(
    "transfer-ladder",
    "From P to a design, one mechanism a step",
    "What each mechanism adds to R, as a share of R of P under the same mapping. The bars of a line "
    "follow each other and sum to the gap between P and the design.",
    page="transfer.html",
)
def draw_ladder(results, reference):
    """A panel for each ladder; a line is a workload under a mapping, its bars follow each other."""
    rows = ladder_table(results)
    ladders = list(dict.fromkeys(rows["ladder"]))
    names = list(dict.fromkeys(zip(rows["workload"], rows["platform"], rows["layout"], strict=True)))
    several = rows["platform"].nunique() > 1
    labels = [f"{w}, {m}" + (f", {p}" if several else "") for w, p, m in names]
    mechanisms = list(dict.fromkeys(rows["mechanism"]))
    figure, all_axes = style.panels(
        1,
        len(ladders),
        width=max(style.WIDTH, 1.8 + 2.4 * len(ladders)),
        height=1.8 + 0.3 * len(names),
        sharey=True,
        squeeze=False,
    )
    for axes, ladder in zip(all_axes[0], ladders, strict=True):
        part = rows[rows["ladder"] == ladder]
        for mechanism, own in part.groupby("mechanism", sort=False):
            axes.barh(
                [
                    names.index(key)
                    for key in zip(own["workload"], own["platform"], own["layout"], strict=True)
                ],
                own["step_share"],
                left=own["total_share"] - own["step_share"],
                height=0.6,
                color=COLOURS[mechanisms.index(mechanism) % len(COLOURS)],
                edgecolor=style.PAPER,
                label=mechanism,
            )
        axes.axvline(0, color=style.MUTED, linewidth=1)
        axes.set_title(f"to {ladder}")
        axes.set_xlabel("change of R, relative to P")
        style.percent_axis(axes.xaxis)
    all_axes[0, 0].set_yticks(range(len(names)), labels)
    all_axes[0, 0].invert_yaxis()
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, "What each mechanism adds to R", "simulated")
    return figure, rows


# What a new design gains: the bracket's answers beside R of the timing engine, a panel for each class.

ANSWER_COLUMNS = [
    "workload", "platform", "group", "variant", "layout", "change", "answer", "low", "high", "covered",
    "provenance",
]  # fmt: skip
ANSWERS_NAME = "new-designs"


def answers_table(results) -> pd.DataFrame:
    """:data:`ANSWER_COLUMNS`, a row for each informative answer; changes are R / R_0 - 1, as shares."""
    rows = Results.of(results).read(ANSWERED, expected=False)
    if rows.empty:
        raise NotDrawn(f"figure {ANSWERS_NAME}", "the bracket was asked about no design")
    wanted = (rows["status"] == "answered") & rows["judged"].eq(True) & rows["informative"].eq(True)
    rows = rows[wanted & rows["group"].isin(list(CHANGES))]
    if rows.empty:
        raise NotDrawn(f"figure {ANSWERS_NAME}", "no informative point has an answer")
    base = rows["base_runtime_cycles"]
    shares = {"change": "runtime", "answer": "centre", "low": "low", "high": "high"}
    changes = {name: rows[f"{column}_cycles"] / base - 1 for name, column in shares.items()}
    return rows.assign(**changes)[ANSWER_COLUMNS].reset_index(drop=True)


@figure(
    "new-designs",
    "Answers for new designs",
    "Change of R by a design: what the timing engine says, and what the bracket answers, with its "
    "interval. Only answered points whose R differs from that of the processor by more than 3%. On the "
    "dashed line is what the model constant answers: no design matters.",
    page="index.html",
)
def draw_answers(results, reference):
    """Right answers are on the diagonal; `constant` answers 0 everywhere."""
    rows = answers_table(results)
    groups = [name for name in CHANGES if name in set(rows["group"])]
    figure, all_axes = style.panels(1, len(groups), width=style.WIDTH, height=3.6, squeeze=False)
    for axes, group in zip(all_axes[0], groups, strict=True):
        _answers_panel(axes, rows[rows["group"] == group])
        axes.set_title(label(group).replace(": ", "\n"), fontsize=9)
        axes.set_xlabel("change of R")
    all_axes[0, 0].set_ylabel("answer of the bracket")
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, "Answers for designs that change R by more than 3%", "simulated")
    return figure, rows


def _answers_panel(axes, part: pd.DataFrame) -> None:
    covered = part["covered"].eq(True)
    kinds = (
        ("R is in the interval", covered, "o", style.BLUE),
        ("R is outside", ~covered, "X", style.VERMILLION),
    )
    for name, chosen, marker, colour in kinds:
        mine = part[chosen]
        if mine.empty:
            continue
        ends = [mine["answer"] - mine["low"], mine["high"] - mine["answer"]]
        axes.errorbar(
            mine["change"], mine["answer"], yerr=ends, fmt=marker, color=colour, markersize=4,
            elinewidth=0.6, alpha=0.7, label=name,
        )  # fmt: skip
    ends = [min(part["change"].min(), part["low"].min()), max(part["change"].max(), part["high"].max())]
    axes.plot(ends, ends, color=style.INK, linewidth=0.8, label="right")
    axes.axhline(0, color=style.MUTED, linestyle="--", linewidth=1, label="constant")
    style.percent_axis(axes.xaxis)
    style.percent_axis(axes.yaxis)
