#!/usr/bin/env bash
# Searches among many entities, and what the server takes in while somebody searches.
#   ENTITIES=1000000    with a point each
#   REQUESTS=300        of each kind
#   LIVE_RATE=5000      live batches offered a second: before there are entities, with all of them, and with searches beside
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
entities=${ENTITIES:-1000000} requests=${REQUESTS:-300} live_rate=${LIVE_RATE:-5000}

make_server
server_setting store merge_interval 3600
serve
ask() { python3 "$here/search.py" "$1" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "${@:2}"; }

# live KIND: live batches of vehicles that the server does not know yet
live() {
    local before logins used
    before=$(processor_ms "$server")
    fleet "logins_$1" --mode idle --vehicles 2000 --rate 1000 --prefix "$1-login" --duration 0.1
    logins=$(calculate "$(processor_ms "$server") - $before" 3)
    before=$(processor_ms "$server")
    fleet "live_$1" --mode live --vehicles 2000 --rate 1000 --prefix "$1" --pack "$(calculate "2000 / $live_rate" 4)" --duration 10
    used=$(calculate "$(processor_ms "$server") - $before - $logins" 3)
    figure "search.live.$1" "$(reported "live_$1" .batchesPerSecond)" "batches/s of six points, $live_rate offered"
    figure "search.live.$1.p99" "$(reported "live_$1" .acknowledgement.p99)" "ms from due to acknowledged"
    cpu=$(calculate "1000 * $used / $(reported "live_$1" .batches)")
    figure "search.live.$1.cpu" "$cpu" "us of the server's CPU a batch"
}

# --- before there are entities
live empty
empty=$cpu
before=$SECONDS
ask fill "$entities"
figure search.fill "$((SECONDS - before))" "s to make $entities entities with a point each through track/addpoints"
ask ask "$entities" "$requests" "$server" >>"$figures"
figure search.memory "$(resident_kb "$server")" "KB of the server"

# --- live batches, alone and with one client that searches all the time
live alone
figure search.live.slower "$(calculate "100 * $cpu / $empty - 100")" "% more CPU a batch with $entities entities than with none"
ask forever "$entities" &
searcher=$!
processes+=("$searcher")
live beside
kill "$searcher"
end_server
rm -rf "$work/server"
