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
# prepare PUBLIC PRIVATE KM: a server with fences over everyone, and with some of each vehicle; it runs now
prepare() {
    in_the_past make_server
    server_setting store merge_interval 3600
    in_the_past serve
    in_the_past python3 "$here/server-fences.py" make "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" \
        "$1" "$vehicles" "$2" "$3"
    end_server
    serve
}

# --- ingest in turn: without fences; with 1,000 over everyone and 10 of each vehicle, spread over a country, so that few
# make an alarm; and the same within the city of the drives, where an alarm is made of one point in 25
declare -A points_of seconds_of alarms_of
for round in $(seq "$rounds"); do
    for kind in without country city; do
        case $kind in
            without) prepare 0 0 0 ;;
            country) prepare 1000 10 165 ;;
            city) prepare 1000 10 30 ;;
        esac
        for batch in 1000 6; do
            name=batch_$batch.$kind
            [ $batch = 6 ] && count=$((points / 5)) || count=$points
            before=$(processor_seconds "$server")
            fleet "$name" --mode backlog --vehicles "$vehicles" --points "$count" --batch "$batch" --prefix "b$batch"
            figure "server_fences.$name.$round" "$(reported "$name" .pointsPerSecond)" \
                "points/s, $vehicles vehicles, batches of $batch"
            seconds_of[$name]="${seconds_of[$name]:-0} + $(processor_seconds "$server") - $before"
            points_of[$name]="${points_of[$name]:-0} + $(reported "$name" .points)"
        done
        alarms_of[$kind]="${alarms_of[$kind]:-0} + $(python3 "$here/server-fences.py" alarms "$work/server/tracks.sqlite")"
        end_server
        rm -rf "$work/server"
    done
done
# per_point NAME: microseconds of the server's CPU
per_point() { calculate "1000000 * (${seconds_of[$1]}) / (${points_of[$1]})" 4; }
for batch in 1000 6; do
    for kind in without country city; do
        figure "server_fences.batch_$batch.$kind.cpu" "$(per_point "batch_$batch.$kind")" \
            "us of the server's CPU a point, batches of $batch"
    done
    figure "server_fences.ingest.batch_$batch.cpu_share" \
        "$(calculate "100 * $(per_point "batch_$batch.without") / $(per_point "batch_$batch.country")")" \
        "% of points a CPU second without fences; ${alarms_of[country]} alarms"
done
with_alarms="${seconds_of[batch_1000.city]} + ${seconds_of[batch_6.city]}"
without_alarms="${seconds_of[batch_1000.country]} + ${seconds_of[batch_6.country]}"
figure server_fences.alarm.cpu \
    "$(calculate "1000000 * ($with_alarms - ($without_alarms)) / (${alarms_of[city]} - (${alarms_of[country]}))")" \
    "us of the server's CPU an alarm; ${alarms_of[city]} alarms"

# --- one fence changed among many, while a vehicle uploads
make_server
serve
began=$(date +%s%3N)
python3 "$here/server-fences.py" make "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$fences" 0 0 30
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

# --- where one vehicle is with regard to 1,000 fences
make_server
serve
python3 "$here/server-fences.py" status "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" >>"$figures"
end_server
rm -rf "$work/server"
