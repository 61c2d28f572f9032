#!/usr/bin/env bash
# The disk ring in one process: append latency, opening 60 MB.
. "$(dirname "$0")/common.sh"

mkdir "$work/ring"
"$built/saker-bench" cache "$work/ring" >>"$figures"
