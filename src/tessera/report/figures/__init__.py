"""Figures of the report: each one a function from a results tree to a drawing and the table behind it.

Bottom-up: :mod:`.style` (colours, units, looks) and :mod:`.published` (printed numbers) < the figures
< :mod:`.entries` and :mod:`.registry` (names) < :mod:`.render` (SVG + CSV on disk).
"""
