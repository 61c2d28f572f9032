#!/usr/bin/env bash
# The judge of fences: points a second of user CPU time, a change among all fences, memory; and GEOS on the same polygons
# and points, where its library is (scripts/install-deps --bench).
#   FENCES=100000
. "$(dirname "$0")/common.sh"

fences=${FENCES:-100000}
geos=
if command -v geos-config >/dev/null && command -v cc >/dev/null; then
    geos=$work/fences-geos
    # shellcheck disable=SC2046
    cc -O2 -o "$geos" "$(dirname "$0")/fences-geos.c" $(geos-config --cflags) $(geos-config --clibs)
else
    skip "no libgeos-dev: no figures of GEOS"
fi
for spread in f1 f2 f3; do
    "$built/saker-bench" fences speed --spread "$spread" --fences "$fences" --export "$work/$spread" >>"$figures"
    [ -z "$geos" ] || "$geos" "$work/$spread" "fences.$spread" >>"$figures"
    rm -f "$work/$spread"
done
"$built/saker-bench" fences change --fences "$fences" >>"$figures"
"$built/saker-bench" fences memory --fences "$fences" >>"$figures"
"$built/saker-bench" fences memory --fences 1000 --name fences.agent_memory >>"$figures"
