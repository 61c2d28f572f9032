#!/usr/bin/env bash
# What fences cost the server: the same points with and without them, and a change among many. The fences are made while
# the server's clock is ten days back, so that they are older than the points and every point is judged (needs a C compiler).
#   VEHICLES=32     that upload
#   POINTS=100000   of each of them in batches of 1,000; a fifth of it in batches of six
#   FENCES=100000   over everyone, for the changes
#   ROUNDS=2
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
vehicles=${VEHICLES:-32} points=${POINTS:-100000} fences=${FENCES:-100000} rounds=${ROUNDS:-2}
command -v cc >/dev/null || { skip "no C compiler: no figures of fences at the server"; exit; }
cc -O2 -shared -fPIC -o "$work/clock-back.so" "$here/clock-back.c" -ldl

# in_the_past COMMAND...: the command and what it starts live ten days ago
in_the_past() {
    export LD_PRELOAD=$work/clock-back.so CLOCK_BACK=864000
    "$@"
    unset LD_PRELOAD CLOCK_BACK
}
# prepare PUBLIC PRIVATE: a server with fences over everyone, and with some of each vehicle; it runs now
prepare() {
    in_the_past make_server
    server_setting store merge_interval 3600
    in_the_past serve
    in_the_past python3 "$here/server-fences.py" make "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" \
        "$1" "$vehicles" "$2"
    end_server
    serve
}

# --- ingest without fences and with 1,000 over everyone and 10 of each vehicle, in turn
for round in $(seq "$rounds"); do
    for kind in without with; do
        if [ $kind = without ]; then prepare 0 0; else prepare 1000 10; fi
        for batch in 1000 6; do
            name=batch_$batch.$kind.$round
            [ $batch = 6 ] && count=$((points / 5)) || count=$points
            before=$(processor_seconds "$server")
            fleet "$name" --mode backlog --vehicles "$vehicles" --points "$count" --batch "$batch" --prefix "b$batch"
            used=$(calculate "$(processor_seconds "$server") - $before" 3)
            rate=$(reported "$name" .pointsPerSecond)
            cpu=$(calculate "$(reported "$name" .points) / $used" 0)
            figure "server_fences.$name" "$rate" "points/s, $vehicles vehicles, batches of $batch"
            figure "server_fences.$name.cpu" "$cpu" "points a CPU second of the server"
            eval "${kind}_rate_${batch}_$round=$rate ${kind}_cpu_${batch}_$round=$cpu"
        done
        [ $kind = without ] || figure "server_fences.alarms.$round" \
            "$(python3 "$here/server-fences.py" alarms "$work/server/tracks.sqlite")" "alarms of all these points"
        end_server
        rm -rf "$work/server"
    done
done
# mean KIND FIGURE BATCH: over the rounds
mean() {
    local sum=0 round name
    for round in $(seq "$rounds"); do
        name=${1}_${2}_${3}_$round
        sum="$sum + ${!name}"
    done
    calculate "($sum) / $rounds" 3
}
for batch in 1000 6; do
    figure "server_fences.ingest.batch_$batch.share" \
        "$(calculate "100 * $(mean with rate $batch) / $(mean without rate $batch)")" "% of ingest without fences"
    figure "server_fences.ingest.batch_$batch.cpu_share" \
        "$(calculate "100 * $(mean with cpu $batch) / $(mean without cpu $batch)")" "% of points a CPU second"
done

# --- one fence changed among many, while a vehicle uploads
make_server
serve
began=$(date +%s%3N)
python3 "$here/server-fences.py" make "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$fences" 0 0
figure server_fences.make "$(calculate "1000 * $fences / ($(date +%s%3N) - $began)")" "fences made a second, one after the other"
end_server
began=$(date +%s%3N)
serve
figure server_fences.start "$(($(date +%s%3N) - began))" "ms until the server serves, $fences fences to read"
figure server_fences.memory "$(resident_kb "$server")" "KB of the server before a point was judged, $fences fences"
python3 "$here/server-fences.py" change "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$fences" \
    >>"$figures"
end_server
rm -rf "$work/server"
