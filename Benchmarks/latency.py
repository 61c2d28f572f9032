"""Latencies of the Web API over HTTPS with keep-alive: the latest point, and a whole day's track page by page.

    latency.py BASE-ADDRESS CA.pem ACCESS-KEY ENTITY YYYY-MM-DD SERVER-PROCESS
    latency.py BASE-ADDRESS CA.pem ACCESS-KEY ENTITY beside SERVER-PROCESS      the latest point alone, beside a load
"""

import datetime
import http.client
import json
import os
import ssl
import sys
import time
import urllib.parse

LATEST, DAYS, PAGE, POINTS = 2000, 200, 5000, 17_280
# Seconds of answers beside a load, at most.
BESIDE = 20


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000


def processor_seconds(process):
    fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    base, authority, key, entity, day, process = sys.argv[1:]
    address = urllib.parse.urlsplit(base)
    connection = http.client.HTTPSConnection(
        address.hostname, address.port, context=ssl.create_default_context(cafile=authority), timeout=30)

    def ask(call, **parameters):
        query = urllib.parse.urlencode({"ak": key, "service_id": 1, "entity_name": entity, **parameters})
        begin = time.perf_counter()
        connection.request("GET", f"/api/v3/track/{call}?{query}")
        body = connection.getresponse().read()
        seconds = time.perf_counter() - begin
        # Reading the JSON is the client's affair.
        answer = json.loads(body)
        if answer["status"] != 0:
            sys.exit(f"latency.py: {call} answered {answer['status']}: {answer['message']}")
        return seconds, answer

    if day == "beside":
        times = []
        while sum(times) < BESIDE and len(times) < LATEST:
            times.append(ask("getlatestpoint", coord_type_output="wgs84")[0])
        for share, label in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
            print(f"web.latest.beside.{label}\t{quantile(times, share):.2f}\tms over HTTPS, {len(times)} requests")
        return

    begin = int(datetime.datetime.fromisoformat(day + "T00:00:00+00:00").timestamp())

    def range_of(number):
        # The server keeps what it read of a range. So each cold reading asks for another range with the same points.
        return {"start_time": begin - number, "end_time": begin - number + 86_400}

    def whole_day(number):
        """Seconds of all pages together, and of each."""
        pages, points = [], 0
        for index in range(1, POINTS // PAGE + 2):
            seconds, answer = ask(
                "gettrack", **range_of(number), page_index=index, page_size=PAGE, coord_type_output="wgs84")
            pages.append(seconds)
            points += len(answer["points"])
        # The receiver's first seconds are without a fix, so that the drive's end is on the next day.
        if points < POINTS - DAYS - 10:
            sys.exit(f"latency.py: the day has {points} points")
        return sum(pages), pages

    latest = [ask("getlatestpoint", coord_type_output="wgs84")[0] for _ in range(LATEST)]
    used = processor_seconds(process)
    days, pages = zip(*[whole_day(number) for number in range(DAYS)])
    used = (processor_seconds(process) - used) / DAYS
    kept = [whole_day(DAYS)[0] for _ in range(DAYS + 1)][1:]
    # Ranges that nobody asked for before.
    distances = [ask("getdistance", **range_of(DAYS + 1 + number))[0] for number in range(DAYS)]
    again = [ask("getdistance", **range_of(2 * DAYS))[0] for _ in range(5 * DAYS)]
    print(f"web.day.cpu\t{used * 1000:.1f}\tms of the server's CPU a day in pages of {PAGE:,}")
    for name, values, unit in (
        ("web.latest", latest, "ms over HTTPS"),
        ("web.day", days, f"ms over HTTPS, {POINTS:,} points in pages of {PAGE:,}"),
        ("web.day.page", sum(pages, []), "ms over HTTPS"),
        ("web.day.kept", kept, "ms over HTTPS, a range that was asked for before"),
        ("web.distance", distances, f"ms over HTTPS, {POINTS:,} points"),
        ("web.distance.kept", again, "ms over HTTPS, a range that was asked for before"),
    ):
        for share, label in ((0.5, "p50"), (0.99, "p99")):
            print(f"{name}.{label}\t{quantile(values, share):.2f}\t{unit}")


main()
