"""A peer: posts HTTPS + JSON `track/addpoints` each pack interval over one connection that is kept alive.

What a careful person writes in an afternoon: a queue that outlives an outage, a retry at each pack interval, TLS 1.3.
With --queue the queue is an SQLite file (WAL, synchronous=FULL) committed every --commit seconds, so that its loss
bound can be made the agent's; without it the queue is memory.
"""

import argparse
import collections
import http.client
import json
import socket
import sqlite3
import ssl
import threading
import time
import urllib.parse

import points


class Memory:
    def __init__(self):
        self.items = collections.deque()
        self.lock = threading.Lock()

    def append(self, point):
        with self.lock:
            self.items.append(point)

    def first(self, count):
        with self.lock:
            return [(None, point) for point in list(self.items)[:count]]

    def remove(self, taken):
        with self.lock:
            for _ in taken:
                self.items.popleft()


class Disk:
    def __init__(self, path, commit):
        self.database = sqlite3.connect(path, check_same_thread=False)
        self.database.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
            "CREATE TABLE IF NOT EXISTS point (id INTEGER PRIMARY KEY, json TEXT NOT NULL)")
        self.lock = threading.Lock()
        self.commit_every = commit
        self.committed = time.monotonic()

    def append(self, point):
        with self.lock:
            self.database.execute("INSERT INTO point (json) VALUES (?)", (json.dumps(point, separators=(",", ":")),))
            if time.monotonic() - self.committed >= self.commit_every:
                self.database.commit()
                self.committed = time.monotonic()

    def first(self, count):
        with self.lock:
            rows = self.database.execute("SELECT id, json FROM point ORDER BY id LIMIT ?", (count,)).fetchall()
        return [(number, json.loads(text)) for number, text in rows]

    def remove(self, taken):
        with self.lock:
            self.database.executemany("DELETE FROM point WHERE id = ?", [(number,) for number, _ in taken])
            self.database.commit()
            self.committed = time.monotonic()


def uploaded(point, entity):
    """The field names of track/addpoints; what the API has no name for (mode, status, satellites) is left out."""
    result = {
        "entity_name": entity, "coord_type_input": "wgs84", "loc_time": int(point["time"]),
        "latitude": round(point["lat"], 7), "longitude": round(point["lon"], 7),
    }
    if "speed" in point:
        result["speed"] = round(point["speed"] * 3.6, 2)
    if "track" in point:
        result["direction"] = int(point["track"])
    if "alt" in point:
        result["height"] = round(point["alt"], 1)
    if "eph" in point:
        result["radius"] = round(point["eph"], 1)
    return result


class Uploader:
    def __init__(self, options):
        self.options = options
        self.context = ssl.create_default_context(cafile=options.ca)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.connection = None

    def connect(self):
        host, port = self.options.server.rsplit(":", 1)
        self.connection = http.client.HTTPSConnection(host, int(port), timeout=20, context=self.context)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, batch):
        """True when the server has stored the batch."""
        try:
            if self.connection is None:
                self.connect()
            body = urllib.parse.urlencode({
                "ak": self.options.ak, "service_id": self.options.service,
                "point_list": json.dumps([uploaded(p, self.options.entity) for _, p in batch], separators=(",", ":")),
            })
            self.connection.request(
                "POST", "/api/v3/track/addpoints", body, {"Content-Type": "application/x-www-form-urlencoded"})
            answer = json.loads(self.connection.getresponse().read())
            return answer["status"] == 0
        except (OSError, http.client.HTTPException, ValueError):
            self.connection = None
            return False


def main():
    parser = argparse.ArgumentParser()
    for name in ("server", "ca", "ak", "service", "entity", "gpsd", "start"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--gather", type=float, required=True)
    parser.add_argument("--pack", type=float, required=True)
    parser.add_argument("--queue")
    parser.add_argument("--commit", type=float, default=0)
    options = parser.parse_args()
    queue = Disk(options.queue, options.commit) if options.queue else Memory()
    uploader = Uploader(options)
    try:
        uploader.connect()
    except OSError:
        uploader.connection = None
    points.wait_for_start(options.start)

    def gather():
        while True:
            try:
                host, port = options.gpsd.rsplit(":", 1)
                with socket.create_connection((host, int(port))) as gpsd:
                    gpsd.sendall(b'?WATCH={"enable":true,"json":true};\n')
                    for point in points.chosen(gpsd.makefile(encoding="utf-8"), options.gather):
                        queue.append(point)
            except OSError:
                pass
            time.sleep(1)

    threading.Thread(target=gather, daemon=True).start()
    while True:
        time.sleep(options.pack)
        while batch := queue.first(100):
            if not uploader.post(batch):
                break
            queue.remove(batch)


main()
