"""The clients of the comparison: what each is started with, and how what it delivered is read."""

import itertools
import json
import os
import pathlib
import subprocess
import sys

from namespaces import HUB_ADDRESS

HERE = pathlib.Path(__file__).resolve().parent


class Client:
    """One client in a namespace of its own. `pack`: its latency in seconds; None: connected and silent."""

    numbers = itertools.count(1)

    def __init__(self, lab, name, gather, pack):
        self.lab, self.name, self.gather, self.pack = lab, name, gather, pack
        self.number = number = next(Client.numbers)
        self.space = lab.network.client(number)
        self.folder = lab.work / name
        self.folder.mkdir()
        self.log = open(self.folder / "log", "wb")
        self.gpsd = f"10.98.{number}.1:{lab.gpsd_port}"

    def launch(self, command):
        self.process = self.lab.network.start(
            self.space, command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)

    def kill(self):
        for process in self.lab.network.processes(self.space):
            try:
                os.kill(process, 9)
            except ProcessLookupError:
                pass
        self.process.wait()

    def processes(self):
        return self.lab.network.processes(self.space)

    def go(self):
        """Begins to gather."""
        (self.folder / "start").touch()


class Saker(Client):
    def __init__(self, lab, name, gather, pack, sync=0):
        super().__init__(lab, name, gather, pack)
        self.socket = str(self.folder / "agent.varlink")
        enrolment = lab.enrolment
        subprocess.run(
            [lab.program("saker"), "enroll", "-", "--directory", self.folder / "agent", "--entity", name],
            input=enrolment + "\n", text=True, check=True, capture_output=True)
        (self.folder / "state").mkdir()
        configuration = self.folder / "agent/agent.toml"
        text = configuration.read_text()
        text = text.replace("# autostart = true", "autostart = false")
        if "autostart = false" not in text:
            text = text.replace("[service]", "[service]\nautostart = false", 1)
        host, port = self.gpsd.rsplit(":", 1)
        text += f"""
[gnss]
host = "{host}"
port = {port}

[cache]
directory = "{self.folder}/cache"
sync_interval = {sync}

[state]
directory = "{self.folder}/state"

[control]
socket = "{self.socket}"
"""
        configuration.write_text(text)

    def start(self):
        self.launch([self.lab.program("sakerd"), "--config", str(self.folder / "agent/agent.toml")])

    def connect(self):
        self.lab.wait(20, f"{self.name}'s control socket", lambda: os.path.exists(self.socket))
        if self.pack:
            self.saker("settings", "intervals", str(self.gather), str(self.pack))
        self.saker("service", "start")

    def go(self):
        if self.pack:
            self.saker("gather", "start")

    def saker(self, *arguments):
        return subprocess.run(
            [self.lab.program("saker"), *arguments], env=os.environ | {"SAKER_SOCKET": self.socket}, check=True,
            capture_output=True, text=True).stdout

    def delivered(self):
        return self.lab.stored(self.name)


class HTTPS(Client):
    def __init__(self, lab, name, gather, pack, commit=None):
        super().__init__(lab, name, gather, pack)
        self.commit = commit

    def start(self):
        queue = [] if self.commit is None else ["--queue", self.folder / "queue.sqlite", "--commit", str(self.commit)]
        self.launch([
            sys.executable, HERE / "https_client.py", "--server", f"{HUB_ADDRESS}:{self.lab.web_port}",
            "--ca", self.lab.authority, "--ak", self.lab.key, "--service", "1", "--entity", self.name,
            "--gpsd", self.gpsd, "--start", self.folder / "start", "--gather", str(self.gather), "--pack", str(self.pack),
            *queue])

    def connect(self):
        pass

    def delivered(self):
        return self.lab.stored(self.name)


class MQTT(Client):
    """gpspipe to mosquitto_pub, kept running by a loop as a service manager would."""

    def start(self):
        middle = f"{sys.executable} {HERE / 'points.py'} {self.folder}/start {self.gather} {self.pack or 1}"
        (self.folder / "run").write_text(f"""#!/bin/sh
while true; do
    gpspipe -w {self.gpsd} | {middle} | mosquitto_pub -h {HUB_ADDRESS} -p {self.lab.mqtt_port} \\
        --cafile {self.lab.mqtt_authority} --tls-version tlsv1.3 -i {self.name} -c -q 1 -k 60 -t track/{self.name} -l
    sleep 1
done
""")
        self.launch(["sh", str(self.folder / "run")])

    def connect(self):
        pass

    def go(self):
        if self.pack:
            super().go()

    def delivered(self):
        times = []
        for line in (self.lab.work / "messages").read_text(errors="replace").splitlines():
            topic, _, payload = line.partition(" ")
            if topic != f"track/{self.name}":
                continue
            try:
                points = json.loads(payload)
            except ValueError:
                continue
            times += [int(p["time"]) for p in (points if isinstance(points, list) else [points])]
        return times
