#!/usr/bin/env bash
# The judge of fences: points a second of user CPU time, a change among all fences, memory; and GEOS on the same polygons
# and points, where its library is (scripts/install-deps --bench).
# Sets and points: f1 to f6 and p1 to p6 as `saker-bench fences speed --help` says; without a name of its own, p3.
#   FENCES=100000
#   PROVINCES=FILE.geojson   polygons of a map, such as the provinces of Natural Earth, as f5; without it there is no f5
#   DRIVE=FILE               a recorded drive around 40.0, 116.0 as p6; default: a trip in Beijing in ../shared/data
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
speed() { "$built/saker-bench" fences speed --fences "$fences" "$@" >>"$figures"; }
for spread in f1 f2 f3; do
    speed --spread "$spread" --export "$work/$spread"
    [ -z "$geos" ] || "$geos" "$work/$spread" "fences.$spread" >>"$figures"
    rm -f "$work/$spread"
done
speed --spread f4 --fences 10000
speed --spread f6
if [ -n "${PROVINCES:-}" ]; then
    speed --spread f5 --file "$PROVINCES"
else
    skip "no PROVINCES: no figures of provinces"
fi
for points in p1 p2 p4 p5; do speed --spread f2 --points "$points"; done
drive=${DRIVE:-$(dirname "$0")/../../shared/data/tracks/geolife-007-beijing-20081028.plt}
if [ -r "$drive" ]; then
    for spread in f2 f3; do speed --spread "$spread" --points p6 --drive "$drive"; done
else
    skip "no $drive: no figures of a recorded drive"
fi
"$built/saker-bench" fences change --fences "$fences" >>"$figures"
"$built/saker-bench" fences memory --fences "$fences" >>"$figures"
"$built/saker-bench" fences memory --fences 1000 --name fences.agent_memory >>"$figures"
