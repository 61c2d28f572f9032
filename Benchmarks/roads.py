"""Figures of a day's track on roads: roads.py BASE CA KEY TRUTH.csv

The day is the drive of the file again and again, without its stops: 17,280 points 5 s apart. Each day belongs to an entity of
its own, so that the first question about it is cold.
"""

import csv
import http.client
import json
import ssl
import sys
import time
from urllib.parse import urlencode, urlsplit

DAYS = 3
POINTS = 17_280
START = 1_767_571_200


class Client:
    def __init__(self, base, authority, key):
        place = urlsplit(base)
        context = ssl.create_default_context(cafile=authority)
        self.connection = http.client.HTTPSConnection(place.hostname, place.port, context=context)
        self.common = {"ak": key, "service_id": 1}

    def ask(self, method, call, **parameters):
        text = urlencode({**self.common, **parameters})
        path = f"/api/v3/{call}"
        if method == "POST":
            self.connection.request("POST", path, text, {"Content-Type": "application/x-www-form-urlencoded"})
        else:
            self.connection.request("GET", f"{path}?{text}")
        answer = json.loads(self.connection.getresponse().read())
        if answer["status"] != 0:
            sys.exit(f"bench: {call}: {answer}")
        return answer


def upload(client, path, entity):
    rows = [row for row in csv.DictReader(open(path)) if float(row["speed"]) > 1][::5]
    points = []
    for number in range(POINTS):
        row = rows[number % len(rows)]
        points.append(
            {
                "entity_name": entity,
                "loc_time": START + 5 * number,
                "latitude": float(row["latitude"]),
                "longitude": float(row["longitude"]),
                "speed": round(3.6 * float(row["speed"]), 1),
                "coord_type_input": "wgs84",
            }
        )
    for first in range(0, POINTS, 100):
        client.ask("POST", "track/addpoints", point_list=json.dumps(points[first : first + 100]))


def length(client, entity, option):
    start = time.perf_counter()
    answer = client.ask(
        "GET", "track/getdistance", entity_name=entity, start_time=START, end_time=START + 86_399, is_processed=1,
        process_option=option,
    )
    return (time.perf_counter() - start) * 1000, answer


def figure(name, value, unit):
    print(f"{name}\t{value:.1f}\t{unit}", flush=True)


def main(base, authority, key, path):
    client = Client(base, authority, key)
    cold, warm, without = [], [], []
    for day in range(DAYS):
        entity = f"day-{day}"
        upload(client, path, entity)
        length(client, entity, "need_mapmatch=0")
        taken, answer = length(client, entity, "need_mapmatch=1")
        if answer["roads"]["state"] not in ("used", "partly"):
            sys.exit(f"bench: {answer}")
        cold.append(taken)
        warm += [length(client, entity, "need_mapmatch=1")[0] for _ in range(20)]
        without += [length(client, entity, "need_mapmatch=0")[0] for _ in range(20)]
    figure("roads.day.cold", max(cold), f"ms, the length of {POINTS} points on roads, never asked before")
    figure("roads.day.warm", sorted(warm)[len(warm) // 2], "ms, the same again, p50")
    figure("roads.day.warm.p99", sorted(warm)[-1 - len(warm) // 100], "ms, the same again, p99")
    figure("roads.day.without", sorted(without)[len(without) // 2], "ms, without roads, p50")
    figure("roads.day.matched", 100 * answer["roads"]["matched"], "% of the points on roads")


main(*sys.argv[1:])
