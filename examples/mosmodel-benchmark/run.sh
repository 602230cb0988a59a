#! /bin/bash
# The run. The layout goes to sort, not to this shell.
sort --parallel=1 -n numbers.txt > sorted.txt
