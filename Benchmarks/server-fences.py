"""Makes and changes fences of a server through its Web API.

    server-fences.py make   BASE CA KEY PUBLIC VEHICLES PRIVATE KM  circles over everyone, and for each vehicle some of its own,
                                                                  at most so far from the middle of the drives
    server-fences.py change BASE CA KEY PUBLIC                     figures of 1,000 changes, a point of a vehicle after each
    server-fences.py status BASE CA KEY                            figures of fence/querystatus of a vehicle with 1,000 fences
    server-fences.py alarms FILE                                   how many alarms a store has
"""

import http.client
import json
import random
import sqlite3
import ssl
import sys
import time
from urllib.parse import urlencode, urlsplit


class Client:
    def __init__(self, base, authority, key):
        place = urlsplit(base)
        context = ssl.create_default_context(cafile=authority)
        self.connection = http.client.HTTPSConnection(place.hostname, place.port, context=context)
        self.common = {"ak": key, "service_id": 1, "coord_type": "wgs84"}
        # Of the last call, until its answer was here: what this program makes of the answer is its own time.
        self.milliseconds = 0.0

    def get(self, call, **parameters):
        return self.call(call, "GET", f"/api/v3/{call}?" + urlencode({**self.common, **parameters}))

    def post(self, call, **parameters):
        body = urlencode({**self.common, **parameters})
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.call(call, "POST", f"/api/v3/{call}", body, headers)

    def call(self, name, *request):
        begin = time.perf_counter()
        self.connection.request(*request)
        body = self.connection.getresponse().read()
        self.milliseconds = 1000 * (time.perf_counter() - begin)
        answer = json.loads(body)
        if answer["status"] != 0:
            sys.exit(f"bench: {name}: {answer}")
        return answer


def circle(random_numbers, kilometres=30):
    # Around the drives of saker-sim, which begin at The Hague.
    reach = kilometres / 111.2
    return {
        "latitude": round(52.08 + random_numbers.uniform(-reach, reach), 6),
        "longitude": round(4.31 + random_numbers.uniform(-reach, reach) / 0.614, 6),
        "radius": random_numbers.randint(50, 500),
    }


def make(client, public, vehicles, private, kilometres=30):
    numbers = random.Random(1)
    # Of the fleets with batches of 1,000 and of six.
    names = [[f"b1000-{vehicle}", f"b6-{vehicle}"] for vehicle in range(vehicles)]
    for name in sum(names, []):
        client.post("entity/add", entity_name=name)
    for number in range(public):
        client.post("fence/createcirclefence", fence_name=number, monitored_person="#allentity",
            **circle(numbers, kilometres))
    for watched in names:
        for _ in range(private):
            client.post("fence/createcirclefence", monitored_person=",".join(watched), **circle(numbers, kilometres))


def change(client, public):
    numbers = random.Random(2)
    client.post("entity/add", entity_name="probe")
    changes, points = [], []
    for number in range(1000):
        client.post("fence/updatecirclefence", fence_id=numbers.randint(1, public), **circle(numbers))
        changes.append(client.milliseconds)
        client.post(
            "track/addpoint", entity_name="probe", latitude=52.08, longitude=4.31, coord_type_input="wgs84",
            loc_time=int(time.time()) - 2000 + number)
        points.append(client.milliseconds)
    print(f"server_fences.point.first\t{points[0]:.1f}\tms, the first point")
    for name, times in [("change", changes), ("point", points[1:])]:
        times.sort()
        for share in [50, 99]:
            value = times[len(times) * share // 100]
            print(f"server_fences.{name}.p{share}\t{value:.2f}\tms to the answer over HTTPS")
        print(f"server_fences.{name}.max\t{times[-1]:.2f}\tms to the answer over HTTPS")


def status(client):
    """One entity and 1,000 fences that watch it, of which some 100 are private; a point has been judged."""
    numbers = random.Random(3)
    for name in ["probe", "other"]:
        client.post("entity/add", entity_name=name)
    for number in range(1000):
        client.post(
            "fence/createcirclefence", fence_name=number, monitored_person="probe" if number < 100 else "probe,other",
            **circle(numbers))
    client.post(
        "track/addpoint", entity_name="probe", latitude=52.08, longitude=4.31, coord_type_input="wgs84",
        loc_time=int(time.time()))
    times = []
    for _ in range(1000):
        answer = client.get("fence/querystatus", monitored_person="probe")
        times.append(client.milliseconds)
        if answer["size"] != 1000:
            sys.exit(f"bench: fence/querystatus has {answer['size']} of 1,000 fences")
    times.sort()
    for share in [50, 99]:
        value = times[len(times) * share // 100]
        print(f"server_fences.status.p{share}\t{value:.2f}\tms to the answer over HTTPS, 1,000 fences of the entity")


if sys.argv[1] == "alarms":
    print(sqlite3.connect(sys.argv[2]).execute("SELECT count(*) FROM alarm").fetchone()[0])
    sys.exit()
arguments = sys.argv[5:]
client = Client(*sys.argv[2:5])
if sys.argv[1] == "make":
    make(client, *map(int, arguments))
elif sys.argv[1] == "status":
    status(client)
else:
    change(client, int(arguments[0]))
