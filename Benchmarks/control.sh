#!/usr/bin/env bash
# How long the agent takes to answer calls of its control socket, reading and changing ones, without a server and a gpsd:
# on a disk that works, and, as root, on a disk that is full.
#   CALLS=200           of each method
. "$(dirname "$0")/common.sh"

make_server
measure() { python3 "$(dirname "$0")/control.py" "$work/agent.varlink" "$1" "${CALLS:-200}" >>"$figures"; }

make_agent
start_agent
measure control
end_agent

# --- a large import of fences: nothing else may wait for it
start_agent
python3 "$(dirname "$0")/fence-import.py" "$work/agent.varlink" >>"$figures"
end_agent

# --- a file system of a few MiB, filled to its last byte: nothing can be written, the state least of all
if [ "$(id -u)" -eq 0 ] && mkdir "$work/small" && mount -t tmpfs -o size=8m tmpfs "$work/small" 2>/dev/null; then
    mounts+=("$work/small")
    sed -i "s|^directory = \"$cache\"|directory = \"$work/small/cache\"|; s|^directory = \"$work/state\"|directory = \"$work/small\"|" \
        "$work/agent/agent.toml"
    start_agent
    dd if=/dev/zero of="$work/small/filler" bs=4k 2>/dev/null || true
    measure control.full
    end_agent
else
    skip "control: a full disk needs root"
fi
