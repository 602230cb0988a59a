#! /bin/bash
# The answer, checked without sorting.
seq 1 200000 | cmp - sorted.txt
