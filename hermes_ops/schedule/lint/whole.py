"""What a prompt says as a whole: where runs keep what the next one needs, what the answer of silence is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .languages import shared_set, words
from .text import DATA, PATH, Prompt, Sentence

RENEWED = 4  # words after a verb of writing in which the file must be named
ANSWER = 7  # words after "otherwise" in which the answer must be named
OTHER_MARK = re.compile(r"\b(?:NO_REPLY|NO REPLY|SILENT)\b")
_STATE_NAME = re.compile(
    r"(?i)(?:^|[/_.-])(?:last|seen|state|prev|previous|known|cursor|offset|done|history|snapshot|baseline|progress)"
)


@dataclass
class Whole:
    """Facts of a prompt, each found once however many phrases ask for it."""

    prompt: Prompt

    @cached_property
    def keeps_state(self) -> bool:
        """Whether a sentence names where runs keep what the next one needs: a file said or called so."""
        return any(map(self._keeps, self.prompt.sentences))

    @cached_property
    def names_kept_file(self) -> bool:
        """The same, where the file and what is said of it need not stand in one sentence."""
        return self._keeps(Sentence(tuple(self.prompt.tokens)))

    @cached_property
    def renews_a_file(self) -> bool:
        """Whether it names a file and has it written anew."""
        if not any(token.kind == PATH for token in self.prompt.tokens):
            return False
        renew, renewed = words("renew"), words("renewed")
        for sentence in self.prompt.sentences:
            for position, token in enumerate(sentence.tokens):
                if renew.takes(token.text):
                    after = sentence.tokens[position + 1 : position + 1 + RENEWED]
                    if any(one.kind == PATH or renewed.takes(one.text) for one in after):
                        return True
        return False

    @cached_property
    def says_otherwise(self) -> bool:
        """Whether it says what the answer is when the condition does not hold."""
        for sentence in self.prompt.sentences:
            texts = [token.text for token in sentence.tokens]
            for position, text in enumerate(texts):
                if text in shared_set("otherwise").words:
                    after = set(texts[position + 1 : position + 1 + ANSWER])
                    if after & shared_set("say").words and not after & shared_set("not").words:
                        return True
        return False

    @cached_property
    def names_silence(self) -> bool:
        return "[silent]" in self.prompt.text.lower()

    @cached_property
    def names_another_mark(self) -> bool:
        return OTHER_MARK.search(self.prompt.text) is not None

    def _keeps(self, sentence: Sentence) -> bool:
        kept = words("state")
        places = [token for token in sentence.tokens if token.kind in (PATH, DATA)]
        if places and any(kept.takes(token.text) for token in sentence.tokens):
            return True
        return any(_STATE_NAME.search(self.prompt.text[token.start : token.end]) for token in places)
