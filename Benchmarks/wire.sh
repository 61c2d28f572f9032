#!/usr/bin/env bash
# Payload bytes a point on a recorded drive, and the codec's speed.
#   TRACK=FILE.gpx    default: a drive around The Hague in ../shared/data
. "$(dirname "$0")/common.sh"

track=${TRACK:-../shared/data/tracks/gpsbabel-sbn-thehague.gpx}
if [ -r "$track" ]; then
    "$built/saker-bench" wire "$track" >>"$figures"
else
    skip "$track is absent: no figures of a recorded drive"
fi
