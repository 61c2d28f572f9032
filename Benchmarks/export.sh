#!/usr/bin/env bash
# The file of an export: how fast it is written, and what memory that takes.
#   VEHICLES=100    each with a day of 17,280 points
. "$(dirname "$0")/common.sh"

here=$(dirname "$0")
vehicles=${VEHICLES:-100}

make_server
server_setting exports minimum_age 0
server_setting store merge_interval 1
serve
fleet day --mode backlog --vehicles "$vehicles" --points 17280 --start-time "$(date -u -d yesterday +%F)T00:00:00Z"
python3 "$here/export.py" "https://127.0.0.1:$https_port" "$work/server/ca.pem" "$access_key" "$work/server/exports" "$server" \
    "$((vehicles * 17280))" >>"$figures"
end_server
