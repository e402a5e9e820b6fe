#!/usr/bin/env bash
set -euo pipefail
root="${1:?folder}"
yes="${2:-}"

case "$root" in
  /|"$HOME"|"$HOME/") echo "refusing: $root" >&2; exit 1 ;;
esac

while IFS= read -r -d '' d; do
  du -sh "$d"
  if [ "$yes" = "--yes" ]; then
    rm -rf -- "$d"
  fi
done < <(find "$root" -xdev \( -name node_modules -o -name target -o -name .venv \) -type d -prune -print0)
