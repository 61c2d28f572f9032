#!/usr/bin/env bash
# The analysis of a track of 20,000 points, in CPU time; and trackintel and movingpandas on the same points.
#   TRACK=FILE.gpx    default: a drive around The Hague in ../shared/data
#   PEERS=DIR         a Python environment that has both; default: one is made from PyPI, if that can be reached
. "$(dirname "$0")/common.sh"

track=${TRACK:-../shared/data/tracks/gpsbabel-sbn-thehague.gpx}
if [ ! -r "$track" ]; then
    skip "$track is absent: no figures of analysis"
    exit 0
fi
"$built/saker-bench" analysis "$track" --export "$work/track.csv" >>"$figures"
peers=${PEERS:-$work/peers}
if [ ! -x "$peers/bin/python" ]; then
    python3 -m venv "$peers" && "$peers/bin/pip" install --quiet trackintel==1.4.2 movingpandas==0.23.0 ||
        { skip "no trackintel and movingpandas from PyPI: no figures of them"; exit 0; }
fi
"$peers/bin/python" "$(dirname "$0")/analysis.py" "$work/track.csv" >>"$figures"
