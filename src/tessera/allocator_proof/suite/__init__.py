"""The proof: every table that shows that the library works, from real runs, by one command.

Bottom up: ``model`` (verdicts, what a section gives), ``text`` (columns), ``sections/`` (one file for each
table), ``registry`` (their order), ``runner`` (all of them, whatever happens), ``output`` (terminal, files).
"""
