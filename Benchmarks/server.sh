#!/usr/bin/env bash
# A server under a simulated fleet on the same machine, over TLS, every acknowledgement after its commit (FULL).
#   CONNECTIONS=20000   held at one time; fewer where the system allows fewer files
#   LIVE_SECONDS=20     how long the live fleet is watched
#   LIVE_RATE=12500     live batches offered a second
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
live_seconds=${LIVE_SECONDS:-20} live_rate=${LIVE_RATE:-12500}

# --- ingest: backlogs in batches of 1,000
make_server
# Merging is measured by itself, below.
server_setting store merge_interval 3600
serve
before=$(processor_seconds "$server")
fleet ingest --mode backlog --vehicles 32 --points 300000
used=$(calculate "$(processor_seconds "$server") - $before" 3)
figure server.ingest "$(reported ingest .pointsPerSecond)" "points/s, 32 vehicles, batches of 1,000"
figure server.ingest.cpu "$(calculate "$(reported ingest .points) / $used" 0)" "points a CPU second of the server"

# --- live: six points a batch, every vehicle its turn
vehicles=5000
before=$(processor_seconds "$server")
fleet live_logins --mode idle --vehicles $vehicles --rate 1500 --duration 0.1
logins=$(calculate "$(processor_seconds "$server") - $before" 3)
before=$(processor_seconds "$server")
fleet live --mode live --vehicles $vehicles --rate 1500 --pack "$(calculate "$vehicles / $live_rate" 4)" --duration "$live_seconds"
used=$(calculate "$(processor_seconds "$server") - $before - $logins" 3)
figure server.live "$(reported live .batchesPerSecond)" "batches/s of six points, $live_rate offered"
figure server.live.cpu "$(calculate "1e6 * $used / $(reported live .batches)")" "us of the server's CPU a batch"
for quantile in p50 p99 max; do
    figure "server.live.$quantile" "$(reported live ".acknowledgement.$quantile")" "ms from due to acknowledged"
done
figure server.handshakes "$(reported live .handshakesPerSecond)" "logins/s, 1,500 offered"

# --- the latest point, beside half of what was taken in just now
half=$(calculate "$(reported live .batchesPerSecond) / 2" 0)
"$built/saker-sim" fleet --enroll - --json --mode live --vehicles $vehicles --rate 1500 --prefix half \
    --pack "$(calculate "$vehicles / $half" 4)" --duration 30 <"$work/enrollment" >"$work/half.json" 2>"$work/half.log" &
generator=$!
processes+=("$generator")
wait_for 60 "all connections" grep -q connected "$work/half.log"
sleep 2
python3 "$here/latency.py" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" sim-0 beside "$server" \
    >>"$figures"
wait "$generator" || { cat "$work/half.log" >&2; exit 1; }
figure web.latest.beside.live "$(reported half .batchesPerSecond)" "batches/s of six points beside it, $half offered"
end_server
rm -rf "$work/server"

# --- connections: memory of a fresh server before and with them
connections=${CONNECTIONS:-20000}
# The limit is per process: a server needs a few files beside its connections.
allowed=$(($(ulimit -Hn) - 300))
if [ "$connections" -gt "$allowed" ]; then
    skip "this system allows $(ulimit -Hn) open files a process: $allowed connections instead of $connections"
    connections=$allowed
fi
make_server
serve
resident=$(resident_kb "$server") anonymous=$(anonymous_kb "$server")
"$built/saker-sim" fleet --enroll - --mode idle --vehicles "$connections" --rate 1500 --duration 20 --json \
    <"$work/enrollment" >"$work/idle.json" 2>"$work/idle.log" &
generator=$!
processes+=("$generator")
wait_for 120 "all connections" grep -q connected "$work/idle.log"
sleep 2
figure server.connections "$connections" "held at one time"
figure server.connection.rss "$(calculate "($(resident_kb "$server") - $resident) / $connections")" "KB each"
figure server.connection.private_anonymous "$(calculate "($(anonymous_kb "$server") - $anonymous) / $connections")" "KB each"
figure generator.connection.rss "$(calculate "$(resident_kb "$generator") / $connections")" "KB each, the fleet's own"
wait "$generator" || { cat "$work/idle.log" >&2; exit 1; }
end_server
rm -rf "$work/server"

# --- store: six-point batches merged, bytes a point; then queries over HTTPS
make_server
server_setting store merge_interval 1
serve
fleet store --mode backlog --batch 6 --vehicles 16 --points 24000 --rate 1500
fleet day --mode backlog --vehicles 4 --points 17280 --prefix day --start-time 2026-03-14T00:00:00Z
store=$work/server/tracks.sqlite
sqlite() { python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone())' "$store" "$1"; }
# What is left of an entity below 512 points waits for an hour.
is_merged() {
    [ "$(sqlite 'SELECT count(*) FROM (SELECT sum(count) AS points FROM chunk WHERE settled = 0 GROUP BY entity
        HAVING points >= 512)')" = 0 ]
}
wait_for 120 "merging" is_merged
python3 "$here/latency.py" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" day-0 2026-03-14 "$server" \
    >>"$figures"
end_server
read -r points used file < <(sqlite "SELECT (SELECT sum(count) FROM chunk),
    (SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count) * page_size,
    (SELECT page_count FROM pragma_page_count) * page_size FROM pragma_page_size")
figure server.store "$(calculate "$used / $points" 2)" "bytes a point, pages in use, $points points"
figure server.store.file "$(calculate "$file / $points" 2)" "bytes a point, file with pages free after merging"
