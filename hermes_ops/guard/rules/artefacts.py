"""Names of what a build, a test run or a package manager makes again by itself, and of junk files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from itertools import pairwise

from .names import names

# Never a project's own: anything inside them goes with them.
_MADE = names(
    "node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .eggs .venv venv .cache "
    ".next .nuxt .svelte-kit .turbo .parcel-cache .angular .output .docusaurus .expo .gradle "
    ".dart_tool bower_components jspm_packages .pnpm-store .stack-work dist-newstyle zig-cache "
    ".zig-cache zig-out CMakeFiles .hypothesis .nyc_output htmlcov .benchmarks .pytype .pyre "
    ".ipynb_checkpoints .serverless .aws-sam cdk.out .terraform .vercel .netlify DerivedData Pods "
    "elm-stuff storybook-static test-results playwright-report .sass-cache .eslintcache "
    ".stylelintcache .webpack .rpt2_cache .fusebox .vite .astro .remix .cxx .bloop .metals bazel-bin "
    "bazel-out bazel-testlogs buck-out _site .jekyll-cache .phpunit.result.cache allure-results "
    "lcov-report nimcache .coverage_cache .pdm-build .scannerwork .gocache .cargo-target"
)
# Artefacts when the path is given from the project's folder, or ends in them.
_OFTEN = names(
    "build dist out target coverage tmp temp .tmp .temp obj cache caches _build builds release-build "
    "debug-build artifacts .build Debug Release"
)
# What tools keep of what they downloaded, in a folder of theirs.
_CACHES = frozenset(
    {
        (".npm", "_cacache"),
        (".npm", "_npx"),
        (".m2", "repository"),
        (".gradle", "caches"),
        (".cargo", "registry"),
        (".cargo", "git"),
        (".nuget", "packages"),
        (".ivy2", "cache"),
        (".yarn", "berry"),
        (".bun", "install"),
        (".rustup", "downloads"),
        (".conda", "pkgs"),
        (".hex", "packages"),
        ("pkg", "mod"),
    }
)
_PATTERNS = (
    "*.egg-info",
    "*.dist-info",
    "*.pyc",
    "*.pyo",
    "*.o",
    "*.obj",
    "*.class",
    "*.tsbuildinfo",
    "*.gcda",
    "*.gcno",
    "*.log",
    "*.tmp",
    "*.swp",
    "*.swo",
    "*~",
    "*_cache",
    "*-cache",
    "*.cache",
    "cmake-build-*",
    "build-*",
    "builddir*",
    "venv[0-9-]*",
    ".venv*",
    "bazel-*",
    ".coverage*",
    ".DS_Store",
    "Thumbs.db",
    ".fuse_hidden*",
    "core.[0-9]*",
    "npm-debug.log*",
    "yarn-error.log*",
)
_JUNK_NAMES = _MADE | frozenset(
    {"build", "dist", "target", "out", "coverage", "__MACOSX", ".DS_Store", "Thumbs.db"}
)
_JUNK_PATTERNS = tuple(pattern for pattern in _PATTERNS if pattern not in ("*.log", "build-*", "core.[0-9]*"))
_PATTERN = re.compile("|".join(translate(pattern) for pattern in _PATTERNS))


def is_artefact(parts: Sequence[str], around: Sequence[str] = ()) -> bool:
    """Is the path of these components made by a build. `around` are all components of an absolute path."""
    for name in parts:
        if name in _MADE or name in _OFTEN:
            return True
    if any(pair in _CACHES for pair in pairwise(around or parts)):
        return True
    if any(name in _MADE for name in around):
        return True
    return bool(parts) and any(_PATTERN.match(name) for name in parts)


def is_junk_pattern(pattern: str) -> bool:
    """Does a pattern of `find -name` stand for nothing but artefacts ("*.pyc", "__pycache__", "*.py[co]")."""
    if pattern in _JUNK_NAMES or pattern in _JUNK_PATTERNS:
        return True
    plain = pattern.replace("[co]", "c").replace("[cod]", "c").replace("?", "c")
    return plain in _JUNK_PATTERNS or plain.strip("*") in _JUNK_NAMES
