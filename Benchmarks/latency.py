"""Latencies of the Web API over HTTPS with keep-alive: the latest point, and a whole day's track page by page.

    latency.py BASE-ADDRESS CA.pem ACCESS-KEY ENTITY YYYY-MM-DD SERVER-PROCESS
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

    begin = int(datetime.datetime.fromisoformat(day + "T00:00:00+00:00").timestamp())
    latest = [ask("getlatestpoint", coord_type_output="wgs84")[0] for _ in range(LATEST)]
    days, pages = [], []
    used = processor_seconds(process)
    for _ in range(DAYS):
        total, points = 0.0, 0
        for index in range(1, POINTS // PAGE + 2):
            seconds, answer = ask(
                "gettrack", start_time=begin, end_time=begin + 86_399, page_index=index, page_size=PAGE,
                coord_type_output="wgs84")
            pages.append(seconds)
            total += seconds
            points += len(answer["points"])
        # The receiver's first seconds are without a fix, so that the drive's end is on the next day.
        if points < POINTS - 10:
            sys.exit(f"latency.py: the day has {points} points")
        days.append(total)
    used = (processor_seconds(process) - used) / DAYS
    print(f"web.day.cpu\t{used * 1000:.1f}\tms of the server's CPU a day in pages of {PAGE:,}")
    for name, values, unit in (
        ("web.latest", latest, "ms over HTTPS"),
        ("web.day", days, f"ms over HTTPS, {POINTS:,} points in pages of {PAGE:,}"),
        ("web.day.page", pages, "ms over HTTPS"),
    ):
        for share, label in ((0.5, "p50"), (0.99, "p99")):
            print(f"{name}.{label}\t{quantile(values, share):.2f}\t{unit}")


main()
