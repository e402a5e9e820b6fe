#!/usr/bin/env bash
# writes one line a second, for N seconds
set -euo pipefail
n="${1:-60}"
fields=timestamp,index,utilization.gpu,memory.used,temperature.gpu,power.draw
nvidia-smi --query-gpu="$fields" --format=csv,noheader,nounits -l 1 &
pid=$!
trap 'kill "$pid" 2>/dev/null || true' EXIT
sleep "$n"
