# What every group of benchmarks uses; sourced, never run. Expects $built, the directory of the programs.
# A figure is one line "name<TAB>value<TAB>unit" in $figures; report.py knows the budgets.
set -euo pipefail

work=$(mktemp -d "${BENCH_DIR:-/var/tmp}/saker-bench-XXXXXX")
figures=${FIGURES:?a group is started by Benchmarks/run}
processes=()
mounts=()
finish() {
    local status=$? item
    trap - EXIT
    for item in "${processes[@]}"; do kill "$item" 2>/dev/null || true; done
    for item in "${processes[@]}"; do wait "$item" 2>/dev/null || true; done
    for item in "${mounts[@]}"; do umount "$item" || true; done
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

figure() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$figures"; }
skip() { echo "bench: $*" >&2; }
calculate() { awk "BEGIN { printf \"%.${2:-1}f\", $1 }"; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
wait_for() {
    local seconds=$1 what=$2 end; shift 2
    end=$((SECONDS + seconds))
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || { echo "bench: waited $seconds s for $what" >&2; exit 1; }
        sleep 0.1
    done
}

# --- processes as the kernel sees them
processor_seconds() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$1/stat"; }
# The kernel's own sum for the process, to the nanosecond: some milliseconds of CPU in a minute are no two ticks.
processor_ms() { python3 -c 'import sys, time; print(1000 * time.clock_gettime(~int(sys.argv[1]) << 3 | 2))' "$1"; }
resident_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
anonymous_kb() { awk '/^Anonymous/ { print $2 }' "/proc/$1/smaps_rollup"; }
written_bytes() { awk '/^write_bytes/ { print $2 }' "/proc/$1/io"; }

# --- a server of its own, in $work/server; more of server.toml may be appended before `serve`. Vehicles log in with the access key,
# or, after `make_server saker2`, with certificates of their own
make_server() {
    local line=${1:-saker1} login=()
    [ "$line" = saker2 ] || login=(--legacy-device)
    device_port=$(free_port) https_port=$(free_port)
    "$built/saker-server" init --directory "$work/server" --host 127.0.0.1 --name Bench --device-port "$device_port" \
        --https-port "$https_port" --http-port 0 "${login[@]}" >"$work/init.txt"
    grep -oE "$line"':[A-Za-z0-9_-]+' "$work/init.txt" | head -1 >"$work/enrollment"
    access_key=$(sed -nE 's/^Access key \(ak\): //p' "$work/init.txt")
    # A line for every login would measure the disk.
    server_setting log level '"warning"'
}
# server_setting TABLE KEY VALUE
server_setting() {
    sed -i -E "/^\[$1\]/,/^\[/ s|^#? ?$2 = .*|$2 = $3|" "$work/server/server.toml"
    grep -qE "^$2 = " "$work/server/server.toml" || { echo "bench: server.toml has no $1.$2" >&2; exit 1; }
}
serve() {
    rm -f "$work/ports.json"
    "$built/saker-server" serve --config "$work/server/server.toml" --ports-file "$work/ports.json" \
        >>"$work/server.log" 2>&1 &
    server=$!
    processes+=("$server")
    wait_for 30 "saker-server" test -s "$work/ports.json"
}
end_server() {
    kill "$server"
    wait "$server" || true
}
# fleet NAME OPTION...: the simulated fleet to its end; its report in $work/NAME.json
fleet() {
    local name=$1; shift
    "$built/saker-sim" fleet --enroll - --json "$@" <"$work/enrollment" >"$work/$name.json" 2>"$work/$name.log" ||
        { cat "$work/$name.log" >&2; exit 1; }
}
reported() { jq -r "$2" "$work/$1.json"; }

# --- an agent of its own, enrolled at that server; $gpsd_port is where it looks for gpsd
make_agent() {
    gpsd_port=$(free_port) cache=${cache:-$work/cache}
    "$built/saker" enroll - --directory "$work/agent" --entity van_07 <"$work/enrollment" >/dev/null
    mkdir -p "$work/state"
    cat >>"$work/agent/agent.toml" <<TOML

[gnss]
host = "127.0.0.1"
port = $gpsd_port

[cache]
directory = "$cache"
limit = 0
sync_interval = ${sync_interval:-0}

[state]
directory = "$work/state"

[control]
socket = "$work/agent.varlink"
TOML
}
start_agent() {
    "$built/sakerd" --config "$work/agent/agent.toml" >>"$work/agent.log" 2>&1 &
    agent=$!
    processes+=("$agent")
    wait_for 20 "the control socket" saker status --json >/dev/null
}
end_agent() {
    kill "$agent"
    wait "$agent" || true
}
saker() { SAKER_SOCKET=$work/agent.varlink "$built/saker" "$@"; }
status_value() { saker status --json | jq -r ".status | $1"; }
status_is() { [ "$(status_value "$1")" = "$2" ]; }
at_least() { [ "$(status_value "$1")" -ge "$2" ]; }

# start_receiver RATE: a real gpsd on a simulated drive, so many fixes a second
start_receiver() {
    "$built/saker-sim" drive --listen 127.0.0.1:0 --rate "$1" --seed 7 --open-sky >"$work/simulator.log" 2>&1 &
    simulator=$!
    processes+=("$simulator")
    wait_for 10 "the simulator" grep -q listening "$work/simulator.log"
    PATH=$PATH:/usr/sbin gpsd -N -n -S "$gpsd_port" \
        "tcp://127.0.0.1:$(grep -oE 'listening [^ ]+' "$work/simulator.log" | grep -oE '[0-9]+$')" >/dev/null 2>&1 &
    receiver=$!
    processes+=("$receiver")
}
end_receiver() {
    kill "$receiver" "$simulator" 2>/dev/null || true
    wait "$receiver" "$simulator" 2>/dev/null || true
}
