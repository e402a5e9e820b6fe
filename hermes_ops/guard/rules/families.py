"""All families of rules, and which of them look at which program."""

from __future__ import annotations

from . import (
    agent_folders,
    agent_records,
    archiving,
    canary,
    cloud,
    containers,
    databases,
    disk,
    emptying,
    exfiltration,
    finding,
    git,
    machine,
    mirroring,
    modes,
    mounting,
    obfuscation,
    packages,
    privilege,
    processes,
    protection,
    publishing,
    reading,
    removal,
    reverse_shell,
    services,
    serving,
    writes,
)
from .rule import ENVIRONMENT, REDIRECTS, Check, Family

FAMILIES: tuple[Family, ...] = (
    removal.FAMILY,
    archiving.FAMILY,
    mirroring.FAMILY,
    finding.FAMILY,
    emptying.FAMILY,
    emptying.REDIRECTS,
    disk.FAMILY,
    disk.REDIRECTS,
    mounting.FAMILY,
    reading.FAMILY,
    writes.FAMILY,
    writes.REDIRECTS,
    modes.FAMILY,
    processes.FAMILY,
    git.FAMILY,
    containers.FAMILY,
    cloud.FAMILY,
    databases.FAMILY,
    publishing.FAMILY,
    services.FAMILY,
    services.SCRIPTS,
    machine.FAMILY,
    packages.FAMILY,
    privilege.FAMILY,
    exfiltration.FAMILY,
    exfiltration.SOCKETS,
    serving.FAMILY,
    reverse_shell.FAMILY,
    agent_folders.FAMILY,
    agent_records.FAMILY,
    protection.FAMILY,
    protection.ENVIRONMENTS,
    protection.MODULES,
    obfuscation.FAMILY,
    obfuscation.EXPORTS,
    canary.FAMILY,
)


def _by_program() -> dict[str, tuple[Family, ...]]:
    table: dict[str, tuple[Family, ...]] = {}
    for family in FAMILIES:
        for program in family.programs:
            table[program] = (*table.get(program, ()), family)
    return table


BY_PROGRAM: dict[str, tuple[Family, ...]] = _by_program()
FOR_ALL: tuple[Family, ...] = tuple(family for family in FAMILIES if not family.programs)


def _checks(needs: str) -> tuple[Check, ...]:
    return tuple(family.check for family in FOR_ALL if family.needs == needs)


# The checks of FOR_ALL by what a command must have for them to say anything.
ALWAYS, WITH_REDIRECTS, WITH_ENVIRONMENT = _checks(""), _checks(REDIRECTS), _checks(ENVIRONMENT)
