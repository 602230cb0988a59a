"""The proof: every table that shows that the library works, from real runs, by one command.

Bottom up: ``section`` (verdicts, what a section gives), one file for each section, ``proof`` (their order,
all of them whatever happens, terminal and files). ``command_tables`` has the sections of two other commands.
"""
