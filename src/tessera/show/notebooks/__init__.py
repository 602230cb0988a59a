"""The task notebooks of `notebooks/`: listed, executed, written as pages, kept up to date in git.

Bottom up: `catalogue` (which there are) < `run` (executes one) < `page` (one HTML file), `committed` (outputs
in git) < `archive` (the data that committed outputs come from) < `cli`.
"""
