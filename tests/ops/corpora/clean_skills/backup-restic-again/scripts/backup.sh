#!/usr/bin/env bash
# Nightly backup with restic. Exits non-zero on any problem, so that the timer shows it.
set -euo pipefail
source /etc/restic/env

exec 9>/run/lock/restic.lock
flock -n 9 || { echo "another backup is running" >&2; exit 1; }

restic backup /home /etc /var/lib/postgresql/dumps \
    --exclude-caches --exclude '**/node_modules' --exclude '**/.cache' --tag nightly
restic forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --prune
restic check --read-data-subset=2%

if [[ -n "${HEALTHCHECK_URL:-}" ]]; then
    curl -fsS -m 10 --retry 3 "$HEALTHCHECK_URL" > /dev/null
fi
