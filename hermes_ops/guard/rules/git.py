"""Version control: history that is rewritten, work that is discarded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..judge.invocation import SECRET, UNKNOWN, Arg, Invocation
from ..verdict import Found
from . import git_tree
from .names import names
from .removal import is_file_name
from .rule import Family, Rule, approve
from .secrets import secret_of
from .verbs import has, plain, verb_of

FORCE_PUSH = approve(
    "git.force-push",
    "replaces what others may have on the server",
    "fetch first, push to a new branch, or let the person force it",
)
REMOTE_DELETE = approve("git.remote-delete", "deletes a branch or tag on the server")
MIRROR = approve(
    "git.mirror-push", "makes the server lose every ref that is not here", "push the branches by name"
)
RESET = approve("git.reset-hard", "discards all changes that are not committed", "git stash first")
CLEAN = approve(
    "git.clean",
    "removes files that git does not know and cannot bring back",
    "git clean -n first, or git stash -u",
)
DISCARD = approve("git.discard", "discards changes that are not committed", "git stash first")
BRANCH = approve(
    "git.branch-delete", "deletes or moves a branch even when its commits are nowhere else", "git branch -d"
)
TAG = approve("git.tag-delete", "deletes or moves a tag")
STASH = approve("git.stash-drop", "throws stashed work away", "git stash branch NAME")
HISTORY = approve("git.history-rewrite", "rewrites the history of a repository", "work on a fresh clone")
EXPIRE = approve("git.expire", "destroys what could bring lost commits back")
WORKTREE = approve("git.worktree-remove", "removes a working tree with its changes", "leave --force away")
REF = approve("git.ref-change", "changes refs without a check")
REMOVED = approve(
    "git.remove", "removes tracked files with their changes", "git rm --cached, or commit first"
)
SECRET_ADDED = approve(
    "git.secret-added", "puts a file of credentials under version control", "leave it in .gitignore"
)
RUNS = approve("git.runs-command", "makes git run a command of its own")
HUB_DELETE = approve("git.repository-delete", "deletes a repository on the server")
MAIL = approve("git.send-email", "sends patches to other people by mail")
OTHER_SYSTEM = approve("git.other-discard", "discards changes or history of a working copy")

_VALUED = names(
    "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source "
    "--list-cmds"
)


def _push(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "n", "--dry-run"):
        return
    if has(rest, "", "--mirror"):
        yield MIRROR
    if has(rest, "f", "--force", "--force-with-lease"):
        yield FORCE_PUSH
    if has(rest, "d", "--delete", "--prune"):
        yield REMOTE_DELETE
    for argument in plain(rest, names("-o --push-option --repo --receive-pack --exec")):
        if argument.text.startswith("+"):
            yield FORCE_PUSH
        elif argument.text.startswith(":") and len(argument.text) > 1:
            yield REMOTE_DELETE


def _is_wide(text: str) -> bool:
    """Does a path stand for more than a file that is named."""
    return (
        text in (".", "./", "*", ":/", "/", "..", ":")
        or UNKNOWN in text
        or not is_file_name(text)
        or "*" in text
    )


def _checkout(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "f", "--force"):
        yield DISCARD
        return
    texts = [argument.text for argument in rest]
    if "--" in texts:
        paths = texts[texts.index("--") + 1 :]
    elif any(
        text in ("-b", "-B", "--orphan", "-t", "--track", "--detach", "--ours", "--theirs") for text in texts
    ):
        return
    else:
        paths = [text for text in texts if text in (".", "./", "*", ":/", "./*") or text.startswith(":/")]
    if any(_is_wide(path) for path in paths):
        yield DISCARD


def _restore(rest: list[Arg]) -> Iterator[Rule]:
    staged = has(rest, "S", "--staged")
    worktree = has(rest, "W", "--worktree")
    if staged and not worktree:
        return
    if any(_is_wide(argument.text) for argument in plain(rest, names("-s --source -U --unified"))):
        yield DISCARD


def _switch(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "f", "--force", "--discard-changes"):
        yield DISCARD


def _reset(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "", "--hard", "--merge"):
        yield RESET


def _clean(rest: list[Arg]) -> Iterator[Rule]:
    patterns = {at + 1 for at, word in enumerate(rest) if word.text in ("-e", "--exclude")}
    rest = [word for at, word in enumerate(rest) if at not in patterns]
    if not has(rest, "ni", "--dry-run", "--interactive", "--help"):
        yield CLEAN


def _branch(rest: list[Arg]) -> Iterator[Rule]:
    forced = has(rest, "f", "--force")
    if has(rest, "DMC") or (forced and not has(rest, "", "--list", "--format")):
        yield BRANCH


def _tag(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "df", "--delete", "--force") and not has(rest, "l", "--list"):
        yield TAG


def _stash(rest: list[Arg]) -> Iterator[Rule]:
    if rest and rest[0].text in ("drop", "clear"):
        yield STASH


def _reflog(rest: list[Arg]) -> Iterator[Rule]:
    if rest and rest[0].text in ("expire", "delete") and not has(rest, "n", "--dry-run"):
        yield EXPIRE


def _gc(rest: list[Arg]) -> Iterator[Rule]:
    if any(argument.text in ("--prune=now", "--prune=all", "--prune") for argument in rest):
        yield EXPIRE


def _prune(rest: list[Arg]) -> Iterator[Rule]:
    if not has(rest, "n", "--dry-run"):
        yield EXPIRE


_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/")


def _is_temporary(folder: str) -> bool:
    return folder.startswith(_TEMPORARY) and ".." not in folder.split("/")


def _worktree(rest: list[Arg]) -> Iterator[Rule]:
    forced = rest and rest[0].text == "remove" and has(rest, "f", "--force")
    folders = [argument.text for argument in plain(rest)[1:]]
    if forced and not (folders and all(map(_is_temporary, folders))):
        yield WORKTREE


def _update_ref(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "d", "--stdin"):
        yield REF


def _rm(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "n", "--cached", "--dry-run"):
        return
    wide = any(argument.text in (".", "*", ":/", "./") for argument in plain(rest))
    if wide or (has(rest, "r") and has(rest, "f", "--force")):
        yield REMOVED


def _history(rest: list[Arg]) -> Iterator[Rule]:
    if not has(rest, "", "--help", "--dry-run", "--analyze"):
        yield HISTORY


def _submodule(rest: list[Arg]) -> Iterator[Rule]:
    if rest and rest[0].text == "deinit" and has(rest, "f", "--force", "--all"):
        yield DISCARD


def _checkout_index(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "f", "--force"):
        yield DISCARD


def _read_tree(rest: list[Arg]) -> Iterator[Rule]:
    if has(rest, "", "--reset"):
        yield DISCARD


def _email(rest: list[Arg]) -> Iterator[Rule]:
    if not has(rest, "", "--dry-run", "--help"):
        yield MAIL


_BY_VERB: dict[str, Callable[[list[Arg]], Iterator[Rule]]] = {
    "push": _push,
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "co": _checkout,
    "restore": _restore,
    "switch": _switch,
    "branch": _branch,
    "tag": _tag,
    "stash": _stash,
    "filter-branch": _history,
    "filter-repo": _history,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _prune,
    "worktree": _worktree,
    "update-ref": _update_ref,
    "rm": _rm,
    "submodule": _submodule,
    "checkout-index": _checkout_index,
    "read-tree": _read_tree,
    "send-email": _email,
}
_REMOTE_VERBS = names("clone fetch pull push ls-remote archive fetch-pack remote submodule")


def _runs(verb: str, rest: list[Arg]) -> bool:
    """Does git itself run a program that the command names: ext:: addresses, --upload-pack."""
    if verb == "config":
        # What an included file says is not seen here.
        given = [argument.text.lower() for argument in plain(rest)]
        return any(text.startswith("include") and text.endswith(".path") for text in given[:-1])
    if verb not in _REMOTE_VERBS:
        return False
    for index, argument in enumerate(rest):
        text = argument.text
        if text.startswith("ext::") or text.startswith("fd::"):
            return True
        option, _, value = text.partition("=")
        if option in ("--upload-pack", "--receive-pack", "--exec") or (
            text == "-u" and verb in ("clone", "fetch")
        ):
            value = value or (rest[index + 1].text if index + 1 < len(rest) else "")
            if value.rpartition("/")[2] not in ("git-upload-pack", "git-receive-pack"):
                return True
    return False


def _git(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, _VALUED)
    # A dangling help is no command.
    if any(argument.text in ("--help", "-h") for argument in rest[:1]):
        return
    if invocation.name == "hub" and verb == "delete":
        yield HUB_DELETE.found(invocation.part)
    rules = _BY_VERB.get(verb)
    if rules is not None:
        for rule in dict.fromkeys(rules(rest)):
            worse = rule in (CLEAN, REMOVED) and git_tree.cleans(invocation, verb, rest)
            yield (git_tree.CLEANED if worse else rule).found(invocation.part)
    if _runs(verb, rest):
        yield RUNS.found(invocation.part)
    if verb in ("add", "stage", "update-index", "commit", "tag", "notes"):
        yield from _added(invocation, verb, rest)


_MESSAGES = names("-F --file")


def _added(invocation: Invocation, verb: str, rest: list[Arg]) -> Iterator[Found]:
    """Files of credentials that are put under version control, or whose text is made a message."""
    forced = has(rest, "f", "--force") or verb == "update-index"
    for at, argument in enumerate(rest):
        name, equals, value = argument.text.partition("=")
        is_message = at > 0 and rest[at - 1].text in _MESSAGES
        path = value if equals and name in _MESSAGES else argument.text
        held = argument.source if SECRET in argument.taint else None
        if not held and (is_message or path != argument.text or (forced and argument.text[:1] != "-")):
            held = secret_of(path, invocation.cwd, invocation.home, invocation.hermes_home)
        if held:
            yield SECRET_ADDED.found(invocation.part, held)
            return
    if has(rest, "", "--pathspec-from-file") and invocation.stdin.text:
        for line in invocation.stdin.text.split("\n")[:_MOST_LINES]:
            held = secret_of(line, invocation.cwd, invocation.home, invocation.hermes_home)
            if held:
                yield SECRET_ADDED.found(invocation.part, held)
                return


_MOST_LINES = 40


def _other(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verb, rest = verb_of(invocation, names("-R --cwd --config --repository -R"))
    found = {
        "hg": (verb in ("update", "up", "checkout", "co") and has(rest, "C", "--clean"))
        or (verb in ("revert", "rev") and has(rest, "a", "--all"))
        or verb in ("strip", "purge", "rollback", "histedit", "debugstrip")
        or (verb == "push" and has(rest, "f", "--force")),
        "svn": (verb == "revert" and has(rest, "R", "--recursive"))
        or (verb in ("delete", "del", "rm") and any("://" in argument.text for argument in rest))
        or (verb == "cleanup" and has(rest, "", "--remove-unversioned", "--remove-ignored")),
        "jj": verb in ("abandon",)
        or (verb in ("op", "operation") and any(a.text in ("restore", "abandon") for a in rest)),
        "bfg": True,
        "git-filter-repo": not has(invocation.arguments, "", "--help", "--analyze", "--dry-run"),
        "fossil": verb in ("revert", "scrub"),
    }.get(name, False)
    if found:
        yield (HISTORY if name in ("bfg", "git-filter-repo") else OTHER_SYSTEM).found(invocation.part)


def _check(invocation: Invocation) -> Iterable[Found]:
    return _git(invocation) if invocation.name in ("git", "hub", "yadm") else _other(invocation)


FAMILY = Family(
    "git",
    names("git hub yadm hg svn jj bfg git-filter-repo fossil"),
    _check,
    examples=(
        ("git push --force origin main", "git.force-push"),
        ("git -C /srv/app -c user.name=x push -fu origin main", "git.force-push"),
        ("git push --force-with-lease", "git.force-push"),
        ("git push origin +main", "git.force-push"),
        ("git push origin :main", "git.remote-delete"),
        ("git push origin --delete release", "git.remote-delete"),
        ("git push --mirror backup", "git.mirror-push"),
        ("git -C repo reset --hard HEAD~3", "git.reset-hard"),
        ("git clean -fdx", "git.clean"),
        ("git -C ~ clean -fdx", "git.system-cleaned"),
        ("git --work-tree=/ clean -fd", "git.system-cleaned"),
        ("cd /etc && git rm -rf .", "git.system-cleaned"),
        ("git checkout -- .", "git.discard"),
        ("git checkout HEAD .", "git.discard"),
        ("git restore --source=HEAD --staged --worktree .", "git.discard"),
        ("git switch --discard-changes main", "git.discard"),
        ("git branch -D feature", "git.branch-delete"),
        ("git branch --delete --force feature", "git.branch-delete"),
        ("git tag -d v1", "git.tag-delete"),
        ("git stash drop", "git.stash-drop"),
        ("git filter-branch --force --all", "git.history-rewrite"),
        ("bfg --delete-files id_rsa", "git.history-rewrite"),
        ("git reflog expire --expire=now --all", "git.expire"),
        ("git gc --prune=now", "git.expire"),
        ("git worktree remove --force ../wt", "git.worktree-remove"),
        ("git update-ref -d refs/heads/x", "git.ref-change"),
        ("git rm -rf .", "git.remove"),
        ("git add -f .env", "git.secret-added"),
        ("git clone 'ext::sh -c whoami' x", "git.runs-command"),
        ("hub delete x/y", "git.repository-delete"),
        ("git send-email --to=list@example.com 0001.patch", "git.send-email"),
        ("hg update -C default", "git.other-discard"),
    ),
    silent=(
        "git status",
        "git push -u origin feature/x",
        "git push origin HEAD:refs/heads/x",
        "git push --tags",
        "git reset HEAD file.py",
        "git reset --soft HEAD~1",
        "git clean -nd",
        "git -C ~ clean -nfdx",
        "git checkout -b fix",
        "git checkout main",
        "git checkout -- src/app.py",
        "git restore --staged .",
        "git branch -d merged",
        "git branch -m old new",
        "git tag -a v1 -m v1",
        "git stash pop",
        "git rm --cached secrets.txt",
        "git commit -m 'push --force is forbidden'",
        "git rebase main",
        "git gc",
        "git worktree remove ../wt",
        "git worktree remove --force /tmp/wt-1",
        "git worktree prune",
        "git log --grep=force",
    ),
    rules=(
        FORCE_PUSH,
        REMOTE_DELETE,
        MIRROR,
        RESET,
        CLEAN,
        git_tree.CLEANED,
        DISCARD,
        BRANCH,
        TAG,
        STASH,
        HISTORY,
        EXPIRE,
        WORKTREE,
        REF,
        REMOVED,
        RUNS,
        SECRET_ADDED,
        HUB_DELETE,
        MAIL,
        OTHER_SYSTEM,
    ),
)
