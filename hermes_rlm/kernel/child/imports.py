"""Imports as a script has them, without the start-up cost of the site module.

The interpreter starts with `-I -S`: neither the working directory nor site-packages are searched.
The working directory is added behind the standard library, so that a file called random.py there
does not break it; site-packages (with their .pth files) and the skills follow on the first import
that finds nothing.
"""

import posix
import sys
from _frozen_importlib_external import PathFinder
from _thread import RLock


class LateFinder:
    """The last finder on sys.meta_path: completes sys.path on its first miss, then looks again."""

    def __init__(self, standard: list, skills: list) -> None:
        self._standard, self._skills = standard, skills
        self._lock = RLock()
        self._done = False

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a top-level module that only the completed path has; otherwise None."""
        if path is not None or self._done:
            return None
        with self._lock:
            if not self._done:
                # Set first: site imports modules that may not exist, which leads here again.
                self._done = True
                self._complete_path()
        return PathFinder.find_spec(name, None, target)

    def _complete_path(self) -> None:
        import site

        # removeduppaths() would turn "" into today's directory.
        sys.path[:] = [entry for entry in sys.path if entry]
        try:
            site.main()
            if sys.prefix == sys.base_prefix and site.ENABLE_USER_SITE is not None:
                site.addsitedir(site.getusersitepackages())
        except Exception as error:
            print(f"site-packages could not be added: {error!r}", file=sys.stderr)
        behind = [sys.path.index(entry) + 1 for entry in self._standard if entry in sys.path]
        sys.path.insert(max(behind, default=0), "")
        sys.path += [directory for directory in self._skills if directory not in sys.path]


def install(skills: list) -> None:
    """Search the working directory, PYTHONPATH and, after the first miss, site-packages and ``skills``."""
    finder = LateFinder(list(sys.path), skills)
    extra = posix.environ.get(b"PYTHONPATH", b"").decode("utf-8", "surrogateescape")
    sys.path += ["", *[entry for entry in extra.split(":") if entry]]
    sys.meta_path.append(finder)
