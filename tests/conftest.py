"""For all tests: what collecting thousands of them has made is not looked through again by the collector.

Otherwise a test that takes the processor's time of a small piece of work now and then gets the time of a
full collection of the whole run with it.
"""

import gc


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
