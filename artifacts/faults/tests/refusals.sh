#!/bin/sh
# refusals.sh PROGRAM FOLDER: wrong command lines end with status 2 and name what was wrong.
set -u
program=$1 folder=$2
refused() {
    wanted=$1
    shift
    said=$("$program" "$@" 2>&1)
    status=$?
    [ $status = 2 ] || { echo "$*: status $status"; exit 1; }
    case $said in *"$wanted"*"what to do:"*) ;; *) echo "$*: $said"; exit 1 ;; esac
}
refused write-8kb --kind write-8kb --out "$folder/x"
refused --kind --out "$folder/x"
refused --out --kind write-4kb
refused 4194305 --kind write-4kb --out "$folder/x" --size 4194305
refused --size --kind write-4kb --out "$folder/x" --size 4096
refused --passes --kind write-4kb --out "$folder/x" --passes -1
refused --passes --kind write-4kb --out "$folder/x" --passes 1x
refused --rounds --kind write-4kb --out "$folder/x" --rounds 1
refused /absent/x --kind write-4kb --out /absent/x --size 2097152 --passes 1
refused /absent --kind read-file --out "$folder/x" --size 2097152 --folder /absent
refused 1023 --kind write-4kb --out "$folder/x" --processor 1023
