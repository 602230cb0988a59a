"""Mappings: which physical frame, and which page size, each page of the pools has (docs/mappings.md).

From the bottom: :mod:`rules` (reasons to reject a file), :mod:`rows` (ranges of pages as numpy arrays),
:mod:`states` (what holds after an epoch), :mod:`lookup` (frames of pages), :mod:`check`, :mod:`columns`,
:mod:`grammar` and :mod:`file` (the CSV file), :mod:`chunks` (contiguity), :mod:`anchor_distance` (its use
by an operating system), :mod:`compose` (guest over host), then what makes mappings: :mod:`regions`,
:mod:`splitmix`, :mod:`synthetic`, :mod:`buddy`, :mod:`touches`, :mod:`paging`, :mod:`kinds`
and :mod:`nested` (two kinds, composed); :mod:`summary` and :mod:`picture` show them. :mod:`pagemap` turns
words of Linux into rows, and :mod:`capture` reads them from a stopped process. :mod:`free_memory` reads what
Linux has free.
"""
