"""Has a server export a day of a service, and watches the server meanwhile.

    export.py BASE CA KEY DIRECTORY SERVER POINTS    DIRECTORY: of exports; SERVER: its process; POINTS: that the day has
"""

import os
import ssl
import sys
import time
import json
import urllib.parse
import urllib.request

base, authority, key, directory, server, points = sys.argv[1:7]
points = int(points)
context = ssl.create_default_context(cafile=authority)


def ask(call, **parameters):
    text = urllib.parse.urlencode({"ak": key, "service_id": 1, **parameters})
    with urllib.request.urlopen(f"{base}/api/v3/{call}?{text}", context=context) as answer:
        return json.load(answer)


def processor_seconds():
    fields = open(f"/proc/{server}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def private_kilobytes():
    for line in open(f"/proc/{server}/smaps_rollup"):
        if line.startswith("Anonymous"):
            return int(line.split()[1])
    return 0


def files(ending):
    return [name for name in os.listdir(directory) if name.endswith(ending)] if os.path.isdir(directory) else []


def run():
    """Seconds, CPU seconds and the most kilobytes more than before."""
    memory, processor = private_kilobytes(), processor_seconds()
    end = int(time.time()) // 86_400 * 86_400 - 1
    finished = len(files(".zip"))
    answer = ask("export/createjob", start_time=end - 86_399, end_time=end, coord_type_output="wgs84")
    assert answer["status"] == 0, answer
    while not files(".part"):
        time.sleep(0.005)
    begin, most = time.perf_counter(), 0
    while len(files(".zip")) == finished:
        most = max(most, private_kilobytes() - memory)
        time.sleep(0.02)
    return time.perf_counter() - begin, processor_seconds() - processor, most


# The first job also pays for what the allocator keeps from then on.
first = run()
seconds, processor, most = run()
size = max(os.path.getsize(f"{directory}/{name}") for name in files(".zip"))
print(f"export\t{points / seconds:.0f}\tpoints/s, {points} points of one day")
print(f"export.cpu\t{points / processor:.0f}\tpoints a CPU second of the server")
print(f"export.memory.first\t{first[2]}\tKB more while the first file is written")
print(f"export.memory\t{most}\tKB more while the second file is written")
print(f"export.size\t{size / points:.1f}\tbytes a point in the file")
