"""Figures of the report: each one a function from a results tree to a drawing and the table behind it.

Bottom-up: ``tables`` (reads the results tree) < ``style`` (colours, units, labels) < one file per figure
< ``registry`` (names) < ``render`` (SVG + CSV on disk).
"""
