"""The table of figures beside their budgets, and the same as JSON.

    report.py FIGURES.tsv OUTPUT.json
"""

import json
import os
import sys

# Of docs/benchmarks.md; what has no entry is told without a verdict.
BUDGETS = {
    "size.saker": ("<=", 29),
    "wire.live": ("<=", 12),
    "wire.backlog": ("<=", 7),
    "analysis.all": ("<=", 20),
    "cache.unsynced.p99": ("<=", 1000),
    "cache.open_60mb": ("<=", 300),
    "fences.f2.batch_6": (">=", 400_000),
    "fences.f2.batch_1000": (">=", 1_000_000),
    "fences.f3.batch_6": (">=", 150_000),
    "fences.change.p99": ("<=", 20),
    "fences.agent_memory": ("<=", 0.5),
    "disk.each.own": ("<=", 8192),
    "disk.60s.own": ("<=", 400),
    "control.slowest": ("<=", 50),
    "control.full.slowest": ("<=", 50),
    "control.fence_status.p99": ("<=", 5),
    "drain": ("<=", 10),
    "agent.cpu": ("<=", 0.3),
    "agent.backlog.rss": ("<=", 20),
    "agent.backlog.private_anonymous": ("<=", 6),
    "server.ingest": (">=", 200_000),
    "server_fences.ingest.batch_6.cpu_share": (">=", 85),
    "server_fences.ingest.batch_1000.cpu_share": (">=", 85),
    "server_fences.change.p99": ("<=", 20),
    "server_fences.status.p99": ("<=", 5),
    "agent_fences.circles.growth": ("<=", 0.5),
    "agent_fences.polygons.growth": ("<=", 0.5),
    "agent_fences.decimals.growth": ("<=", 0.5),
    "agent_fences.circles.cpu_growth": ("<=", 0.02),
    "agent_fences.polygons.cpu_growth": ("<=", 0.02),
    "agent_fences.decimals.cpu_growth": ("<=", 0.02),
    "web.distance.p99": ("<=", 8),
    "web.distance.kept.p99": ("<=", 1),
    "search.bounds.p99": ("<=", 20),
    "search.around.p99": ("<=", 20),
    "search.text.p99": ("<=", 50),
    "search.text.short.p99": ("<=", 50),
    "search.text.two.p99": ("<=", 50),
    "search.live.slower": ("<=", 10),
    "request.gettrack": ("<=", 4),
    "request.processed": ("<=", 4),
    "request.getdistance": ("<=", 4),
    "export": (">=", 200_000),
    "export.memory": ("<=", 10_240),
    "roads.day.cold": ("<=", 1000),
    "roads.day.warm": ("<=", 20),
    "server.live": (">=", 10_000),
    "server.connection.rss": ("<=", 60),
    "server.connection.private_anonymous": ("<=", 60),
    "server.connections": (">=", 20_000),
    "server.store": ("<=", 10),
    "peers.https_to_saker": (">=", 10),
    "web.latest.p99": ("<=", 5),
    "web.latest.beside.p95": ("<=", 5),
    "web.day.p99": ("<=", 50),
}


def main():
    rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
    result = []
    print(f"{'what':38} {'figure':>12} {'unit':44} {'budget':>10}  verdict")
    for name, text, unit in rows:
        value = float(text)
        sign, bound = BUDGETS.get(name, ("", None))
        met = None if bound is None else (value <= bound if sign == "<=" else value >= bound)
        verdict = "" if met is None else ("met" if met else "MISSED")
        shown = f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"
        budget = "" if bound is None else f"{sign} {bound:,}"
        print(f"{name:38} {shown:>12} {unit:44} {budget:>10}  {verdict}")
        result.append({"name": name, "value": value, "unit": unit, "budget": budget, "met": met})
    with open(sys.argv[2], "w") as file:
        json.dump({"cores": os.cpu_count(), "load": os.getloadavg(), "figures": result}, file, indent=1)


main()
