"""In which language a file is written, by its first line, its name, or what it looks like."""

from __future__ import annotations

import re

SHELL = "shell"

_BY_SUFFIX = {
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ".command", ".tool", ".envrc", ".bats"), SHELL),
    **dict.fromkeys((".py", ".pyw", ".pyi"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"), "node"),
    **dict.fromkeys((".rb", ".rake", ".gemspec"), "ruby"),
    **dict.fromkeys((".pl", ".pm", ".t"), "perl"),
    **dict.fromkeys((".ps1", ".psm1", ".psd1"), "powershell"),
    **dict.fromkeys((".bat", ".cmd"), "cmd"),
    **dict.fromkeys((".applescript", ".scpt"), "applescript"),
    **dict.fromkeys((".php", ".phtml"), "php"),
    **dict.fromkeys((".r", ".rmd"), "r"),
    ".lua": "lua",
    ".awk": "awk",
    ".tcl": "tcl",
    ".mk": "make",
}
_BY_NAME = {
    **dict.fromkeys(("makefile", "gnumakefile"), "make"),
    **dict.fromkeys(
        ("rakefile", "gemfile", "guardfile", "vagrantfile", "brewfile", "fastfile", "podfile"), "ruby"
    ),
    **dict.fromkeys(
        (".envrc", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", "apkbuild", "pkgbuild"),
        SHELL,
    ),
}
_BY_PROGRAM = (
    (re.compile(r"(?:ba|z|k|da|a|fi)?sh$"), SHELL),
    (re.compile(r"(?:python|pypy|uv|ipython)[\d.]*$"), "python"),
    (re.compile(r"(?:node|nodejs|deno|bun|ts-node|tsx|zx)$"), "node"),
    (re.compile(r"ruby[\d.]*$"), "ruby"),
    (re.compile(r"perl[\d.]*$"), "perl"),
    (re.compile(r"php[\d.]*$"), "php"),
    (re.compile(r"(?:pwsh|powershell)$"), "powershell"),
    (re.compile(r"osascript$"), "applescript"),
    (re.compile(r"[gmn]?awk$"), "awk"),
    (re.compile(r"lua(?:jit)?[\d.]*$"), "lua"),
    (re.compile(r"make$"), "make"),
    (re.compile(r"Rscript$"), "r"),
    (re.compile(r"(?:tclsh|wish|expect)[\d.]*$"), "tcl"),
)
# Languages that the command guard does not read.
_OTHERS_LIST = """
    .go .rs .java .kt .kts .c .h .cc .cpp .hpp .cs .swift .m .scala .clj .ex .exs .erl .hs .ml .nim .zig
    .dart .vbs .wsf .hta .jl .groovy .gradle .fish .nu .vue .svelte
"""
_OTHERS = frozenset(_OTHERS_LIST.split())

_PAGES_LIST = """
    .md .markdown .mdx .mdc .rst .adoc .html .htm .xhtml .org .textile .svg .xml
"""
_PAGES = frozenset(_PAGES_LIST.split())
_DATA_LIST = """
    .json .jsonl .json5 .csv .tsv .yaml .yml .toml .ini .cfg .conf .lock .sql .css .scss .less .po .srt
    .vtt .ics .log .diff .patch .tex .bib
"""
_DATA = frozenset(_DATA_LIST.split())
_DOCUMENTS_LIST = """
    license licence copying notice authors contributors changelog readme codeowners version history
    install todo
"""
_DOCUMENTS = frozenset(_DOCUMENTS_LIST.split())

_SHELL_LINE = re.compile(
    r"^\s*(?:set -[euxo]|export \w+=|if \[|if ! |for \w+ in |while |function \w+|\w+\(\) *\{|"
    r"[A-Za-z_]\w*=(?:\S*|\"[^\"]*\"|\$\(.*)$|"
    r"(?:sudo|curl|wget|cat|cd|rm|mkdir|cp|mv|chmod|chown|echo|eval|exec|source|tar|python3?|bash|sh|nc|ssh|"
    r"scp|git|fi$|done|then|else|"
    r"esac|printf|test|trap|exit|return|grep|sed|awk|find|base64|openssl|env|nohup|crontab|docker|pip3?|npm|"
    r"apt-get|systemctl)\b)"
)


def language_of(path: str, text: str) -> str:
    """ "shell", a language of the command guard, "other" (code it does not read), or "" for no code."""
    name = path.rpartition("/")[2].lower()
    suffix = f".{name.rpartition('.')[2]}" if "." in name.lstrip(".") else ""
    first = text[:200].split("\n", 1)[0]
    if first.startswith("#!"):
        return _of_program(first[2:])
    if name in _BY_NAME:
        return _BY_NAME[name]
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if suffix in _OTHERS:
        return "other"
    if suffix in _PAGES or suffix in _DATA or name.partition(".")[0] in _DOCUMENTS:
        return ""
    return SHELL if looks_like_shell(text) else ""


def is_page(path: str) -> bool:
    """Whether a file is Markdown or HTML, or something of that kind; SKILL.md without extension too."""
    name = path.rpartition("/")[2].lower()
    return any(name.endswith(suffix) for suffix in _PAGES) or (
        name.partition(".")[0] in _DOCUMENTS and "." not in name
    )


def looks_like_shell(text: str) -> bool:
    """Whether most of the first lines of a text are what shell scripts consist of."""
    lines = [
        line for line in text[:20_000].split("\n") if line.strip() and not line.lstrip().startswith("#")
    ][:60]
    if not lines:
        return False
    hits = sum(_SHELL_LINE.match(line) is not None for line in lines)
    return hits / len(lines) >= 0.5


def _of_program(line: str) -> str:
    words = [word.rpartition("/")[2] for word in line.split()]
    words = [word for word in words if word not in ("env",) and not word.startswith("-") and "=" not in word]
    if not words:
        return SHELL
    return next((language for pattern, language in _BY_PROGRAM if pattern.match(words[0])), "other")
