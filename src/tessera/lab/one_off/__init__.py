"""Investigations that were done once.

``xml_grid``: what xml-transform's parameters change; ``walk_cost``: what a page walk costs before its first
load. The tables beside them are what the investigations found.
"""
