#!/usr/bin/env bash
# A live agent: memory after an hour's fixes with 60 MB on disk, drain of a million points, CPU, wake-ups, IP bytes.
#   MINUTES=1           how long the live agent is watched
#   FIXES=3600          fixes before memory is read, ten a second
#   BACKLOG_MB=60       backlog on disk meanwhile
#   POINTS=1000000      points of the drain
. "$(dirname "$0")/common.sh"

minutes=${MINUTES:-1} points=${POINTS:-1000000} fixes=${FIXES:-3600}
make_server
make_agent

memory() {
    figure "agent.$1.rss" "$(calculate "$(resident_kb "$agent") / 1024")" MiB
    figure "agent.$1.private_anonymous" "$(calculate "$(anonymous_kb "$agent") / 1024")" MiB
}

# --- offline with a backlog, an hour's fixes
megabytes() { [ "$(du --block-size=1M --summarize "$cache" 2>/dev/null | cut -f1)" -ge "$1" ]; }
"$built/saker-bench" fill "$cache" --points $((${BACKLOG_MB:-60} * 23000)) >/dev/null
start_agent
memory opened
start_receiver 10
wait_for 60 "a fix" status_is .feed.state fix
saker settings intervals 5 30 >/dev/null
sleep $(((fixes + 9) / 10))
memory backlog
figure agent.backlog.disk "$(calculate "$(du --block-size=1K --summarize "$cache" | cut -f1) / 1024" 0)" "MiB of ring"
end_receiver
end_agent

# --- the drain: everything in the ring of one agent, over TLS on loopback, until the last commit is acknowledged
rm -rf "$cache" "$work/state" && mkdir "$work/state"
"$built/saker-bench" fill "$cache" --points "$points" >/dev/null
start_agent
serve
begin=$(date +%s.%N)
saker reconnect >/dev/null
wait_for 120 "the drain" at_least .counters.acknowledged "$points"
end=$(date +%s.%N)
figure drain "$(calculate "$end - $begin")" "s, $points points of one agent"
figure drain.rate "$(calculate "$points / ($end - $begin)" 0)" points/s
memory drained

# --- live: one fix a second, points every 5 s, packs of 30 s
start_receiver 1
wait_for 60 "a fix" status_is .feed.state fix
saker settings intervals 5 30 >/dev/null
sleep 5
counters() {
    processor_seconds "$agent"
    cat /proc/"$agent"/task/*/status | awk '/^voluntary/ { n += $2 } END { print n }'
    ss --tcp --info --no-header --numeric "dport = :$device_port" |
        grep -oE '(bytes_sent|bytes_received|segs_out|segs_in):[0-9]+' | tr ':' ' ' |
        awk '{ v[$1] = $2 } END { print v["bytes_sent"] + v["bytes_received"] + 52 * (v["segs_out"] + v["segs_in"]) }'
    status_value .counters.acknowledged
}
mapfile -t before < <(counters)
sleep $((minutes * 60))
mapfile -t after < <(counters)
seconds=$((minutes * 60))
figure agent.cpu "$(calculate "100 * (${after[0]} - ${before[0]}) / $seconds" 2)" "% of a core, 1 Hz"
figure agent.wakeups "$(calculate "(${after[1]} - ${before[1]}) / $seconds")" "a second, all threads"
sent=$((after[3] - before[3]))
[ $sent -le 0 ] || figure wire.live.ip "$(calculate "(${after[2]} - ${before[2]}) / $sent")" "IP bytes a point, both directions"
memory live
