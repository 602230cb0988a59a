"""From a profile to a proposal, and the lines that ``tessera mosalloc suggest`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import Layout
from tessera.core.platforms import Platform
from tessera.core.units import PAGE_2MB, format_bytes
from tessera.measure.suggest.before_and_after import Trial
from tessera.measure.suggest.profile import (
    Page,
    Profile,
    compact_order,
    covered_share,
    fewest_pages,
    layout_of_pages,
    ranked_pages,
    windows_of_pages,
)
from tessera.measure.suggest.simulation import count_misses, search_fewest


@dataclass(frozen=True)
class Proposal:
    """The layout and its expected effect.

    Attributes:
        share: the part of the pools' misses that was to be removed.
        left: misses with the layout: simulated, or 4KB misses outside its pages where nothing was simulated.
        reached: whether the goal is met.
        touched: 2MB pages of the pools that have misses at all.
    """

    layout: Layout
    share: float
    left: float
    reached: bool
    touched: int


def propose(
    profile: Profile,
    platform: Platform | None,
    share: float,
    max_pages: int | None,
    name: str,
    folder: Path,
) -> Proposal:
    """The fewest pages that remove ``share`` of the misses in the pools, in few windows.

    Where there is a trace, the simulator searches them; else the profile says.

    Raises:
        TesseraError: no miss lies in the pools.
    """
    every = ranked_pages(profile)
    if not every:
        raise TesseraError(
            "suggest",
            f"none of {profile.total:,.0f} TLB misses lies in the pools, so huge pages can't help",
            "give the program that does the work: Tessera does not follow exec and child processes",
            exit_code=EXIT_FAILED,
            code="no-miss-in-pools",
        )

    def left(pages: Sequence[Page]) -> float:
        """Misses left with these pages huge."""
        if profile.trace is None or platform is None:
            return profile.total - sum(profile.misses[page] for page in pages)
        return count_misses(profile.trace, platform, [pages], profile.pool_bytes, folder)[0]

    wanted = profile.total - share * profile.in_pools
    pages = every[:max_pages]
    by_profile = fewest_pages(profile, pages, share)
    if profile.trace is None or platform is None:
        count, reached = (len(pages), False) if by_profile is None else (by_profile, True)
        remaining = left(pages[:count])
    else:
        count, remaining, reached = search_fewest(
            pages,
            by_profile or len(pages),
            wanted,
            lambda counts: count_misses(
                profile.trace, platform, [pages[:n] for n in counts], profile.pool_bytes, folder
            ),
        )
    chosen, tidy = pages[:count], compact_order(profile)[:count]
    # As many pages in fewer windows are better, if they are as good.
    if len(windows_of_pages(tidy)) < len(windows_of_pages(chosen)):
        with_tidy = left(tidy)
        if with_tidy <= (wanted if reached else remaining):
            chosen, remaining = tidy, with_tidy
    return Proposal(layout_of_pages(name, profile, chosen), share, remaining, reached, len(every))


# The lines that ``tessera mosalloc suggest`` prints.


def profile_lines(profile: Profile) -> list[str]:
    """How the profile was made, and where the misses lie."""
    lines = [f"profile ({profile.provenance}): {profile.method}"]
    lines += [f"  note: {note}" for note in profile.notes]
    total = profile.total or 1
    share = f" ({100 * profile.total / profile.accesses:.2g}% of the accesses)" if profile.accesses else ""
    lines.append(f"TLB misses with 4KB pages: {profile.total:,.0f}{share}")
    for pool, name in (("brk", "heap pool"), ("mmap", "anonymous pool")):
        count = sum(misses for page, misses in profile.misses.items() if page[0] == pool)
        pages = sum(page[0] == pool for page in profile.misses)
        lines.append(f"  {name:15} {count:>14,.0f}  {count / total:6.1%}  in {pages} pages of 2MB")
    lines.append(
        f"  {'outside':15} {profile.outside:>14,.0f}  {profile.outside / total:6.1%}  "
        "stacks, files, program and libraries: no layout reaches them"
    )
    return lines


def proposal_lines(profile: Profile, proposal: Proposal) -> list[str]:
    """The pages, and the misses that are left."""
    pages = proposal.layout.pages(PAGE_2MB)
    lines = [f"suggested: {pages} pages of 2MB of {proposal.touched} that have misses"]
    for window in proposal.layout.windows:
        size = format_bytes(window.end - window.start)
        lines.append(f"  {window.pool:4} {format_bytes(window.start):>8} + {size}")
    removed, total = profile.total - proposal.left, profile.total or 1
    inside = profile.in_pools or 1
    if profile.provenance == "simulated":
        lines.append(
            f"predicted (simulated): {proposal.left:,.0f} misses left; {removed / inside:.1%} of the pools' "
            f"misses and {removed / total:.1%} of all are gone"
        )
    else:
        lines.append(
            f"predicted: the layout removes at most {removed / inside:.1%} of the pools' misses and "
            f"{removed / total:.1%} of all; misses of 2MB pages were not simulated: measure with --apply"
        )
        lines += _estimate_lines(profile, pages)
    if not proposal.reached:
        lines.append(
            f"goal not reached: {proposal.share:.0%} of the pools' misses; more 2MB pages do not help, "
            "or --max-pages forbids them"
        )
    return lines


def _estimate_lines(profile: Profile, pages: int) -> list[str]:
    """What the samples say about a choice of as many pages, checked with samples that did not"""
    share = covered_share(profile, pages)
    if share is None:
        return []
    return [
        f"checked: {share.low:.1%} to {share.high:.1%} of the pools' misses lie in {pages} pages that one "
        f"half of the samples chose (95% interval by the other half; {share.samples:,.0f} samples)"
    ]


def trial_lines(trial: Trial) -> list[str]:
    """The measured gain with its interval, and whether it is one."""
    gain, metric = trial.gain, trial.metric
    before, after = (sum(values) / len(values) for values in (trial.before, trial.after))
    direction = "higher" if metric.higher_is_better else "lower"
    lines = [
        f"measured on this machine: {metric.name}, {direction} is better: {before:.4g} with 4KB pages, "
        f"{after:.4g} with the layout (means)",
        f"gain {gain.value:+.2%} +- {gain.half_width:.2%} (95% interval, {gain.count} pairs)",
    ]
    if not trial.proven:
        lines.append("the interval contains 0: the gain is not significant; more pairs make it narrower")
    elif gain.value < 0:
        lines.append("the layout is slower than 4KB pages on this machine")
    return lines
