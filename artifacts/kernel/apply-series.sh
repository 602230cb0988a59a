#!/bin/bash
# apply-series.sh WORK SERIES: whether every patch that the file SERIES names applies exactly. Builds nothing.
#
# Unpacks the source into WORK (about 1.6 GB; deleted at the end). Status 2 at the first patch that does not apply.
set -euo pipefail
work=${1:?usage: apply-series.sh WORK SERIES} series=${2:?}
. "$(dirname "$(readlink -f "$0")")/source.sh"

unpack "$work"
cd "$work/source"
while read -r patch; do
    apply "$patch"
done < "$series"
