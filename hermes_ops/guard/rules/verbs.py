"""Programs with verbs ("git push", "kubectl delete"): the verb behind global options."""

from __future__ import annotations

from ..judge.invocation import Arg, Invocation


def verb_of(invocation: Invocation, valued: frozenset[str] = frozenset()) -> tuple[str, list[Arg]]:
    """The verb and all arguments after it; options in `valued` before it take the next word along."""
    arguments = invocation.arguments
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        if not text.startswith("-"):
            return text, arguments[index + 1 :]
        index += 2 if text in valued else 1
    return "", []


def verbs_of(invocation: Invocation, valued: frozenset[str] = frozenset(), most: int = 6) -> tuple[str, ...]:
    """The first words that are no options, in order."""
    found = []
    for argument in invocation.operands(valued):
        found.append(argument.text)
        if len(found) == most:
            break
    return tuple(found)


def has(arguments: list[Arg], letters: str = "", *names: str) -> bool:
    """Is an option among arguments: `letters` in a cluster of short ones, `names` as begun long ones."""
    for argument in arguments:
        text = argument.text
        if text == "--":
            return False
        if text.startswith("--"):
            given = text.partition("=")[0]
            if any(given == name or (len(given) > 4 and name.startswith(given)) for name in names):
                return True
        elif letters and len(text) > 1 and text[0] == "-" and any(letter in text for letter in letters):
            return True
    return False


def plain(arguments: list[Arg], valued: frozenset[str] = frozenset()) -> list[Arg]:
    """The arguments that are no options, after a verb."""
    found: list[Arg] = []
    skip = ended = False
    for argument in arguments:
        text = argument.text
        if skip:
            skip = False
        elif ended or not text.startswith("-") or text == "-":
            found.append(argument)
        elif text == "--":
            ended = True
        else:
            skip = text in valued
    return found
