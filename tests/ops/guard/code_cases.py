"""Code with the verdicts it should get, and the judgement of code as a session would have it judged."""

import json
from functools import cache
from pathlib import Path

from hermes_ops.guard.code.judge import judge_code
from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.verdict import Found, Verdict

HOME, WORK, HERMES = "/home/u", "/home/u/project", "/home/u/.hermes"
WHERE = Surroundings(cwd=WORK, home=HOME, hermes_home=HERMES)


def shell(text: str) -> list[Found]:
    return list(judge_shell(text, WHERE).findings)


def found(language: str, code: str, **given: object) -> list[Found]:
    return judge_code(language, code, shell, HOME, WORK, HERMES, **given)


def rules(language: str, code: str, **given: object) -> set[str]:
    return {one.rule for one in found(language, code, **given)}


def verdict(language: str, code: str, **given: object) -> str:
    return str(max((one.verdict for one in found(language, code, **given)), default=Verdict.ALLOW))


def asked(language: str, code: str) -> list[str]:
    """The shell text that code is judged by."""
    texts: list[str] = []

    def listen(text: str) -> list[Found]:
        texts.append(text)
        return []

    judge_code(language, code, listen, HOME, WORK, HERMES)
    return texts


@cache
def corpus() -> tuple[dict[str, str], ...]:
    """Rows of language, code, want and the rule that is found first."""
    text = (Path(__file__).parent / "code_corpus.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())
