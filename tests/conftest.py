"""For all tests: the same generated examples in every run, and a collector that leaves the suite alone.

Examples that nobody has seen are for scripts/fuzz-*, which set RANDOM_EXAMPLES.
"""

import gc
import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile("random" if os.environ.get("RANDOM_EXAMPLES") else "same")


def pytest_collection_finish() -> None:
    """Keep what collecting thousands of tests has made out of the collector.

    Otherwise a test that takes the processor's time of a small piece of work now and then gets the time of a
    full collection of the whole run with it.
    """
    gc.collect()
    gc.freeze()
