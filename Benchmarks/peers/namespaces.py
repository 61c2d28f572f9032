"""Network namespaces of the comparison's own: a hub with gpsd and the servers, and one for each client.

Each client has two cables to the hub: one for what it uploads, whose counters are read, and one for gpsd, whose bytes
do not count. Nothing touches the machine's own network.
"""

import os
import pathlib
import subprocess

HUB_ADDRESS = "10.99.0.1"


def run(*arguments, check=True):
    return subprocess.run(arguments, check=check, capture_output=True, text=True)


class Network:
    def __init__(self):
        self.prefix = f"skb{os.getpid()}"
        self.hub = f"{self.prefix}-hub"
        self.names = []
        self.add(self.hub)
        # One address for all servers: what a client is told does not depend on its cable.
        run("ip", "-n", self.hub, "address", "add", f"{HUB_ADDRESS}/32", "dev", "lo")

    def add(self, name):
        run("ip", "netns", "add", name)
        self.names.append(name)
        for key in ("all", "default"):
            run("ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv6.conf.{key}.disable_ipv6=1", check=False)
        run("ip", "-n", name, "link", "set", "lo", "up")

    def client(self, number):
        """A namespace with its two cables; returns its name."""
        name = f"{self.prefix}-{number}"
        self.add(name)
        for cable, net in (("up", "10.97"), ("gps", "10.98")):
            near, far = f"{cable}{number}", f"{cable}h{number}"
            run("ip", "-n", self.hub, "link", "add", far, "type", "veth", "peer", "name", near, "netns", name)
            for end, space, address in ((far, self.hub, f"{net}.{number}.1/24"), (near, name, f"{net}.{number}.2/24")):
                # A segment is a packet, as on a real cable: no segmentation offload hides headers.
                run("ip", "-n", space, "link", "set", end, "gso_max_segs", "1", check=False)
                run("ip", "-n", space, "address", "add", address, "dev", end)
                run("ip", "-n", space, "link", "set", end, "up")
        run("ip", "-n", name, "route", "add", f"{HUB_ADDRESS}/32", "via", f"10.97.{number}.1")
        self.fix_neighbours(number, name)
        return name

    def fix_neighbours(self, number, name):
        """Address resolution is not the clients' traffic."""
        def hardware(space, device):
            return run("ip", "netns", "exec", space, "cat", f"/sys/class/net/{device}/address").stdout.strip()
        near, far = f"up{number}", f"uph{number}"
        run("ip", "-n", name, "neighbour", "replace", f"10.97.{number}.1", "lladdr", hardware(self.hub, far),
            "dev", near, "nud", "permanent")
        run("ip", "-n", self.hub, "neighbour", "replace", f"10.97.{number}.2", "lladdr", hardware(name, near),
            "dev", far, "nud", "permanent")

    def cable(self, number, name, isUp):
        """Pulls or plugs the upload cable at the client's end."""
        run("ip", "-n", name, "link", "set", f"up{number}", "up" if isUp else "down")
        if isUp:
            run("ip", "-n", name, "route", "replace", f"{HUB_ADDRESS}/32", "via", f"10.97.{number}.1")
            self.fix_neighbours(number, name)

    def ip_bytes(self, number):
        """Bytes of IP packets on the upload cable, both directions, headers included; packets."""
        text = run("ip", "netns", "exec", self.hub, "cat",
                   *[f"/sys/class/net/uph{number}/statistics/{d}_{w}" for d in ("rx", "tx") for w in ("bytes", "packets")])
        values = [int(v) for v in text.stdout.split()]
        packets = values[1] + values[3]
        return values[0] + values[2] - 14 * packets, packets

    def processes(self, name):
        return [int(pid) for pid in run("ip", "netns", "pids", name).stdout.split()]

    def start(self, name, command, **options):
        return subprocess.Popen(["ip", "netns", "exec", name, *command], **options)

    def remove(self):
        for name in self.names:
            for process in self.processes(name):
                try:
                    os.kill(process, 9)
                except ProcessLookupError:
                    pass
            run("ip", "netns", "delete", name, check=False)


def usage(processes):
    """CPU seconds, RSS in bytes, private anonymous bytes and bytes caused to be written to disks, summed."""
    ticks = os.sysconf("SC_CLK_TCK")
    cpu = rss = private = written = 0
    for process in processes:
        folder = pathlib.Path(f"/proc/{process}")
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            cpu += (int(fields[11]) + int(fields[12])) / ticks
            for line in (folder / "smaps_rollup").read_text().splitlines():
                if line.startswith("Rss:"):
                    rss += int(line.split()[1]) * 1024
                if line.startswith("Anonymous:"):
                    private += int(line.split()[1]) * 1024
            for line in (folder / "io").read_text().splitlines():
                if line.startswith("write_bytes:"):
                    written += int(line.split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return {"cpu": cpu, "rss": rss, "private": private, "written": written}
