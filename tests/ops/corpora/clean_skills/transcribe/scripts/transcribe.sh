#!/usr/bin/env bash
# usage: transcribe.sh FILE [LANGUAGE]
set -euo pipefail

file=${1:?usage: transcribe.sh FILE [LANGUAGE]}
lang=${2:-}

: "${OPENAI_API_KEY:?OPENAI_API_KEY is not set}"
[ -r "$file" ] || { echo "cannot read $file" >&2; exit 1; }

args=(-F "file=@$file" -F "model=whisper-1" -F "response_format=text")
[ -n "$lang" ] && args+=(-F "language=$lang")

curl -sS --fail https://api.openai.com/v1/audio/transcriptions \
  -H "Authorization: Bearer $OPENAI_API_KEY" "${args[@]}"
