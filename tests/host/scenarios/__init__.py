"""Sessions of the real host, each a script for the model and a way to run it.

A scenario is a function of a home and a model server that returns an `Outcome`; `SCENARIOS` holds
them by name. Each starts its own script (`server.reset`) and may add configuration to the home, so
several can share a home one after the other. Session ids are those the run created, oldest first:
sub-agents and the sessions after /new are among them.
"""

from tests.host.scenarios import faults, interruptions, lineage, turns  # noqa: F401
from tests.host.scenarios.core import SCENARIOS, Outcome, Scenario

__all__ = ["SCENARIOS", "Outcome", "Scenario"]
