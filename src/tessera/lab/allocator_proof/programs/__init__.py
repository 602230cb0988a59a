"""Well-known programs under mosaics: each must give the answer that it gives without the library.

Bottom up: ``driver`` (what a program is, where its driver runs things), one file for each program,
``registry`` (the table), ``worker`` (one program under its layouts, inside the image, PASS or FAIL),
``session`` (starts workers, owns the huge pages). Everything below ``session`` uses the standard library
only, because the image has nothing else.
"""
