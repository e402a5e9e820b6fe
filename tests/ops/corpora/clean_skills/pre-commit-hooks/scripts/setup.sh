#!/bin/sh
# Sets up pre-commit in the current repository.
set -eu

root=$(git rev-parse --show-toplevel)
cd "$root"

if ! command -v pre-commit >/dev/null 2>&1; then
  echo "pre-commit is missing. Install it with one of:"
  echo "  uv tool install pre-commit"
  echo "  apt install pre-commit"
  exit 1
fi

if [ ! -f .pre-commit-config.yaml ]; then
  echo "no .pre-commit-config.yaml; see SKILL.md" >&2
  exit 1
fi

echo "installing the hook into $root/.git/hooks"
pre-commit install
pre-commit run -a || echo "some hooks failed or changed files; look at 'git diff'"
