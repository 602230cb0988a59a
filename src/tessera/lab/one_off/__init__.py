"""Investigations that were done once: what xml-transform's parameters change, and what a page walk costs
before its first load."""
