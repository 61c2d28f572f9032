#!/usr/bin/env bash
# Saker beside what a person would otherwise pick, on the same fixes in true time: see peers/compare.py.
#
#   MINUTES=10    the steady run
#   OUTAGE=10     minutes with the cables pulled
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "bench: peers needs root for its network namespaces, and is left out" >&2
    exit 0
fi
scripts/install-deps --bench
python3 Benchmarks/peers/compare.py --built "${built:?a group is started by Benchmarks/run}" \
    --minutes "${MINUTES:-10}" --outage "${OUTAGE:-10}" --figures "${FIGURES:?a group is started by Benchmarks/run}" >&2
