#!/usr/bin/env bash
# Searches among many entities, and what the server takes in while somebody searches.
#   ENTITIES=1000000    with a point each
#   REQUESTS=300        of each kind
#   LIVE_RATE=5000      live batches offered a second, once with searches beside them
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
entities=${ENTITIES:-1000000} requests=${REQUESTS:-300} live_rate=${LIVE_RATE:-5000}

make_server
server_setting store merge_interval 3600
serve
ask() { python3 "$here/search.py" "$1" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "${@:2}"; }
before=$SECONDS
ask fill "$entities"
figure search.fill "$((SECONDS - before))" "s to make $entities entities with a point each through track/addpoints"
ask ask "$entities" "$requests" >>"$figures"
figure search.memory "$(resident_kb "$server")" "KB of the server"

# --- live batches, alone and with one client that searches all the time
for kind in alone beside; do
    if [ $kind = beside ]; then
        ask forever "$entities" &
        searcher=$!
        processes+=("$searcher")
    fi
    fleet "live_$kind" --mode live --vehicles 2000 --rate 1000 --prefix "$kind" --pack "$(calculate "2000 / $live_rate" 4)" --duration 10
    figure "search.live.$kind" "$(reported "live_$kind" .batchesPerSecond)" "batches/s of six points, $live_rate offered"
    figure "search.live.$kind.p99" "$(reported "live_$kind" .acknowledgement.p99)" "ms from due to acknowledged"
done
kill "$searcher"
end_server
rm -rf "$work/server"
