#!/usr/bin/env bash
# fails when a staged secrets file is not encrypted
set -euo pipefail
bad=0
while IFS= read -r f; do
  if ! grep -q '^sops:' "$f"; then
    echo "not encrypted: $f" >&2
    bad=1
  fi
done < <(git diff --cached --name-only --diff-filter=AM -- 'secrets/*.yaml')
exit "$bad"
