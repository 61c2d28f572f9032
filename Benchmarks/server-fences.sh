#!/usr/bin/env bash
# What fences cost the server: the same backlogs with and without them, and a change among many.
#   VEHICLES=32     of the backlogs
#   POINTS=100000   of each of them
#   FENCES=100000   over everyone, for the changes
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
vehicles=${VEHICLES:-32} points=${POINTS:-100000} fences=${FENCES:-100000}

# --- ingest without fences and with 1,000 over everyone and 10 of each vehicle, in turn
for round in 1 2; do
    for kind in without with; do
        make_server
        server_setting store merge_interval 3600
        serve
        [ $kind = without ] || python3 "$here/server-fences.py" make "https://127.0.0.1:$https_port" \
            "$work/server/ca.pem" "$access_key" 1000 "$vehicles" 10
        before=$(processor_seconds "$server")
        fleet "$kind$round" --mode backlog --vehicles "$vehicles" --points "$points"
        used=$(calculate "$(processor_seconds "$server") - $before" 3)
        rate=$(reported "$kind$round" .pointsPerSecond)
        cpu=$(calculate "$(reported "$kind$round" .points) / $used" 0)
        figure "server_fences.ingest.$kind.$round" "$rate" "points/s, $vehicles vehicles, batches of 1,000"
        figure "server_fences.ingest.$kind.$round.cpu" "$cpu" "points a CPU second of the server"
        eval "${kind}_rate_$round=$rate ${kind}_cpu_$round=$cpu"
        end_server
        rm -rf "$work/server"
    done
done
figure server_fences.ingest.share \
    "$(calculate "100 * ($with_rate_1 + $with_rate_2) / ($without_rate_1 + $without_rate_2)")" "% of ingest without fences"
figure server_fences.ingest.cpu_share \
    "$(calculate "100 * ($with_cpu_1 + $with_cpu_2) / ($without_cpu_1 + $without_cpu_2)")" "% of points a CPU second"

# --- one fence changed among many, while a vehicle uploads
make_server
serve
python3 "$here/server-fences.py" make "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$fences" 0 0
figure server_fences.memory "$(resident_kb "$server")" "KB of the server before a point was judged, $fences fences"
python3 "$here/server-fences.py" change "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$fences" \
    >>"$figures"
end_server
rm -rf "$work/server"
