"""The expressions that cut shell text into tokens. Which group matched (`lastindex`) says what it is."""

from __future__ import annotations

import re

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
SPECIAL = r"[0-9@*#?$!-]"
_BLANKS = r"[ \t]*(?:\\\n[ \t]*)*"
_WORD_ENDS = r"(?=[ \t\n;&|)]|\Z)"
_REDIRECTION = r"<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>"

# A token of a command, after blanks and continued lines.
PLAIN, SINGLE, DOUBLE, REDIRECTION, CONTROL, PIECEWISE = 1, 2, 3, 5, 6, 7
TOKEN = re.compile(
    rf"{_BLANKS}(?:"
    rf"([^ \t\n;&|<>()'\"`$\\#][^ \t\n;&|<>()'\"`$\\]*){_WORD_ENDS}"
    rf"|'([^']*)'{_WORD_ENDS}"
    rf"|\"([^\"$`\\]*)\"{_WORD_ENDS}"
    rf"|([0-9]+|\{{{NAME}\}})?({_REDIRECTION})"
    r"|([\n;&|()#]|\Z)"
    r"|())"
)

# A piece of a word.
CHUNK, IN_SINGLE, IN_DOUBLE, PARAMETER, BRACED, FOLD, ESCAPED, OTHER = range(1, 9)
_PARAMETERS = rf"\$(?:({NAME}|{SPECIAL})|\{{({NAME})\}})"
PIECE = re.compile(
    r"([^ \t\n;&|<>()'\"`$\\]+)"
    r"|'([^']*)'"
    r"|\"([^\"$`\\]*)\""
    rf"|{_PARAMETERS}"
    r"|\\(?:(\n)|([\s\S]))"
    r"|([\"$`\\<>('])"
)

# A piece of text in which quotes mean nothing: between double quotes, and in a here-document. Group 2 ends
# it.
ENDS = 2
_EXPANDED = rf"|{_PARAMETERS}|\\(?:(\n)|([$`\\%s]))|([$`\\])"
QUOTED = re.compile(r"([^\"$`\\]+)|(\")" + _EXPANDED.replace("%s", '"'))
DOCUMENT = re.compile(r"([^$`\\]+)|(\Z)" + _EXPANDED.replace("%s", ""))

# Blanks, comments and continued lines between commands; with newlines, and on one line.
GAP = re.compile(r"[ \t\n]*(?:(?:#[^\n]*\n|\\\n|#[^\n]*\Z)[ \t\n]*)*")
LINE_GAP = re.compile(r"[ \t]*(?:(?:\\\n|#[^\n]*)[ \t]*)*")
# What stands after a pipeline. Nothing that fits: the list ends here.
AFTER = re.compile(rf"{_BLANKS}(?:#[^\n]*)?(?:(&&|\|\||;(?![;&])|&(?![&>])|\n)|)")
PIPE = re.compile(rf"{_BLANKS}(\|(?!\|)&?)")
CLOSER = re.compile(r"(?:then|else|elif|fi|do|done|esac|\})(?=[ \t\n;&|<>()]|\Z)")
ASSIGNED = re.compile(rf"({NAME})(?:(\+?=)|(\[))")
EMPTY_PARENTHESES = re.compile(rf"{_BLANKS}\({_BLANKS}\)")
# What a prefix of a pipeline may be followed by; `!(` is a negated subshell, as where extglob is off.
NEGATION = re.compile(r"!(?=[ \t\n;&|()<>\\]|\Z)")
TIME = re.compile(r"time(?=[ \t\n;&|()<>\\]|\Z)")
TIME_OPTION = re.compile(r"(?:-p|--)(?=[ \t\n;&|()<>]|\Z)")
