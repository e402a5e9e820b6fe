#!/usr/bin/env bash
# Builds the site and copies it to the server given as the first argument.
set -euo pipefail

host="${1:?usage: deploy.sh user@host}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

cd "$here"
rm -rf build
npm ci --silent
npm run build

if [[ ! -s build/index.html ]]; then
  echo "build/index.html is missing, nothing was deployed" >&2
  exit 1
fi

rsync -avz --delete -e "ssh -i $HOME/.ssh/deploy_key" build/ "$host:/var/www/site/"
curl -fsS "https://example.com/healthz" >/dev/null && echo "deployed"
