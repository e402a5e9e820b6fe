#!/usr/bin/env bash
set -euo pipefail
: "${DATABASE_URL:?}" "${BACKUP_BUCKET:?}" "${AGE_RECIPIENT:?}"

name="$(date +%F).dump.age"
tmp="$(mktemp)"
trap 'rm -f "$tmp"' EXIT

pg_dump -Fc "$DATABASE_URL" | age -r "$AGE_RECIPIENT" > "$tmp"
aws s3 cp "$tmp" "s3://$BACKUP_BUCKET/pg/$name" --sse AES256
echo "uploaded $name ($(stat -c %s "$tmp") bytes)"
