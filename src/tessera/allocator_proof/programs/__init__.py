"""Well-known programs under mosaics: each must give the answer that it gives without the library.

Bottom up: ``model`` (what a program is), ``registry`` (the table), ``mosaics`` (the layouts),
``processes`` and ``box`` (run things and leave none behind), ``judge`` (PASS or FAIL), ``worker`` (one
program under its layouts, inside the image), ``session`` (starts workers, owns the huge pages), ``table``.
Everything below ``session`` uses the standard library only, because the image has nothing else.
"""
