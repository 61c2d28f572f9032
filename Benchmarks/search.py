"""Fills a server with entities through its Web API and searches them.

    search.py fill    BASE CA KEY ENTITIES            one point each, around 200 cities in China
    search.py ask     BASE CA KEY ENTITIES REQUESTS SERVER-PROCESS   figures of pages of 1,000
    search.py forever BASE CA KEY ENTITIES            asks until it is killed or the server ends
"""

import http.client
import json
import random
import ssl
import sys
import time
from urllib.parse import urlencode, urlsplit

CITIES = 200


class Client:
    def __init__(self, base, authority, key):
        place = urlsplit(base)
        context = ssl.create_default_context(cafile=authority)
        self.connection = http.client.HTTPSConnection(place.hostname, place.port, context=context)
        self.common = {"ak": key, "service_id": 1}

    def ask(self, call, post=False, **parameters):
        """The bytes of the answer, and the milliseconds to its last byte."""
        text = urlencode({**self.common, **parameters})
        begin = time.perf_counter()
        if post:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            self.connection.request("POST", f"/api/v3/{call}", text, headers)
        else:
            self.connection.request("GET", f"/api/v3/{call}?{text}")
        body = self.connection.getresponse().read()
        return body, 1000 * (time.perf_counter() - begin)


def cities():
    numbers = random.Random(1)
    return [(numbers.uniform(23, 41), numbers.uniform(103, 121)) for _ in range(CITIES)]


def fill(client, entities):
    numbers = random.Random(2)
    places = cities()
    now = int(time.time()) - 1000
    for first in range(0, entities, 100):
        points = []
        for number in range(first, min(first + 100, entities)):
            city = places[number % CITIES]
            points.append({
                "entity_name": f"van_{number * 7919 % 10_000_000:07}", "loc_time": now, "coord_type_input": "wgs84",
                "latitude": round(numbers.gauss(city[0], 0.1), 6), "longitude": round(numbers.gauss(city[1], 0.12), 6)})
        body, _ = client.ask("track/addpoints", post=True, point_list=json.dumps(points))
        if json.loads(body)["success_num"] != len(points):
            sys.exit(f"bench: {body[:300]}")


def questions(numbers, places):
    """Names and parameters of one round."""
    city = numbers.choice(places)
    latitude, longitude = numbers.gauss(city[0], 0.05), numbers.gauss(city[1], 0.05)
    page = {"page_size": 1000, "coord_type_input": "wgs84", "coord_type_output": "wgs84"}
    corners = f"{latitude - 0.06},{longitude - 0.07};{latitude + 0.06},{longitude + 0.07}"
    return [
        ("bounds", "entity/boundsearch", {"bounds": corners, **page}),
        ("around", "entity/aroundsearch", {"center": f"{latitude},{longitude}", "radius": 5000, "sortby": "distance", **page}),
        ("text", "entity/search", {"query": f"{numbers.randrange(10_000):04}", **page}),
        ("text.short", "entity/search", {"query": f"{numbers.randrange(1000):03}", **page}),
        ("text.two", "entity/search", {"query": f"{numbers.randrange(100):02}", **page}),
    ]


def ask(client, entities, requests, server):
    numbers = random.Random(3)
    places = cities()
    times, totals, sizes, processor = {}, {}, {}, {}
    # The clock of another process: the CPU of all its threads.
    clock = ~server << 3 | 2
    for round_ in range(requests + 20):
        for name, call, parameters in questions(numbers, places):
            before = time.clock_gettime(clock)
            body, milliseconds = client.ask(call, **parameters)
            used = time.clock_gettime(clock) - before
            # The first rounds read the file into memory.
            if round_ < 20:
                continue
            answer = json.loads(body)
            times.setdefault(name, []).append(milliseconds)
            processor.setdefault(name, []).append(1000 * used)
            totals.setdefault(name, []).append(answer["total"])
            sizes.setdefault(name, []).append(answer["size"])
    for name, all_ in times.items():
        all_.sort()
        mean = sum(totals[name]) / len(totals[name])
        for share in [50, 99]:
            print(f"search.{name}.p{share}\t{all_[len(all_) * share // 100]:.2f}\t"
                  f"ms over HTTPS, {entities} entities, {mean:.0f} matches in the mean, at most {max(totals[name])}")
        print(f"search.{name}.cpu\t{sum(processor[name]) / len(processor[name]):.2f}\tms of the server's CPU in the mean")
    everything = {"bounds": "-90,-180;90,180", "coord_type_input": "wgs84", "page_size": 1000}
    print(f"search.earth\t{client.ask('entity/boundsearch', **everything)[1]:.0f}\tms, a box around all of them")
    print(f"search.text.all\t{client.ask('entity/search', query='van', page_size=1000)[1]:.0f}\tms, a text that all have")
    print(f"search.list\t{client.ask('entity/list', page_size=1000)[1]:.0f}\tms, a page of the list")


def forever(client):
    numbers = random.Random(4)
    places = cities()
    while True:
        for _, call, parameters in questions(numbers, places):
            client.ask(call, **parameters)


mode, entities = sys.argv[1], int(sys.argv[5])
client = Client(*sys.argv[2:5])
if mode == "fill":
    fill(client, entities)
elif mode == "ask":
    ask(client, entities, *map(int, sys.argv[6:]))
else:
    try:
        forever(client)
    except (http.client.HTTPException, ConnectionError):
        pass  # The server ended: so does the measurement.
