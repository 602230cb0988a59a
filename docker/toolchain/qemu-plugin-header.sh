#!/bin/bash
# Writes qemu-plugin.h of exactly the installed qemu-user to the path given.
#
# No binary package of Debian 12 contains the header, so it comes from the source package. The tree is
# unpacked with Debian's patches applied (they carry upstream's stable updates), then thrown away. The
# machine's apt configuration is read and not changed; root is not needed. Needs dpkg-dev, and the
# package lists of `apt-get update` (they say which archives are the distribution's own).
set -euo pipefail
target=${1:?usage: qemu-plugin-header.sh <target>}
version=$(dpkg-query -W -f '${source:Version}' qemu-user)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The distribution's own archives, as sources of source packages.
apt-get indextargets --format '$(ORIGIN)|deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | sed -n 's/^\(Debian\|Ubuntu\)|//p' | sort -u > "$work/sources.list"
[[ -s $work/sources.list ]] || {
    printf 'qemu-plugin-header.sh: apt has no lists of the distribution'\''s packages\n' >&2
    printf '  what to do: apt-get update\n' >&2
    exit 2
}

mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/download"
apt=(apt-get -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
     -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root -qq)
"${apt[@]}" update
cd "$work/download"
"${apt[@]}" source --download-only "qemu=$version"
dpkg-source --no-check -x qemu_*.dsc "$work/tree" > /dev/null
mkdir -p "$(dirname "$target")"
install -m 644 "$work/tree/include/qemu/qemu-plugin.h" "$target"
