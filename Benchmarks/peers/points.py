"""Points from gpsd's JSON, on the same grid as the agent's: the first fix at or after each due time.

Shared by the peers of the comparison, so that all of them gather the same fixes at the same interval.
"""

import datetime
import json
import os
import sys
import time

# The fields that the agent sends with each point, under gpsd's own names.
FIELDS = ("lat", "lon", "alt", "speed", "track", "eph", "mode", "status")


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def chosen(lines, interval):
    """Yields one dictionary a gather interval from lines of gpsd's JSON."""
    due = None
    satellites = None
    for line in lines:
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if report.get("class") == "SKY":
            satellites = report.get("uSat", satellites)
        if report.get("class") != "TPV" or report.get("mode", 0) < 2 or "time" not in report:
            continue
        now = seconds(report["time"])
        if due is None:
            due = now
        if now < due - 0.05:
            continue
        due += interval * (int((now - due + 0.05) // interval) + 1)
        point = {"time": now}
        point.update({name: report[name] for name in FIELDS if name in report})
        if satellites is not None:
            point["nSat"] = satellites
        yield point


def wait_for_start(path):
    """What connects beforehand begins to gather only now: the handshake is counted apart."""
    while not os.path.exists(path):
        time.sleep(0.2)


def main():
    """gpspipe -w | points.py START GATHER PACK | mosquitto_pub: a JSON object a line, or an array of one pack."""
    start, gather, pack = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    wait_for_start(start)
    waiting = []
    for point in chosen(sys.stdin, gather):
        waiting.append(point)
        if len(waiting) * gather >= pack:
            print(json.dumps(waiting if len(waiting) > 1 else waiting[0], separators=(",", ":")), flush=True)
            waiting = []


if __name__ == "__main__":
    main()
