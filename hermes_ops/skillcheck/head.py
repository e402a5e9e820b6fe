"""The frontmatter of a skill: what it asks of the host, and what it puts into every prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .context import ABOUT_ATTACKS, STRONGLY
from .fold import fold, visible
from .frontmatter import CannotCheck, read
from .instructions import Topic, in_text
from .judged import unseen
from .rules import ERROR, INFO, WARNING, Hit

_TAG = re.compile(r"!!?python/|!!(?:java|ruby)|!ruby/|!<tag:", re.IGNORECASE)
_ALIAS = re.compile(r"(?<![\w*&])[*&][A-Za-z_][\w-]*")
_GREEDY = re.compile(
    r"\b(?:use|load|invoke|run|apply|activate|call|read|follow)\b.{0,40}\b(?:every|all|any|each) (?:single )?"
    r"(?:request|message|task|prompt|conversation|session|turn|question)s?\b|"
    r"\bbefore (?:any|every|all) (?:other )?(?:skill|tool|response|action)s?\b"
)
_MASTER_FILES = re.compile(
    r"(?:^|/)(?:\.env|auth\.json|state\.db|config\.yaml)$|mcp-tokens|\.ssh|\.aws|id_rsa|(?:^|/)\.\.(?:/|$)|"
    r"^[/~]"
)
_SECRET_NAMES = re.compile(
    r"^(?:ANTHROPIC|OPENAI|OPENROUTER|DEEPSEEK|GEMINI|GOOGLE|NOUS|AWS_SECRET|AZURE|GITHUB|HERMES|SSH|SUDO|"
    r"TELEGRAM|DISCORD|SLACK)\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*$"
)


def topic_of(text: str) -> Topic:
    """Whether a skill is about security, by its own name and description."""
    try:
        values = read(text.replace("\r\n", "\n")).values
    except CannotCheck:
        return Topic()
    about = f"{values.get('name', '')} {values.get('description', '')}".lower()[:2000]
    is_security = ABOUT_ATTACKS.search(about) is not None or re.search(r"\bsecur", about) is not None
    return Topic(is_security, STRONGLY.search(about) is not None)


def head(path: str, text: str) -> list[Hit]:
    """What is wrong with the frontmatter of a SKILL.md."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    end = re.search(r"\n---[ \t]*(?:\n|$)", plain[3:]) if plain.startswith("---") else None
    written = plain[: 3 + end.start()] if end else ""
    hits = list(_written(path, written))
    try:
        found = read(plain)
    except CannotCheck as error:
        return [*hits, Hit("skill.frontmatter", INFO, path, 1, f"not checked: {error}", match="unchecked")]
    hits += _values(path, written, found.values)
    return hits


def _written(path: str, written: str) -> Iterator[Hit]:
    tag = _TAG.search(written)
    if tag:
        line = written.count("\n", 0, tag.start()) + 1
        yield Hit(
            "skill.frontmatter",
            ERROR,
            path,
            line,
            "a YAML tag that makes unsafe readers run code",
            (visible(tag[0]),),
            tag[0],
        )
    if len(_ALIAS.findall(written)) > 20:
        yield Hit(
            "skill.frontmatter", ERROR, path, 1, "aliases that grow when they are read", match="aliases"
        )
    keys = re.findall(r"^([A-Za-z_][\w-]*):", written, re.MULTILINE)
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        severity = WARNING if key in ("name", "description") else INFO
        yield Hit(
            "skill.frontmatter",
            severity,
            path,
            1,
            f"{key} stands there twice: readers differ in which they take",
            match=key,
        )


def _values(path: str, written: str, values: Any) -> Iterator[Hit]:
    name, description = str(values.get("name") or ""), str(values.get("description") or "")
    if "/" in name or ".." in name or "\\" in name:
        yield Hit(
            "skill.frontmatter",
            ERROR,
            path,
            _line(written, "name"),
            "its name is a path",
            (visible(name),),
            name,
        )
    for key, text in (("name", name), ("description", description)):
        said = in_text(fold(text).text)
        if said:
            line = _line(written, key)
            yield Hit(
                said[0].rule,
                ERROR,
                path,
                line,
                f"its {key}, which is in every prompt, {said[0].what}",
                (visible(text),),
                said[1],
            )
    if _GREEDY.search(description.lower()):
        yield Hit(
            "skill.frontmatter",
            INFO,
            path,
            _line(written, "description"),
            "its description wants it used for everything",
            (visible(description),),
            "greedy",
        )
    for item in _items(values.get("required_credential_files")):
        wanted = str(item.get("path") or item.get("name") or "") if isinstance(item, dict) else str(item)
        if _MASTER_FILES.search(wanted):
            yield Hit(
                "skill.frontmatter",
                ERROR,
                path,
                _line(written, "required_credential_files"),
                "it asks for credentials that are not its own",
                (visible(wanted),),
                wanted,
            )
    for item in _items(values.get("required_environment_variables")):
        wanted = str(item.get("name") or "") if isinstance(item, dict) else str(item)
        if _SECRET_NAMES.match(wanted):
            yield Hit(
                "skill.frontmatter",
                INFO,
                path,
                _line(written, "required_environment_variables"),
                "it asks for a key of the agent or its platforms",
                (visible(wanted),),
                wanted,
            )
    for where, command in _commands(values.get("hooks"), "hooks", 0):
        text = f"it wants a command run by itself ({where})"
        graver = [hit for hit in unseen(path, _line(written, "hooks"), command) if hit.severity == ERROR]
        yield from graver
        yield Hit(
            "skill.runs-by-itself",
            WARNING,
            path,
            _line(written, "hooks"),
            text,
            (visible(command),),
            command[:200],
        )


def _items(value: Any) -> list[Any]:
    return value[:50] if isinstance(value, list) else [] if value is None else [value]


def _commands(value: Any, where: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > 8:
        return
    if isinstance(value, dict):
        for key, one in list(value.items())[:50]:
            if key in ("command", "run") and isinstance(one, str):
                yield where, one
            else:
                yield from _commands(one, f"{where}.{key}", depth + 1)
    elif isinstance(value, list):
        for one in value[:50]:
            yield from _commands(one, where, depth + 1)


def _line(written: str, key: str) -> int:
    found = re.search(rf"^{re.escape(key)}\s*:", written, re.MULTILINE)
    return written.count("\n", 0, found.start()) + 1 if found else 1
