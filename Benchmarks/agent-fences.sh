#!/usr/bin/env bash
# What fences of the vehicle's own cost an agent: the same agent without fences and with them, each with a real gpsd that
# gives a fix a second.
#   FENCES=1000         circles, then as many polygons of 32 vertices with all digits of a double, and with seven decimals
#   SECONDS_LIVE=120    how long each agent is watched
. "$(dirname "$0")/common.sh"

fences=${FENCES:-1000} seconds=${SECONDS_LIVE:-120}

# layer KIND FILE: fences along the simulated drive's city
layer() {
    python3 - "$1" "$fences" >"$2" <<'PYTHON'
import json, math, random, sys
kind, count = sys.argv[1], int(sys.argv[2])
random.seed(7)
features = []
for number in range(count):
    latitude, longitude = 39.9 + random.gauss(0, 0.1), 116.4 + random.gauss(0, 0.1)
    radius = 50 * 10 ** random.random()
    if kind == "circles":
        geometry = {"type": "Point", "coordinates": [longitude, latitude]}
    else:
        east = radius / 111_320 / math.cos(math.radians(latitude))
        corners = [(2 * math.pi * corner / 32, random.uniform(0.6, 1)) for corner in range(32)]
        digits = 7 if kind == "decimals" else 17
        ring = [[round(longitude + share * east * math.cos(angle), digits),
                 round(latitude + share * radius / 111_320 * math.sin(angle), digits)]
                for angle, share in corners]
        geometry = {"type": "Polygon", "coordinates": [ring + ring[:1]]}
    features.append({"type": "Feature", "id": number, "geometry": geometry,
                     "properties": {"name": f"yard {number}", "radius": radius}})
json.dump({"type": "FeatureCollection", "features": features}, sys.stdout)
PYTHON
}

make_server
for kind in none circles polygons decimals; do
    rm -rf "$work/agent" "$work/cache" "$work/state"
    make_agent
    start_agent
    if [ $kind != none ]; then
        layer $kind "$work/layer.geojson"
        saker fence import "$work/layer.geojson" >/dev/null
        # The import's own work is over with the process.
        end_agent
        start_agent
    fi
    start_receiver 1
    wait_for 60 "a fix" status_is .feed.state fix
    sleep 10
    before=$(processor_ms "$agent")
    sleep "$seconds"
    share=$(calculate "0.1 * ($(processor_ms "$agent") - $before) / $seconds" 4)
    figure "agent_fences.$kind.cpu" "$share" "% of a core"
    memory=$(anonymous_kb "$agent")
    figure "agent_fences.$kind.private" "$(calculate "$memory / 1024" 2)" "MiB, private and anonymous"
    if [ $kind = none ]; then
        without=$memory share_without=$share
    else
        figure "agent_fences.$kind.growth" "$(calculate "($memory - $without) / 1024" 2)" "MiB more, $fences fences"
        figure "agent_fences.$kind.cpu_growth" "$(calculate "$share - $share_without" 4)" "% of a core more, $fences fences"
    fi
    end_receiver
    end_agent
done
