"""How long the agent's event loop is held up by a large import of fences: the slowest answer to GetStatus, which another
connection asks for all the time, without an import and during it.

    fence-import.py SOCKET [FENCES] [VERTICES]

Each fence is a polygon with so many vertices. The agent keeps at most 200,000 vertices.
"""

import json
import math
import socket
import sys
import threading
import time


class Agent:
    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.connect(path)

    def call(self, method, parameters):
        message = json.dumps({"method": f"io.saker.Agent.{method}", "parameters": parameters}, separators=(",", ":"))
        self.connection.sendall(message.encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            part = self.connection.recv(1 << 20)
            if not part:
                sys.exit(f"fence-import.py: the agent closed the connection at {method}")
            answer += part
        return json.loads(answer[:-1])


def polygon(number, vertices):
    north, east = 52 + number % 100 / 100, 4 + number // 100 / 100
    points = [
        [round(north + 0.003 * math.cos(2 * math.pi * i / vertices), 9),
         round(east + 0.005 * math.sin(2 * math.pi * i / vertices), 9)]
        for i in range(vertices)
    ]
    return json.dumps({
        "name": f"yard {number}", "origin": {"file": "bench", "feature": str(number)}, "watch": "#allentity",
        "shape": {"kind": "polygon", "parts": [[points]]},
    }, separators=(",", ":"))


def main():
    path = sys.argv[1]
    fences = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    vertices = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    text = "\n".join(polygon(number, vertices) for number in range(fences)) + "\n"
    parts = [text[start:start + 400_000] for start in range(0, len(text), 400_000)]
    waits, ended = [], threading.Event()

    def ask():
        agent = Agent(path)
        while not ended.is_set():
            begin = time.perf_counter()
            agent.call("GetStatus", {})
            waits.append(time.perf_counter() - begin)
            time.sleep(0.005)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(2)
    before, known = max(waits), len(waits)
    importer, begin = Agent(path), time.perf_counter()
    for number, part in enumerate(parts):
        answer = importer.call("ImportFences", {
            "file": "bench", "text": part, "import_id": "bench", "part": number, "last": number == len(parts) - 1})
        if "error" in answer:
            ended.set()
            sys.exit(f"fence-import.py: {answer}"[:500])
    duration = time.perf_counter() - begin
    time.sleep(0.5)
    ended.set()
    asking.join()
    during = sorted(waits[known:])
    print(f"fence_import.bytes\t{len(text)}\tbytes in {len(parts)} parts, {fences} fences of {vertices} vertices")
    print(f"fence_import.duration\t{duration * 1000:.0f}\tms")
    print(f"fence_import.idle\t{before * 1000:.1f}\tms, the slowest GetStatus without an import")
    print(f"fence_import.slowest\t{during[-1] * 1000:.1f}\tms, the slowest GetStatus during the import")
    print(f"fence_import.p99\t{during[len(during) * 99 // 100] * 1000:.1f}\tms, {len(during)} calls")


main()
