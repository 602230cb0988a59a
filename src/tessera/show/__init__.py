"""Figures, report and notebooks."""
