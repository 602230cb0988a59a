"""Cli: the command line, and the steps that the workflow calls by it.

- a file per command; `measure`, `mosalloc`: those with several; `lab`, `dev`: studies; building and packing
- `pipeline`: steps of the workflow, digests of code, the lock of a results folder
- `plan`: jobs, core hours, memory and disk of a configuration before it runs

Imports everything. Start with `main`.
"""
