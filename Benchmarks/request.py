"""The memory of one request, KiB: the highest while it is answered, above that before it.

    request.py BASE CA KEY gettrack|processed|getdistance SERVER-PROCESS POINTS
"""

import datetime
import http.client
import json
import ssl
import sys
import time
from urllib.parse import urlencode, urlsplit

base, authority, key, kind, server, points = sys.argv[1:]
place = urlsplit(base)
connection = http.client.HTTPSConnection(
    place.hostname, place.port, context=ssl.create_default_context(cafile=authority), timeout=30)
begin = int(datetime.datetime.fromisoformat("2026-03-14T00:00:00+00:00").timestamp())
call = "getdistance" if kind == "getdistance" else "gettrack"
options = {} if kind == "getdistance" else {"page_size": 5000, "coord_type_output": "wgs84"}
if kind == "processed":
    options |= {"is_processed": 1, "process_option": "denoise_grade=1,vacuate_grade=1"}


def ask(entity, seconds):
    query = urlencode({"ak": key, "service_id": 1, "entity_name": entity, "start_time": begin,
                       "end_time": begin + seconds, **options})
    connection.request("GET", f"/api/v3/track/{call}?{query}")
    answer = json.loads(connection.getresponse().read())
    if answer["status"] != 0:
        sys.exit(f"request.py: {call} answered {answer['status']}: {answer['message']}")
    return answer


def memory(name):
    with open(f"/proc/{server}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


# What the first request of all brings into memory: code, the connection, the store's statements.
for _ in range(5):
    ask("small-0", 600)
time.sleep(1)
with open(f"/proc/{server}/clear_refs", "w") as file:
    # The highest so far counts no more.
    file.write("5")
before = memory("VmRSS")
answer = ask("track-0", 86_400)
if kind == "gettrack" and answer["total"] < int(points) * 0.98:
    sys.exit(f"request.py: the track has {answer['total']} points")
print(memory("VmHWM") - before)
