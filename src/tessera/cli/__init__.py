"""Cli: the command line, and the steps that the workflow calls by it.

- one file per command or group of commands; `main` lists them and imports one when it is used
- `pipeline`: steps of the workflow, digests of code, the lock of a results folder
- `plan`: jobs, core hours, memory and disk of a configuration before it runs

Imports everything. Start with `main`.
"""
