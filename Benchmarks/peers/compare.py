"""Saker beside what a person would otherwise pick: gpspipe + mosquitto_pub, and a Python client posting HTTPS + JSON.

The same fixes in true time from one real gpsd, the same intervals, TLS 1.3 for all, several latencies. Every
byte of every IP packet is counted on a cable of each client's own; handshakes and silence are counted apart. Then the
cables are pulled, and then the clients are killed with the cables pulled. Needs root (network namespaces).
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

from clients import HTTPS, MQTT, Saker
from namespaces import HUB_ADDRESS, Network, usage
from points import seconds


class Lab:
    """The hub: gpsd on a simulated drive, saker-server, mosquitto, and a subscriber that writes down what arrives."""

    gpsd_port, device_port, web_port, mqtt_port, mqtt_plain_port = 2947, 7443, 8443, 8883, 1883

    def __init__(self, built):
        self.built = pathlib.Path(built).resolve()
        # On a real disk: what is written while offline is one of the figures.
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="saker-peers-", dir="/var/tmp"))
        self.work.chmod(0o755)
        self.network = Network()
        self.authority = self.work / "server-ca.pem"
        self.start_servers()

    def program(self, name):
        return str(self.built / name)

    def wait(self, seconds, what, condition):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"compare: waited {seconds} s for {what}; its files are in {self.work}")
            time.sleep(0.1)

    def in_hub(self, name, *command):
        log = open(self.work / f"{name}.log", "wb")
        return self.network.start(self.network.hub, [*command], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def listens(self, port):
        return f":{port} " in subprocess.run(
            ["ip", "netns", "exec", self.network.hub, "ss", "--tcp", "--listening", "--numeric"],
            capture_output=True, text=True).stdout

    def start_servers(self):
        made = subprocess.run(
            [self.program("saker-server"), "init", "--directory", self.work / "server", "--host", HUB_ADDRESS,
             "--name", "Peers", "--device-port", str(self.device_port), "--https-port", str(self.web_port),
             "--http-port", "0", "--legacy-device"], check=True, capture_output=True, text=True).stdout
        self.enrolment = next(word for word in made.split() if word.startswith("saker1:"))
        probe = self.work / "probe"
        subprocess.run([self.program("saker"), "enroll", "-", "--directory", probe, "--entity", "probe"],
                       input=self.enrolment + "\n", text=True, check=True, capture_output=True)
        self.key = (probe / "credentials/ak").read_text().strip()
        shutil.copy(probe / "ca.pem", self.authority)
        self.in_hub("server", self.program("saker-server"), "serve", "--config", str(self.work / "server/server.toml"))
        self.in_hub("simulator", self.program("saker-sim"), "drive", "--listen", "127.0.0.1:2950", "--rate", "1",
                    "--seed", "7")
        self.wait(20, "the simulated drive", lambda: self.listens(2950))
        self.in_hub("gpsd", shutil.which("gpsd", path="/usr/sbin:/usr/bin"), "-G", "-N", "-n", "-S",
                    str(self.gpsd_port), "tcp://127.0.0.1:2950")
        self.start_broker()
        for port in (self.device_port, self.web_port, self.gpsd_port, self.mqtt_port):
            self.wait(20, f"port {port}", lambda: self.listens(port))
        self.witness = open(self.work / "witness", "wb")
        self.network.start(self.network.hub, ["gpspipe", "-w", f"127.0.0.1:{self.gpsd_port}"], stdout=self.witness,
                           stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def fixes(self, begin, end, gather):
        """Gather intervals of a time range in which gpsd had a fix: what could be gathered at all."""
        slots = set()
        for line in (self.work / "witness").read_text(errors="replace").splitlines():
            try:
                report = json.loads(line)
            except ValueError:
                continue
            if report.get("class") == "TPV" and report.get("mode", 0) >= 2 and "time" in report:
                at = seconds(report["time"])
                if begin <= at < end:
                    slots.add(at // gather)
        return len(slots)

    def start_broker(self):
        folder = self.work / "broker"
        folder.mkdir()
        self.mqtt_authority = folder / "ca.pem"
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)
        # The same kind of chain as saker-server's own: P-256, one authority, one server certificate.
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=Peers CA", "-keyout", "ca.key", "-out", "ca.pem")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=broker",
                "-keyout", "key.pem", "-out", "request.pem")
        (folder / "extensions").write_text(f"subjectAltName=IP:{HUB_ADDRESS}\n")
        openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "30", "-extfile", "extensions", "-out", "certificate.pem")
        (folder / "configuration").write_text(f"""
user root
listener {self.mqtt_port} 0.0.0.0
cafile {folder}/ca.pem
certfile {folder}/certificate.pem
keyfile {folder}/key.pem
tls_version tlsv1.3
allow_anonymous true
listener {self.mqtt_plain_port} 127.0.0.1
allow_anonymous true
max_queued_messages 0
""")
        self.in_hub("broker", "/usr/sbin/mosquitto", "-c", str(folder / "configuration"))
        self.wait(10, "the broker", lambda: self.listens(self.mqtt_plain_port))
        self.network.start(
            self.network.hub,
            ["mosquitto_sub", "-p", str(self.mqtt_plain_port), "-t", "track/#", "-v", "-q", "1", "-i", "listener"],
            stdout=open(self.work / "messages", "wb"), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def stored(self, entity):
        """Times of the stored points of an entity, by the Web API."""
        times = []
        now = int(time.time())
        for page in range(1, 100):
            query = urllib.parse.urlencode({
                "ak": self.key, "service_id": 1, "entity_name": entity, "start_time": now - 20_000,
                "end_time": now + 600, "page_size": 5000, "page_index": page})
            answer = json.loads(self.network_get(f"/api/v3/track/gettrack?{query}"))
            if answer.get("status") == 3003:
                return []
            points = answer["points"]
            times += [point["loc_time"] for point in points]
            if len(points) < 5000:
                return times
        return times

    def network_get(self, path):
        return subprocess.run(
            ["ip", "netns", "exec", self.network.hub, "curl", "--silent", "--show-error", "--cacert", self.authority,
             f"https://{HUB_ADDRESS}:{self.web_port}{path}"], check=True, capture_output=True, text=True).stdout


def sample(lab, client):
    total, packets = lab.network.ip_bytes(client.number)
    return {"ip": total, "packets": packets, **usage(client.processes())}


def within(times, begin, end):
    return [t for t in times if begin <= t < end]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--built", required=True, help="directory of the built programs")
    parser.add_argument("--minutes", type=float, default=10, help="true time of the steady run")
    parser.add_argument("--outage", type=float, default=10, help="minutes with the cables pulled")
    parser.add_argument("--figures", help="append every figure to this file, as the other groups do")
    options = parser.parse_args()
    lab = Lab(options.built)
    try:
        results = measure(lab, options)
    finally:
        lab.network.remove()
    report(results)
    if options.figures:
        with open(options.figures, "a") as file:
            write_figures(results, file)
    shutil.rmtree(lab.work)


def measure(lab, options):
    # Gather and pack interval in seconds. Two seconds is the least that the service model allows.
    clients = [
        kind(lab, f"{name}-{gather}-{pack}", gather, pack)
        for gather, pack in ((2, 2), (2, 10), (2, 60), (5, 30))
        for kind, name in ((Saker, "saker"), (MQTT, "mqtt"), (HTTPS, "https"))
    ]
    # The same loss bound for all: every point, and sixty seconds of them.
    durable = [
        Saker(lab, "saker-2-60-sync60", 2, 60, sync=60),
        HTTPS(lab, "https-2-60-sqlite", 2, 60, commit=0),
        HTTPS(lab, "https-2-60-sqlite60", 2, 60, commit=60),
    ]
    silent = [Saker(lab, "saker-silent", 2, None), MQTT(lab, "mqtt-silent", 2, None)]
    everyone = clients + durable + silent
    for client in everyone:
        client.start()
    for client in everyone:
        client.connect()
    time.sleep(5)
    results = {c.name: {"handshake": sample(lab, c)["ip"]} for c in everyone}

    # Steady: whole pack intervals, from a moment when the first packs are over.
    for client in everyone:
        client.go()
    time.sleep(70)
    before = {c.name: sample(lab, c) for c in everyone}
    begin = int(time.time())
    time.sleep(options.minutes * 60)
    after = {c.name: sample(lab, c) for c in everyone}
    span = time.time() - begin
    for client in everyone:
        a, b = before[client.name], after[client.name]
        points = span / client.gather if client.pack else None
        results[client.name] |= {
            "ip_bytes_per_point": (b["ip"] - a["ip"]) / points if points else None,
            "ip_bytes_per_minute": (b["ip"] - a["ip"]) / span * 60,
            "packets_per_minute": (b["packets"] - a["packets"]) / span * 60,
            "cpu_percent": 100 * (b["cpu"] - a["cpu"]) / span, "rss": b["rss"], "private": b["private"],
            "disk_bytes_per_point_online": (b["written"] - a["written"]) / points if points else None,
        }

    speaking = clients + durable
    outage(lab, speaking, results, "outage", options.outage * 60, kill_after=None)
    outage(lab, speaking, results, "kill", 90, kill_after=60)
    for client in speaking:
        times = client.delivered()
        results[client.name]["doubled"] = sum(n - 1 for n in collections.Counter(times).values())
    return results


def outage(lab, clients, results, name, length, kill_after):
    """Pulls the cables, kills everyone meanwhile or not, plugs them in again, and counts what is missing at the end."""
    before = {c.name: sample(lab, c) for c in clients}
    begin = int(time.time())
    for client in clients:
        lab.network.cable(client.number, client.space, isUp=False)
    if kill_after:
        time.sleep(kill_after)
        for client in clients:
            client.kill()
        for client in clients:
            client.start()
        time.sleep(length - kill_after)
    else:
        time.sleep(length)
        for client in clients:
            written = sample(lab, client)["written"] - before[client.name]["written"]
            results[client.name]["disk_bytes_per_point_offline"] = written / (length / client.gather)
    end = int(time.time())
    for client in clients:
        lab.network.cable(client.number, client.space, isUp=True)
    back = time.monotonic()
    waiting = {c.name: c for c in clients}
    # What has not come ten minutes after the cable is back will not come.
    while waiting and time.monotonic() - back < 600:
        time.sleep(5)
        for client in list(waiting.values()):
            times = client.delivered()
            if times and max(times) >= end + 10:
                results[client.name][f"{name}_recovered_after"] = round(time.monotonic() - back)
                del waiting[client.name]
    time.sleep(65)
    for client in clients:
        got = len(set(within(client.delivered(), begin, end)))
        expected = lab.fixes(begin, end, client.gather)
        results[client.name][f"{name}_expected"] = expected
        results[client.name][f"{name}_lost"] = max(0, expected - got)


def report(results):
    columns = [
        ("handshake", "handshake B", 0), ("ip_bytes_per_point", "IP B/point", 1),
        ("ip_bytes_per_minute", "IP B/min", 0), ("packets_per_minute", "packets/min", 1), ("cpu_percent", "CPU %", 3),
        ("rss", "RSS MiB", 1), ("private", "anon MiB", 1), ("disk_bytes_per_point_offline", "disk B/pt offline", 0),
        ("outage_lost", "lost: outage", 0), ("kill_lost", "lost: kill", 0), ("doubled", "doubled", 0),
        ("outage_recovered_after", "back after s", 0),
    ]
    print(f"{'client':20}" + "".join(f"{title:>18}" for _, title, _ in columns))
    for name, values in results.items():
        line = f"{name:20}"
        for key, _, digits in columns:
            value = values.get(key)
            if key in ("rss", "private") and value is not None:
                value /= 1 << 20
            line += f"{'-' if value is None else format(value, f',.{digits}f'):>18}"
        print(line)


UNITS = {
    "handshake": "IP bytes", "ip_bytes_per_point": "IP bytes", "ip_bytes_per_minute": "IP bytes", "rss": "bytes",
    "packets_per_minute": "packets", "cpu_percent": "% of a core", "private": "bytes",
    "disk_bytes_per_point_online": "bytes", "disk_bytes_per_point_offline": "bytes",
}


def write_figures(results, file):
    for name, values in results.items():
        for key, value in values.items():
            if value is not None:
                unit = UNITS.get(key, "s" if key.endswith("_after") else "points")
                file.write(f"peers.{name}.{key}\t{value:.3f}\t{unit}\n")
    ratio = results["https-5-30"]["ip_bytes_per_point"] / results["saker-5-30"]["ip_bytes_per_point"]
    file.write(f"peers.https_to_saker\t{ratio:.1f}\ttimes the IP bytes, 5 s / 30 s\n")


main()
