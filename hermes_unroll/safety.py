"""Tell which recorded tool calls changed something: deleted, overwrote, published, stopped, sent.

A replay skips these unless told otherwise. Every generated trace embeds the text of this file, which
therefore needs `re` and nothing else.

It is a denylist and no sandbox. It sees the text of a call, never its effect: scripts run by name and
determined disguises pass, so nothing may be executed because this file found it harmless. What it cannot
read (too long, nested too deep) it calls destructive. Creating what was not there (mkdir, git commit,
npm install, INSERT) is not destructive; a redirection, copy or download to a file may replace one and is.
`delegate_task` is not: the tools of the child are judged one by one.
"""

import re

_LONGEST = 1 << 20  # characters of one command
_DEEPEST = 8  # scripts within scripts
_NESTED = 60  # open quotes, substitutions and subshells
_UNKNOWN, _FETCHED, _PIPE = "\x02", "\x03", "\x04"  # in a word: text only a running shell knows
_NO_MARKS = {2: None, 3: None, 4: None}

# Tools, then a pattern for their arguments. Every argument ends with ";" (blanks and ";" inside are "_"),
# "..." is any number of arguments. Above the dashes the options before the subcommand are left out.
_RULES = r"""
git push;(?!...-n;)|clean;(?!...-\w*n)|(?:rm|mv);(?!...--cached;)|rebase;|prune;|filter-|send-email;
git reset;...--(?:hard|merge|keep);|restore;(?!(?:-S|--staged);(?!...--worktree;))|stash;(?:drop|clear);
git branch;...(?:-[dDfM]+|--delete|--force);|switch;...(?:-f|-C|--force|--discard-changes);|gc;...--prune
git checkout;(?!-b;)...(?:--|-f|-B|--force|--ours|--theirs|\.|[^;]*[a-z_]\.[a-z]{1,4});
git tag;...(?:-[df]|--delete|--force);|update-ref;...-d;|reflog;(?:expire|delete);|worktree;(?:remove|prune);
git remote;(?:rm|remove|set-url);|config;.*!|commit;...--amend;|pull;...(?:-r|-f|--rebase[^;]*|--force);
docker (?:[a-z]+;)?(?:REMOVES|rmi|kill|restart|leave|update|rename|down|pause|cp);
kubectl,oc,helm (?:(?:rollout|config|repo);)?(?:CHANGES|run|install|set|label|undo);
terraform,tofu,pulumi,cdk (?:(?:state|workspace|stack);)?(?:CHANGES|force-unlock);
aws,gcloud,gsutil,az,doctl,heroku,fly,vercel,firebase,supabase,gh,glab,vault,consul,rclone,etcdctl \
(?:[^-;][^;]*;){0,3}?(?:[^;]+:)?(?:CHANGES|create)(?:[-:][a-z-]*)?;
gh,glab api;...(?:-X|--method);?(?!GET|HEAD)
apt,apt-get,aptitude,yum,dnf,zypper,apk,brew,snap,gem,cargo,conda,poetry,pip,pip3,pipx,uv,composer,rustup,go,\
twine,nuget,dotnet,mvn,gradle,npm,pnpm,yarn,bun,pyenv,nvm (?:[a-z-]+;)?(?:REMOVES);
systemctl (?!status|show|cat;|list-|is-|get-|help)[^;]+
supervisorctl,launchctl,pm2,svn,hg (?:CHANGES|shutdown|reload|start|bootout|unload|commit|revert|strip);
python,python3 ...[^;]*manage.py;(?:flush|reset_db);
rails,rake,php,prisma,alembic ...(?:db:(?:drop|reset|purge)|(?:migrate[:;])?(?:fresh|reset)|downgrade);
---
kill (?!-l;|-L;|-0;|--list;)[^;]+
init,telinit [016];
service,rc-service [^-;][^;]*;(?!status;)[^;]+
sysctl ...-w;
dd ...of=(?!/dev/null;)
fdisk,sfdisk,parted,mount (?!...(?:-[lhV]|--list|print);)[^;]+
tee (?:-[^;]*;)*(?!-|/dev/(?:null|std\w+|tty);|\x04)[^;]+
sed,yq,perl,ruby ...(?:-[Eenrpsuzla0wF]*i|--in-?place)
awk,gawk ...inplace;
ln ...(?:-[a-zA-Z]*f|--force)
install (?!-d;)[^;]+;[^;]
chmod,chown,chgrp,chattr ...(?:-[a-zA-Z]*R|--recursive)
tar ...--(?:overwrite|remove-files|unlink-first|recursive-unlink|to-command|checkpoint-action)
unzip,7z ...-(?:o|y|aoa)|d;
sort ...(?:-o|--output)
fuser,logrotate ...-\w*[fk]
ffmpeg ...-y;
make,gmake,ninja,just,cmake,meson,rake ...-{0,2}(?:(?:\w+-)?clean(?:-\w+|all)?|distclean|install|REMOVES);
curl,http,https ...(?:(?:(?:-\w*X|--request)[;=]?)?(?:DELETE|PUT|PATCH);|-[a-zA-WYZ]*[TO]|--upload-file)
curl ...(?:-[a-zA-Z]*o;|--output[;=])(?!-?;|/dev/null;|nul;)
wget ...(?:--method=(?:DELETE|PUT|PATCH)|(?:-\w*O|--output-document)[;=]?(?!-|/dev/(?:null|stdout);))
crontab (?!(?:-u;[^;]+;)?-l;)[^;]+
iptables,ip6tables,nft,ufw ...(?:-[FXDIAPRZ]|--flush|--delete|flush|delete|disable|reset|add|deny);
ip,route,nmcli,ifconfig (?:[^;]+;){0,3}?(?:del|delete|flush|down|add|set);
dpkg,rpm,pacman ...-(?:[RrPe]|-remove|-purge|-erase)
redis-cli ...(?i:flush(?:all|db)|del|unlink|shutdown|set|[hlrsz](?:set|del|pop|rem)|expire|rename|config;set);
mongo,mongosh .*\.(?:drop|delete|remove|update|insert|replace)\w*\(
format [a-zA-Z]:;
reg,sc,net,schtasks /?(?:delete|add|import|stop|config|user|end|change|create);
"""
_REMOVES = (
    "remove|purge|auto(?:remove|purge)|uninstall|un|unlink|untap|del|delete|destroy|drop|rm|cleanup|clean|prune"
    "|stop|reset|yank|(?:dist|full)-upgrade|(?:un)?publish|upload|push|deploy|deprecate"
)
_CHANGES = _REMOVES + (
    "|rb|terminate|reboot|restart|detach|revoke|disable|kill|update|upgrade|put|modify|restore|cancel|rollback"
    "|scale|apply|close|merge|edit|comment|rename|archive|mv|move|sync|cp|copy|unset|down|up|leave|pause|drain"
    "|cordon|taint|replace|patch|import|flush|create"
)
# What changes something under any tool that does not just read, search or print its operands.
_REMOVAL = (
    r"(?:[\w-]+[-:])?(?:delete|destroy|uninstall|purge|remove|drop|wipe|terminate|kill|stop|restart)(?:[-:][a-z-]+)?;"
    r"|(?:[a-z][\w-]*;){1,2}?(?:delete|destroy|uninstall|purge|remove|drop|wipe|prune|(?:un)?publish|rm|erase|stop"
    r"|restart);|down;"
)
_DRY_RUN = (
    r"[^;]+;.*(?<=;)(?:--dry-?run(?:=(?!none|false)[^;]*)?|--simulate|--just-print|--check|-WhatIf);"
    r"|(?:make|rsync);(?:[^;]*;)*?-[a-zA-Z]*n|apt(?:-get)?;(?:[^;]*;)*?-s;"
    r"|[^;]*;--(?:help|version);|\w+;\w+;--help;"
)
# Commands that run the rest of the line: short options with a value, "1" for an operand before the command,
# "+" when a shell reads the rest again.
_WRAPPERS = """sudo=ugpChDRTUrt doas=uC env=uC nice=n ionice=cn nohup= setsid= time=fo command= builtin=
exec=a stdbuf=ioe timeout=ks1 gtimeout=ks1 chroot=1 busybox= xargs=InPLdasE strace=oepPsSua unshare= nsenter=t
flock=w1 systemd-run=p taskset=1 fakeroot= unbuffer= caffeinate=t sshpass=pfe npx=p bunx=
start-process= watch=n+ ssh=bcDEeFIiJLlmOopQRSWw1+ eval=+ parallel=jSNnIL+ hyperfine=wrn+"""
_SETS = """
always rm rmdir unlink shred srm rimraf del-cli trash trash-put wipefs blkdiscard mkfs cryptsetup mkswap \
swapoff mv cp scp rsync truncate patch pkill killall xkill shutdown reboot halt poweroff umount useradd \
userdel usermod adduser deluser groupadd groupdel groupmod passwd chpasswd visudo rmmod insmod dropdb \
dropuser pg_restore lvremove vgremove sendmail msmtp ansible-playbook del erase rd move copy xcopy robocopy \
ren diskpart taskkill vssadmin bcdedit out-file add-content format-volume
text echo printf grep egrep fgrep rg ag ack man which type help cat ls less head tail cd tree git test [ [[ \
for case declare export pgrep find
-rf -rf -Rf -fr -fR
dockers podman compose docker-compose
runners docker kubectl uv poetry pipenv pdm hatch conda npm pnpm yarn bun bundle
valued --group --signal --kill-after --adjustment --unset --chdir --host --max-args --max-procs --delimiter \
--file --arg-file --interval --env --workdir --name --network --volume --publish --entrypoint --mount \
--context --env-file --namespace --kubeconfig --kube-context --profile --region --project --prefix \
--git-dir --work-tree --workspace --filter --repo --directory --with --package
shells sh bash dash zsh ksh ash fish pwsh powershell cmd iex invoke-expression
databases psql mysql mariadb sqlite3 duckdb sqlcmd bq clickhouse-client cockroach
scripts su script runuser ansible trap alias source .
keywords then do else elif if while until ! { coproc
reads get list search read fetch find view show describe query count poll log wait capture info
strong delete remove drop destroy write send kill purge erase wipe uninstall terminate replace
weak create update edit insert upload move rename publish deploy merge push post add set close stop cancel \
revoke reset clear execute submit click fill pin unpin patch modify append overwrite restart reply
by_action memory process cronjob send_message skill_manage computer_use browser_dialog browser_cdp discord \
discord_admin
"""
_BY_NAME = (
    r"browser_(?:type|press)$|ha_call_service$|kanban_(?:complete|(?:un)?block|comment|link|attach(?:_url)?)$"
)
_PAGE_SCRIPT = r"\.(?:click|submit|remove\w*|clear|setItem|dispatchEvent)\(|\.value\s*=[^=]|\bfetch\("
_CMDLET = r"(?:remove|clear|set|stop|move|copy|rename|restart)-[a-z]+$|mkfs\."
_INTERPRETER = r"(?:python|pypy|perl|ruby|node|deno|bun|php|lua|rscript|osascript)[\d.]*$|[gmn]?awk$"
_SQL = (
    r"(?i)\b(?:(?:DROP|ALTER)\s+(?:TABLE|DATABASE|SCHEMA|INDEX|VIEW|USER|ROLE|COLUMN|TRIGGER|FUNCTION|SEQUENCE)\b"
    r"|DELETE\s+FROM\b|TRUNCATE\s+[\w\"`]|REPLACE\s+INTO\b|UPDATE\s+[\w\"`.\[\]]+\s+SET\b|(?:GRANT|REVOKE)\s+\w)"
)
_CODE = (
    r"\b(?:rmtree|removedirs|unlink(?:Sync)?|rmdir(?:Sync)?|rmSync|rm_rf?|file_put_contents|write_(?:text|bytes)"
    r"|(?:write|append|copy)File(?:Sync)?|createWriteStream)\b\s*[('\"$@]|\bunlink\s"
    r"|\b(?:os|shutil|fs|File|FileUtils|Deno|Dir|process|requests)\.(?:remove|rename|replace|move|copy|delete|rm"
    r"|mv|cp|kill|write|truncate|put\(|patch\()"
    r"|(?:\.open\s*\(\s*|\bopen\s*\([^()]{0,200}?,\s*|\bmode\s*=\s*)['\"](?:[wax]b?t?\+?|r\+b?)['\"]"
    r"|\bopen\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*['\"]\+?>|\bexec\b[^\n]{0,99}b64decode"
)
_AWK = r"\bprint[^;}\n]{0,99}(?:>\s*\"(?!/dev/std)|\|\s*\"(?:ba)?sh\b)"
_CALL = r"\b(?:system|[pP]open|shell_exec|exec\w*|spawn\w*|run|call|check_\w+|shell script)\b([^;]{0,400})"
_PROGRAM = r"\b(?:import|def|print|function|const|let|var|return|require|console)\b"
_LITERAL = r"(?s)'([^'\\]*(?:\\.[^'\\]*)*)'|\"([^\"\\]*(?:\\.[^\"\\]*)*)\""

_PLAIN = {
    "": re.compile(r"[^\s\\'\"$`;&|<>()#]+"),
    '"': re.compile(r'[^\\"$`]+'),
    "<<": re.compile(r"[^\\$`]+"),
}
_ANSI = re.compile(r"(?s)\$'([^'\\]*(?:\\.[^'\\]*)*)'?")
_ESCAPE = r"(?s)\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))"
_TICKS = re.compile(r"(?s)`([^`\\]*(?:\\.[^`\\]*)*)`?")
_NAME = re.compile(r"\$(?:\{(\w+)\}|(\w+|[@*#?$!-])|\{[^{}()`$\"'\\]*\}|\{[!#]?\w*)")
_OPERATOR = re.compile(r"&>>?|<<<|<<-?|<>|<&|>>|>\||>&|[<>]\(|[<>]|;;&|;[;&]?|\|[|&]?|&&?")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]{0,80}\])?\+?=(.*)", re.S)
_NO_FILE = re.compile(r"(?i)/dev/(?:null|stdout|stderr|tty|full|fd/\d+)$|nul$|\x04")
_FETCH = re.compile(r"\b(?:curl|wget|base64|xxd|openssl|printf|echo|rev|zcat|gunzip|gzip)\b")
_BOMB = r"(?<!\w)([\w:]{1,30})\s?\(\s?\)\s{0,9}\{[^}]{0,80}?\1\s{0,9}\|\s{0,9}\1\s{0,9}&"


def _table(text):
    """Read lines of "names patterns" into {name: [pattern, ...]}."""
    table = {}
    text = text.replace("\\\n", "").replace("REMOVES", _REMOVES).replace("CHANGES", _CHANGES)
    for line in text.strip().split("\n"):
        names, _, rest = line.partition(" ")
        for name in names.split(","):
            table.setdefault(name, []).append(rest.replace("...", "(?:.*;)?"))
    return table


_SUBCOMMANDS, _OPTIONS = (_table(half) for half in _RULES.split("---\n"))
_KINDS = {kind: frozenset(words[0].split()) for kind, words in _table(_SETS).items()}
_RUN_THE_REST = dict(item.partition("=")[::2] for item in _WRAPPERS.split())


class _Found(Exception):
    """Carries the reason out of the reader."""


def is_destructive(name: object, args: object) -> bool:
    """Tell whether calling tool `name` with `args` changed something a replay must not touch again."""
    return destructive_reason(name, args) is not None


def destructive_reason(name: object, args: object) -> object:
    """Return what makes the call destructive ("rm", "git reset --hard", "redirection to file"), or None.

    `args` is the tool's argument object; a string is read as the command of a terminal. Any value is
    accepted, nothing is raised, and the time grows with the length of the text alone.
    """
    try:
        _judge_tool(name if isinstance(name, str) else "", args)
    except _Found as found:
        return re.sub(r"[^ -~]", "", str(found))[:60].strip() or "unreadable command"
    return None


def _judge_tool(name, args):
    fields = args if isinstance(args, dict) else {}
    if name == "terminal" and not fields:  # arguments that were no JSON, or the command itself
        text = re.sub(r'^\s*\{\s*"command"\s*:\s*"', "", args) if isinstance(args, str) else args
        fields = {"command": text}
    action = fields.get("action") or fields.get("method")
    verbs = _verbs(action) if isinstance(action, str) else []
    if name in _KINDS["by_action"]:
        if not _KINDS["reads"].intersection(verbs) or _KINDS["strong"].intersection(verbs):
            raise _Found(" ".join([name] + verbs))
    elif re.match(_BY_NAME, name) or (_changes(_verbs(name)) and name != "xai_video_edit"):
        raise _Found(name)
    elif _changes(verbs):
        raise _Found(" ".join([name] + verbs))
    expression = fields.get("expression")
    if isinstance(expression, str) and re.search(_PAGE_SCRIPT, expression):
        raise _Found(name + " " + re.search(_PAGE_SCRIPT, expression).group())
    for field in ("command", "cmd", "commands", "script", "code"):
        text = fields.get(field)
        if isinstance(text, (list, tuple)) and all(isinstance(word, str) for word in text):
            if field in ("command", "cmd") and len(text) > 1:
                _judge(list(text), None, None, _Reader(""))
                continue
            text = "\n".join(text)
        if isinstance(text, str):
            if field in ("code", "script"):
                _judge_code(text, _Reader(""))
            if field != "code" or not re.search(_PROGRAM, text):
                _Reader(text).read()


def _verbs(name):
    return re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name[:200]).lower())


def _changes(verbs):
    for verb in verbs:
        if verb in _KINDS["reads"]:
            return bool(_KINDS["strong"].intersection(verbs))
        if verb in _KINDS["strong"] or verb in _KINDS["weak"]:
            return True
    return False


class _Level:
    """One list of commands: the whole text, a subshell or a substitution."""

    def __init__(self, kind="", source=None, start=0):
        self.kind, self.source, self.start = kind, source, start  # kind: "(", "((", "$(" or "=("
        self.clear()

    def clear(self):
        self.words, self.word, self.bare, self.operator = [], None, True, ""
        self.stdin, self.test = None, False

    def add(self, text, bare=False):
        self.word = self.word or []
        self.word.append(text)
        self.bare = self.bare and bare


class _Reader:
    """Reads shell text once, from left to right, and judges each simple command at its end."""

    def __init__(self, text, depth=0, mode="", source=None, stdin=None, known=None):
        if len(text) > _LONGEST or depth > _DEEPEST:
            raise _Found("too long or nested too deep to judge")
        self.text, self.depth, self.heredocs = text, depth, []
        self.level = _Level(source=source)
        self.level.stdin = stdin
        self.stack = [self.level] + ([mode] if mode else [])  # levels, and '"' or "<<" while in quotes
        self.known = known or {"IFS": " ", "null": "/dev/null"}

    def inner(self, text, mode="", source=None, stdin=None):
        _Reader(text, self.depth + 1, mode, source, stdin, self.known).read()

    def push(self, *items):
        for item in items:
            self.stack.append(item)
            self.level = item if isinstance(item, _Level) else self.level
        if len(self.stack) > _NESTED:
            raise _Found("too long or nested too deep to judge")

    def read(self):
        text, at = self.text, 0
        if "(" in text and re.search(_BOMB, text):
            raise _Found("fork bomb")
        while at < len(text):
            mode = "" if self.stack[-1] is self.level else self.stack[-1]
            plain = _PLAIN[mode].match(text, at)
            char = text[at]
            if plain:
                self.level.add(plain.group(), not mode)
                at = plain.end()
            elif char == "\\":
                after = text[at + 1 : at + 2]
                if after != "\n":
                    self.level.add(char + after if mode and after not in '$`"\\' else after)
                at += 2
            elif char == "$":
                at = self.dollar(at, mode)
            elif char == "`":
                ticks = _TICKS.match(text, at)
                self.inner(re.sub(r"\\([`\\$])", r"\1", ticks.group(1)))
                self.level.add(_FETCHED if _FETCH.search(ticks.group(1)) else _UNKNOWN)
                at = ticks.end()
            elif char == '"':
                self.level.add("")
                if mode:
                    self.stack.pop()
                else:
                    self.push('"')
                at += 1
            elif char == "'":
                end = text.find("'", at + 1) % (len(text) + 1)
                self.level.add(text[at + 1 : end])
                at = end + 1
            else:
                at = self.bare_char(char, at)
        for item in reversed(self.stack):
            if isinstance(item, _Level):
                self.level = item
                self.end_command()

    def dollar(self, at, mode):
        text, level = self.text, self.level
        if text.startswith("$(", at):
            arithmetic = text.startswith("$((", at)
            self.push(_Level("((" if arithmetic else "$(", None, at + 1), *([_Level("((")] * arithmetic))
            return at + 2 + arithmetic
        ansi = None if mode else _ANSI.match(text, at)
        if ansi:
            level.add(re.sub(_ESCAPE, _unescape, ansi.group(1)))
            return ansi.end()
        name = _NAME.match(text, at)
        if not name:  # "$" alone, or before a double quote
            level.add("$" if mode else "")
            return at + 1
        value = self.known.get(name.group(1) or name.group(2), _UNKNOWN)
        for part in [value] if mode else re.split(r"(\s+)", value):
            if mode or part.strip():
                level.add(part)
            elif part:
                self.end_word()
        return name.end()

    def bare_char(self, char, at):
        text, level = self.text, self.level
        if char == "\n":
            self.end_command()
            return self.read_heredocs(at + 1)
        if char.isspace():
            self.end_word()
        elif char == "#" and level.word is None and level.kind != "((":
            return text.find("\n", at) % (len(text) + 1)
        elif char == "#" or (level.test and char != ";") or (level.kind == "((" and char in "<>"):
            level.add(char)
        elif char == "(":
            array = level.word and level.bare and level.word[-1][-1] in "=?*+@!"
            if not array:
                self.end_word()
            twice = not array and text.startswith("((", at)
            kind = "=(" if array else "((" if twice or level.kind == "((" else "("
            self.push(_Level(kind, level.source), *([_Level("((", level.source)] * twice))
            return at + 1 + twice
        elif char == ")":
            self.close(at)
        else:
            return self.operator(_OPERATOR.match(text, at).group(), at)
        return at + 1

    def close(self, at):
        level = self.level
        self.end_word()
        if len(self.stack) == 1 or level.words[:1] == ["case"]:  # the end of a pattern of `case`
            level.clear()
            return
        self.end_command()
        self.stack.pop()
        self.level = next(item for item in reversed(self.stack) if isinstance(item, _Level))
        if level.start or level.kind == "=(":
            self.level.add(_FETCHED if _FETCH.search(self.text, level.start, at) else _UNKNOWN)

    def operator(self, operator, at):
        level = self.level
        if operator[-1] == "(":  # process substitution
            level.add(_PIPE)
            self.push(_Level("$(", None, at + 1))
        elif operator[0] in "<>" or operator[:2] == "&>":
            if level.word and level.bare and "".join(level.word).isdigit():
                level.word = None
            self.end_word()
            level.operator = operator
        else:
            self.end_command(operator in ("|", "|&"))
        return at + len(operator)

    def end_word(self):
        level = self.level
        if level.word is None:
            return
        word, bare, operator = "".join(level.word), level.bare, level.operator
        level.word, level.bare, level.operator = None, True, ""
        assigned = _ASSIGN.match(word)
        if operator:
            self.redirect(operator, word, bare)
        elif bare and not level.words and word in _KINDS["keywords"]:
            pass
        elif word == "{" and bare:
            self.end_command()
        elif assigned and (not level.words or level.words[0] in ("export", "declare", "local", "readonly")):
            self.known[assigned.group(1)] = assigned.group(2) if len(word) < 200 else _UNKNOWN
        elif bare and word[0] == "{" and word[-1] == "}" and "," in word:
            level.words.extend(word[1:-1].split(","))
        else:
            level.test = word != "]]" if level.test else word == "[[" and not level.words
            level.words.append(word)

    def redirect(self, operator, word, bare):
        level = self.level
        if operator == "<<<":
            level.stdin = word
        elif operator[:2] == "<<":
            self.heredocs.append((word, operator, bare, level.words))
        elif operator[0] == "<" and operator != "<>":
            level.source = [] if word[:1] == _PIPE else level.source
        elif not _NO_FILE.match(word) and not (operator == ">&" and re.match(r"\d*-?$", word)):
            raise _Found("redirection to file")

    def end_command(self, piped=False):
        self.end_word()
        level = self.level
        words, source, stdin = level.words, level.source, level.stdin
        level.clear()
        if words and level.kind != "=(":
            _judge(words, source, stdin, self)
        level.source = words if piped else None

    def read_heredocs(self, at):
        text, pending, self.heredocs = self.text, self.heredocs, []
        for index, (mark, operator, bare, words) in enumerate(pending):
            start = end = at
            while at < len(text):
                stop = text.find("\n", at) % (len(text) + 1)
                line = text[at:stop]
                end, at = at, stop + 1
                if (line.lstrip("\t") if operator == "<<-" else line) == mark:
                    break
                end = stop
            body = text[start:end]
            if bare:
                self.inner(body, "<<")
            if not any(later[3] is words for later in pending[index + 1 : index + 2]):
                _judge(words, None, body, self)
        return at


def _unescape(escape):
    hexadecimal, octal = escape.group(1) or escape.group(2), escape.group(3)
    if hexadecimal or octal:
        return chr(int(hexadecimal, 16) if hexadecimal else int(octal, 8))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(escape.group(4), escape.group(4))


def _after_options(words, at, valued):
    while at < len(words) and words[at][:1] in ("-", "+") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word == "--":
            break
        short = word[1] != "-" and word[-1] in valued and not set(valued).intersection(word[1:-1])
        at += short or word in _KINDS["valued"] or (word == "--user" and "u" in valued)
    return at


def _judge(words, source, stdin, reader):
    """Find the command behind its wrappers. `source` is what is piped into it, `stdin` a here-document."""
    at, name = 0, ""
    while at < len(words):
        if _FETCHED in words[at]:
            raise _Found("runs fetched text")
        if words[at] == "-c":  # flock FILE -c COMMAND
            return reader.inner(" ".join(words[at + 1 : at + 2]))
        name = words[at].translate(_NO_MARKS).replace("\\", "/").rpartition("/")[2].lower()
        name = "docker" if name in _KINDS["dockers"] else name[:-4] if name.endswith(".exe") else name
        start, wrapper = at + 1, _RUN_THE_REST.get(name)
        if name in _KINDS["runners"]:
            sub = _after_options(words, start, "CcHnfpR")
            if words[sub : sub + 1] == ["compose"]:
                at = sub
                continue
            if sub < len(words) and words[sub] in ("run", "exec", "dlx", "x"):
                wrapper, start = "veupwhlmn" + "1" * (name == "docker"), sub + 1
                if name == "kubectl":
                    start = next((k for k in range(sub, len(words)) if words[k] == "--"), len(words))
        elif re.match(_INTERPRETER, name) and "-m" in words[start : start + 3]:
            wrapper, start = "", words.index("-m", start) + 1
        if "".join(words[start : start + 1])[:3] in _KINDS["-rf"] and re.search("[\x02?*]", words[at]):
            raise _Found("unknown command with -rf")
        if name in ("xargs", "parallel") and words[-1] != "{}":
            words = words + ["{}"]
        if wrapper is None and name and not _ASSIGN.match(words[at]):
            return _judge_command(name, words[start:], source, stdin, reader)
        if name == "command" and words[start : start + 1] in (["-v"], ["-V"]):
            return None
        again = wrapper or ""
        split = name == "env" and words[start : start + 1] in (["-S"], ["--split-string"])
        at = _after_options(words, start, again) + ("1" in again)
        if again[-1:] == "+" or split:
            return reader.inner(" ".join(words[at:]) or stdin or "", "", source, stdin)
    return None


def _line(args):
    return "".join(re.sub(r"[\s;]", "_", arg) + ";" for arg in args)


def _judge_command(name, args, source, stdin, reader):
    line, interpreter = _line(args), re.match(_INTERPRETER, name)
    shell, script = name in _KINDS["shells"], name in _KINDS["scripts"]
    if args and not (interpreter or shell or script) and re.match(_DRY_RUN, name + ";" + line):
        return
    if name in _KINDS["always"] or re.match(_CMDLET, name):
        raise _Found(name)
    operands = args[_after_options(args, 0, "CcHnfpRt") :]
    rest = line if len(operands) == len(args) else _line(operands)
    for patterns, text in ((_OPTIONS, line), (_SUBCOMMANDS, rest)):
        for pattern in patterns.get(name, ()):
            found = re.match(pattern, text)
            if found:
                raise _Found(name + " " + found.group().replace(";", " "))
    if name not in _KINDS["text"] and re.match(_REMOVAL, rest):
        raise _Found(name + " " + re.match(_REMOVAL, rest).group().replace(";", " "))
    if (shell or script) and any(_FETCHED in arg for arg in args):
        raise _Found("runs fetched text")
    if shell:
        _judge_shell(name, args, source, stdin, reader)
    elif script:
        for arg in [] if name in ("source", ".") else args:
            reader.inner(arg.partition("=")[2] if name == "alias" else arg)
    elif name == "make":
        reader.inner(stdin or "")
    elif interpreter:
        _judge_interpreter(name, args, source, stdin, reader)
    elif name in _KINDS["databases"]:
        found = re.search(_SQL, "\n".join(args + [stdin or ""] + (source or [])))
        if found:
            raise _Found(name + " " + found.group())
    elif name in ("find", "fd", "fdfind"):
        _judge_find(args, reader)
    elif name == "git" and re.match("submodule;foreach;|bisect;run;", rest):
        reader.inner(" ".join(operands[_after_options(operands, 2, "") :]))


def _judge_shell(name, args, source, stdin, reader):
    at = 0
    while at < len(args) and args[at][:1] in ("-", "+", "/") and len(args[at]) > 1:
        option = args[at].lower()
        at += 1
        if name in ("pwsh", "powershell", "cmd"):
            if option in ("-c", "-command", "/c", "/k"):
                return reader.inner(" ".join(args[at:]))
            if option.startswith("-enc"):
                raise _Found("runs encoded text")
        elif option[1] != "-" and "c" in option:
            return reader.inner("".join(args[_after_options(args, at, "oO") :][:1]), "", source, stdin)
        elif option[-1] == "o" or option == "--rcfile":
            at += 1
    if at >= len(args) or args[at] == "-" or "-s" in args[:at]:
        if source is not None:
            raise _Found("text piped into " + name)
        reader.inner(stdin or "")
    return None


def _judge_interpreter(name, args, source, stdin, reader):
    awk = coded = name.endswith("awk")
    for index, code in enumerate(args):
        option = args[index - 1] if index else ""
        if awk and re.search(_AWK, code):
            raise _Found("awk " + re.search(_AWK, code).group())
        if awk or re.match(r"-\w*[ceEpr]$|--eval$|--print$|eval$", option):
            coded = True
            _judge_code(code, reader)
    if any(_PIPE in arg and _FETCHED in arg for arg in args):
        raise _Found("runs fetched text")
    if not coded and args[_after_options(args, 0, "WXIMr") :][:1] in ([], ["-"]):
        if source is not None:
            raise _Found("text piped into " + name)
        _judge_code(stdin or "", reader)


def _judge_code(code, reader):
    found = re.search(_CODE, code) or (re.search("execut|query", code) and re.search(_SQL, code))
    if found:
        raise _Found(found.group())
    for call in re.finditer(_CALL, code):
        reader.inner(" ".join(single or double for single, double in re.findall(_LITERAL, call.group(1))))


def _judge_find(args, reader):
    command = []
    for arg in args + [";"]:
        if re.match(r"-(?:delete|fprint\w*|fls)$", arg):
            raise _Found("find " + arg)
        if arg in (";", "+"):
            _judge(command[1:], None, None, _Reader("", reader.depth + 1))
            command = []
        elif command or re.match(r"-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$", arg):
            command.append(arg)
