"""Latencies of the agent's control socket, one figure a method: the slowest of all calls.

    control.py SOCKET PREFIX CALLS

An answer may be an error: an agent that says at once that a change could not be written to the disk is as quick as one that
writes it.
"""

import json
import socket
import sys
import time

# Each line is called in turn, so that each change changes something.
METHODS = {
    "GetStatus": [{}],
    "GetSettings": [{}],
    "GetCacheInfo": [{}],
    "SetIntervals": [{"gather": 5, "pack": 30}, {"gather": 10, "pack": 60}],
    "SetCacheLimit": [{"bytes": 1 << 28}, {"unlimited": True}],
    "SetLocationOptions": [{"distance_filter": 10}, {"distance_filter": 0}],
    "ResetSettings": [{}],
    "SetAttributes": [{"attributes": {"fuel": 51}}, {"attributes": {"fuel": 52}}],
    "ClearAttributes": [{}],
    "StopGather": [{}],
    "Reconnect": [{}],
    "GetFenceStatus": [{"limit": 1000}],
}
FENCES = 1000


def main():
    path, prefix, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)

    answers = {}

    def call(method, parameters):
        begin = time.perf_counter()
        connection.sendall(json.dumps({"method": f"io.saker.Agent.{method}", "parameters": parameters}).encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            part = connection.recv(1 << 20)
            if not part:
                sys.exit(f"control.py: the agent closed the connection at {method}")
            answer += part
        duration = time.perf_counter() - begin
        answers[method] = json.loads(answer[:-1])
        return duration

    # Circles around the place where the vehicle may be; on a full disk they stay in memory.
    lines = [
        json.dumps({
            "name": f"yard {number}", "origin": {"file": "bench", "feature": str(number)},
            "shape": {"kind": "circle", "latitude": 52 + number / 1000, "longitude": 4.3, "radius": 100},
            "watch": "#allentity",
        })
        for number in range(FENCES)
    ]
    call("ImportFences", {"file": "bench", "text": "\n".join(lines)})
    imported = "error" not in answers["ImportFences"]
    if not imported and prefix == "control":
        sys.exit(f"control.py: {answers['ImportFences']}")

    slowest = 0.0
    for method, changes in METHODS.items():
        if method == "GetFenceStatus" and not imported:
            continue
        times = [call(method, changes[index % len(changes)]) for index in range(calls)]
        slowest = max(slowest, max(times))
        print(f"{prefix}.{method}\t{max(times) * 1000:.1f}\tms at most, {calls} calls")
        if method == "GetFenceStatus":
            statuses = answers[method]["parameters"].get("statuses", [])
            if len(statuses) != FENCES:
                sys.exit(f"control.py: {len(statuses)} of {FENCES} fences have a status: {answers[method]}"[:500])
            times.sort()
            print(f"{prefix}.fence_status.p99\t{times[len(times) * 99 // 100] * 1000:.2f}\tms, {FENCES} fences")
    print(f"{prefix}.slowest\t{slowest * 1000:.1f}\tms")


main()
