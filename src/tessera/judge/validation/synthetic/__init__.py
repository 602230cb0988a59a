"""Traces that no program made: streams from formulas, turned into trace files and simulated in batches."""
