#! /bin/bash
# The input of run.sh: numbers in an order that sorting has to undo.
set -e
seq 200000 -1 1 > numbers.txt
