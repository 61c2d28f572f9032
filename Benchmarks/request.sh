#!/usr/bin/env bash
# The memory of one request for a long track: the highest resident memory while it is answered, above that before it.
#   POINTS=20000        of the track
#   ROUNDS=3            each with a server that was just started; the median counts
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
points=${POINTS:-20000} rounds=${ROUNDS:-3}

make_server
server_setting store merge_interval 1
serve
# Four seconds from point to point: 20,000 of them are within a day.
fleet track --mode backlog --vehicles 1 --gather 4 --points "$points" --prefix track --start-time 2026-03-14T00:00:00Z
fleet small --mode backlog --vehicles 1 --points 1000 --prefix small --start-time 2026-03-14T00:00:00Z
is_merged() {
    python3 -c 'import sqlite3, sys; sys.exit(sqlite3.connect(sys.argv[1]).execute(
        "SELECT count(*) FROM chunk WHERE settled = 0 AND entity = (SELECT id FROM entity WHERE name = ?)",
        ["track-0"]).fetchone()[0] > 1)' "$work/server/tracks.sqlite"
}
wait_for 120 "merging" is_merged
end_server
for kind in gettrack processed getdistance; do
    : >"$work/$kind"
    for _ in $(seq "$rounds"); do
        serve
        python3 "$here/request.py" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" $kind "$server" "$points" \
            >>"$work/$kind"
        end_server
    done
    middle=$(sort -n "$work/$kind" | sed -n "$((rounds / 2 + 1))p")
    figure "request.$kind" "$(calculate "$middle / 1024" 2)" "MiB more while one request is answered, $points points"
done
