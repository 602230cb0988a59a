"""The study of designs: each translation design under each mapping of one window (docs/studies.md).

From the bottom: :mod:`catalogue` (designs and their arrays), :mod:`energy` (``energy.csv``), :mod:`mapped`
(the mappings), :mod:`cells` (simulated cells and their changes), :mod:`step` (the command's three tables),
:mod:`sentences` (the report's page).
"""
