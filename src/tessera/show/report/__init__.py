"""The report: claims, figures and cells as a static site, and the check that gives the exit status.

Bottom-up: ``verdicts`` (which verdict a provenance allows) < ``claims`` < ``pages`` (one function per page) <
``site`` (writes the folder) < ``terminal``, ``check`` < ``cli``.
"""
