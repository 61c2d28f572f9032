#!/usr/bin/env bash
# Vehicles of one image that claim their certificates at once, each with a key and a connection of its own.
#   CLAIMS=10000        with one token; the server takes 40 a second
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
claims=${CLAIMS:-10000}

make_server
serve
token=$("$built/saker-server" token create --config "$work/server/server.toml" 1 --uses "$claims" --name 'box-{number}' |
    grep -oE 'saker2:[A-Za-z0-9_-]+')
before=$(processor_seconds "$server")
python3 "$here/claims.py" "$work/server" "$token" "$https_port" "$claims" "$server" >"$work/claims.json"
[ "$(reported claims .devices)" = "$claims" ] || { echo "bench: not every vehicle has a device: $(cat "$work/claims.json")" >&2; exit 1; }
figure claims.rate "$(reported claims .claims_per_second)" "claims a second, $claims of one token; the server takes 40"
figure claims.answer.p50 "$(reported claims .answer_ms_half)" "ms of an answer with its connection"
figure claims.answer.p99 "$(reported claims .answer_ms_99)" "ms"
figure claims.waits "$(reported claims .told_to_wait)" "times told to wait"
figure claims.processor "$(calculate "($(processor_seconds "$server") - $before) * 1000 / $claims" 2)" "ms CPU of the server a claim"
figure claims.memory "$(reported claims .server_mib_peak)" "MiB of the server at most"
end_server
rm -rf "$work/server"
