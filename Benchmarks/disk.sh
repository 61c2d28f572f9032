#!/usr/bin/env bash
# What an agent without a network writes: its own bytes and the device's, on an ext4 of its own where root may mount one.
#   POINTS_EACH=30      points with a sync each, one every two seconds
#   POINTS_60S=150      points with a sync every 60 s
. "$(dirname "$0")/common.sh"

device=
if [ "$(id -u)" = 0 ] && truncate --size=256M "$work/disk.img" && mkfs.ext4 -q -F -b 4096 "$work/disk.img" &&
    mkdir "$work/disk" && mount -o loop,noatime "$work/disk.img" "$work/disk" 2>/dev/null; then
    mounts+=("$work/disk")
    device=$(findmnt --noheadings --output SOURCE "$work/disk" | sed 's|/dev/||')
else
    mkdir -p "$work/disk"
    skip "no ext4 of our own: only the agent's own bytes are measured"
fi
# Sectors of 512 bytes that reached the device, journal included.
sectors() { [ -z "$device" ] || awk '{ print $7 }' "/sys/block/$device/stat"; }

make_server
measure() {
    local name=$1 seconds=$2 points=$3 before_own before_device before_points count
    rm -rf "$work/agent" "$work/state"
    cache=$work/disk/$name sync_interval=$seconds
    make_agent
    start_agent
    start_receiver 1
    wait_for 60 "a fix" status_is .feed.state fix
    saker settings intervals 2 30 >/dev/null
    wait_for 30 "a point" at_least .counters.gathered 1
    before_points=$(status_value .counters.gathered) before_own=$(written_bytes "$agent") before_device=$(sectors)
    wait_for $((points * 3 + 30)) "$points points" at_least .counters.gathered $((before_points + points))
    # What is still in memory is written by the end of an orderly stop.
    count=$(($(status_value .counters.gathered) - before_points))
    sync -f "$work/disk"
    figure "disk.$name.own" "$(calculate "($(written_bytes "$agent") - $before_own) / $count" 0)" "bytes a point, $count points"
    [ -z "$device" ] ||
        figure "disk.$name.device" "$(calculate "($(sectors) - $before_device) * 512 / $count" 0)" \
            "bytes a point, ext4 with its journal"
    end_agent
    end_receiver
}
measure each 0 "${POINTS_EACH:-30}"
measure 60s 60 "${POINTS_60S:-150}"
