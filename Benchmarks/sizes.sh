#!/usr/bin/env bash
# The programs as shipped: stripped.
. "$(dirname "$0")/common.sh"

# `sakerd` is the same program as `saker`.
for program in saker saker-server; do
    strip -o "$work/stripped" "$built/$program"
    figure "size.$program" "$(calculate "$(stat --format=%s "$work/stripped") / 1e6")" MB
done
