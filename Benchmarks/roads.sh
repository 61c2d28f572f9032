#!/usr/bin/env bash
# What roads cost: the length of a day's track, with and without a real Valhalla. Needs the maps in ../shared/data/roads.
#   SAKER_VALHALLA=DIR   the unpacked package of Valhalla, instead of fetching it from PyPI
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
data=$here/../../shared/data/roads version=3.9.1
[ -f "$data/liechtenstein.osm.pbf" ] || { skip "there is no $data/liechtenstein.osm.pbf"; exit 0; }
engine=${SAKER_VALHALLA:-$here/../.build/valhalla-$version}
if [ ! -x "$engine/valhalla/bin/valhalla_service" ]; then
    python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
        --platform "manylinux_2_28_$(uname -m)" --dest "$work" "pyvalhalla==$version" ||
        { skip "PyPI does not give Valhalla"; exit 0; }
    engine=$work/engine
    python3 -m zipfile -e "$work"/pyvalhalla-*.whl "$engine"
    chmod +x "$engine"/valhalla/bin/*
fi

engine_port=$(free_port)
mkdir "$work/tiles"
python3 "$engine/valhalla/valhalla_build_config.py" --mjolnir-tile-dir "$work/tiles" --mjolnir-tile-extract "" \
    --mjolnir-traffic-extract "" --mjolnir-admin "" --mjolnir-timezone "" --mjolnir-landmarks "" \
    --mjolnir-max-cache-size 67108864 --httpd-service-listen "tcp://127.0.0.1:$engine_port" >"$work/valhalla.json"
"$engine/valhalla/bin/valhalla_build_tiles" -c "$work/valhalla.json" "$data/liechtenstein.osm.pbf" >"$work/tiles.log" 2>&1
"$engine/valhalla/bin/valhalla_service" "$work/valhalla.json" 2 >"$work/valhalla.log" 2>&1 &
processes+=("$!")
wait_for 30 "Valhalla" curl -sf "http://127.0.0.1:$engine_port/status" -o /dev/null

make_server
server_setting roads url "\"http://127.0.0.1:$engine_port\""
# The figure is the time, not where it is cut off.
server_setting roads timeout 60000
server_setting roads request_timeout 60000
serve
python3 "$here/roads.py" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$data/li-loop-truth.csv" \
    >>"$figures"
figure roads.memory "$(resident_kb "$server")" "KB of the server after it"
end_server
