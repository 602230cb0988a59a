"""Mappings: which physical frame, and which page size, each page of the pools has.

From the bottom: :mod:`page_mapping` (ranges of pages, what holds after an epoch, a guest over its host),
:mod:`mapping_file` (the CSV file and its rules) and :mod:`contiguity` (chunks, and their use by a system),
with :mod:`contiguity_figure`; then what makes mappings: :mod:`synthetic`, :mod:`free_blocks` (the stand-in
buddy, and what Linux has free), :mod:`paging` and :mod:`kinds`. :mod:`capture` reads the mapping of a
stopped process.

See docs/reference/mappings.md.
"""
