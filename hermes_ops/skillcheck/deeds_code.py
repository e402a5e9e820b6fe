"""Deeds of code."""

from __future__ import annotations

from .deed import Deed, code

DEEDS: tuple[Deed, ...] = (
    code(
        "skill.persist",
        "puts a download that runs into a timetable or a start file",
        r"crontab -|\.config/systemd|systemctl --user enable|launchagents|core\.?hookspath|/pre-push|"
        r"/etc/cron",
        r"(?:curl|wget)[^\n]*(?:\| ?(?:sudo )?(?:ba|z)?sh\b|--data|-d @|-t /)",
    ),
    code(
        "skill.persist",
        "makes every shell send what is typed",
        r"\.bashrc|\.zshrc|\.profile|precmd",
        r"prompt_command[^\n]*(?:curl|wget|nc )",
    ),
    code(
        "skill.remote-code",
        "runs as root a download over plain HTTP",
        r"(?:curl|wget)[^\n|]*http://[^\n|]*\| ?sudo (?:-\w+ )?(?:ba|z)?sh\b",
    ),
    code("skill.remote-code", "runs a package from an address", r"\bnpx (?:-y |--yes )?https?://"),
    code("skill.remote-code", "runs a text that is written backwards", r"\$\(echo [^)]*\| ?rev\)"),
    code(
        "skill.obscured",
        "decodes a text and runs it",
        r"(?<![.\w])(?:exec|eval|new function|instance_eval|invoke-expression|iex|loadstring|assert)\b ?[( ]",
        r"b(?:ase)?64_?decode|atob\(|frombase64string|buffer\.from\([^)\n]{1,200}['\"](?:base64|hex)['\"]|"
        r"decode64|decode_base64|fromhex\(|unhexlify|codecs\.decode\(|zlib\.decompress|marshal\.loads|"
        r"unpack\(['\"]m|['\"]\.join\(\s*(?:map\(\s*)?chr\b|fromcharcode",
        near=160,
    ),
    code("skill.command", "starts a miner of coins", r"stratum\+(?:tcp|ssl)://|\bxmrig\b", r"-o |pool"),
    code(
        "skill.credentials",
        "records keys, the clipboard or the screen and sends them",
        r"pynput|keyboard\.(?:on_press|hook|listener)|\bpyperclip|\bxclip\b|\bxsel\b|\bpbpaste|wl-paste|"
        r"get-clipboard|get_clipboard|clipboard\.read|\bscreencapture\b|\bscrot\b|imagegrab|import -window|"
        r"\barecord\b|/dev/input/event",
        r"urlopen|requests\.post|http\.client|\bcurl\b|socket\.|\| ?(?:nc|ncat|socat|openssl|ssh)\b|"
        r"/dev/tcp/|\bfetch\(|invoke-(?:webrequest|restmethod)",
        r"while (?:true|sleep|:|1)|listener|sleep[( ]|thread|setinterval|on_press",
    ),
    code(
        "skill.persist",
        "a hook of the agent that talks to the network",
        r"\"?(?:pretooluse|posttooluse|userpromptsubmit|sessionstart|sessionend|subagentstop)\"?\s*[:=]|"
        r"register_hook\(\s*['\"](?:pre|post|on)_\w+",
        r"\b(?:curl|wget|nc|ncat)\b[^\n]{0,200}(?:https?://(?!localhost|127\.)| -d|@-)|urlopen\(|"
        r"requests\.post\(",
        near=500,
    ),
    code(
        "skill.obscured",
        "waits for a day before it talks to the network",
        r"(?:date\.today\(\)|datetime\.(?:utc)?now\([^)\n]{0,30}\)|time\.time\(\)|date "
        r"\+[\"']?%[sy][^\n]{0,20}|new date\(\)|date\.now\(\))[^\n]{0,40}(?:>=?|-gt|"
        r"-ge)[^\n]{0,40}\b(?:20\d\d|1[789]\d{8}|1[789]\d{11})",
        r"urlopen|requests\.|\bcurl\b|\bwget\b|\bfetch\(|https?\.(?:get|request)|exec\(|eval[ (]|"
        r"os\.system|child_process",
        near=600,
    ),
    code(
        "skill.credentials",
        "reads what other programs keep for themselves and sends it",
        r"\.config/(?:gh|gcloud|rclone|himalaya|op|hub|doctl|stripe|flyctl|heroku|google-chrome|chromium|"
        r"discord|slack|signal|github-copilot)\b|\.mozilla|local/share/keyrings|library/(?:keychains|"
        r"messages|mail)\b|\.thunderbird|\.hermes/(?:memories|sessions|state\.db|auth\.json|\.env)|"
        r"\.claude/(?:projects|history|\.credentials)|\.codex/|\.cursor/|\.(?:bash|zsh|python|psql|mysql|"
        r"node_repl)_history|\.local/share/fish|logs?/chat|whatsapp|telegram desktop",
        r"urlopen|requests\.(?:post|put)|httpx\.post|http\.client|\bcurl\b[^\n]{0,200}(?: -d\b| --data| "
        r"-f\b| -t\b|@)|\| ?(?:nc|ncat|socat)\b|/dev/tcp/|method:\s*['\"]post|axios\.post|smtplib|"
        r"socket\.(?:socket|create_connection)",
        near=900,
    ),
    code(
        "skill.persist",
        "writes into the pages of other skills",
        r"glob\([^\n]{0,80}skill\.md|rglob\([\"']skill\.md|skills/\*[^\n]{0,40}/skill\.md|find "
        r"[^\n]{0,80}-name ['\"]?skill\.md",
        r"['\"]a[+b]?['\"]|>>|appendfile|\btee -a|sed -i|write_text\(",
        near=300,
    ),
    code(
        "skill.obey",
        "replaces its own page by a download",
        r"(?:curl|wget)\b[^\n]{0,240}(?:-o ?|> ?|--output[ =])[^\n]{0,80}skill\.md|"
        r"skill\.md[^\n]{0,80}(?:write_text|\.write\()[^\n]{0,80}(?:urlopen|requests|resp|response|r\.text)",
    ),
    code(
        "skill.obscured",
        "a script that deletes itself",
        r"\brm -\w+(?: --)? [\"']?\$\{?(?:0|bash_source\b)|(?:os\.(?:remove|unlink)|"
        r"unlink(?:sync)?)\((?:os\.path\.(?:abspath|realpath)\()?__file(?:__|name)|path\(__file__\)\.unlink",
    ),
    code(
        "skill.obscured",
        "keeps what it does out of the history",
        r"unset histfile|histfile=/dev/null|histsize=0|history -c\b|\btouch -\w*r ",
        r"\bcurl\b|\bwget\b|\bnc\b|authorized_keys|crontab|systemctl|\.bashrc|\.zshrc|\.profile|base64",
    ),
    code(
        "skill.exfiltrate",
        "watches files and sends them",
        r"inotifywait|fswatch|watchdog\.observers|chokidar|entr -",
        r"\bcurl\b[^\n]{0,200}(?: -d\b| --data| -f\b| -t\b)[^\n]{0,200}https?://(?!localhost|127\.)|"
        r"requests\.(?:post|put)|\| ?(?:nc|ncat|socat)\b",
        near=500,
    ),
    code(
        "skill.persist",
        "puts itself in the place of a command",
        r"(?:alias (?:ssh|su|gpg|aws|npm|git)=|\b(?:sudo|ssh|su|gpg|git|npm) ?\(\) ?\{|local/bin/(?:git|"
        r"ssh|sudo|npm|curl|gpg|ls|su|cat)\b)",
        r"\bread -\w*s|\bcurl\b|\bwget\b|\bnc\b|\btee -a|/dev/tcp/",
        r"\.bashrc|\.zshrc|\.profile|chmod (?:\+x|[0-7]*[157])|\binstall -m",
        near=500,
    ),
    code(
        "skill.persist",
        "opens a shell to the outside and tells its address",
        r"\b(?:tmate|ttyd|gotty|sshx|upterm|ngrok|cloudflared|serveo|frpc|chisel)\b",
        r"\b(?:nohup|setsid|disown)\b|-\w*f\w* |& *(?:\n|$)|\bdaemon",
        r"\bcurl\b[^\n]{0,200}https?://(?!localhost|127\.)|:22\b|authorized_keys",
        near=400,
    ),
    code(
        "skill.protection",
        "a workflow that gives secrets to code of strangers",
        r"pull_request_target",
        r"github\.event\.pull_request\.head|github\.head_ref",
    ),
    code(
        "skill.protection",
        "gives a container the whole disk",
        r"\b(?:docker|podman) run\b[^\n]{0,200}(?:-v|--volume)[ =][\"']?/:/[\w/]+(?![\w/\"':,]*ro\b)",
    ),
    code(
        "skill.exfiltrate",
        "gathers the user's files and sends them to an address",
        r"os\.walk\(|\brglob\(|\bglob\(|\biglob\(|\bscandir\(|readdir(?:sync)?\(|\bfind "
        r"[^\n]{0,80}-(?:name|type|exec)|\btar -?c\w* |zipfile\(",
        r"expanduser|path\.home\(|os\.homedir\(|\$home\b|~/|documents|desktop|downloads",
        r"requests\.(?:post|put)|method\s*[=:]\s*['\"](?:post|put)|urlopen\([^\n]{0,80}data|"
        r"\bcurl\b[^\n]{0,200}(?: -[dft]\b| --data\S*| --upload-file)|axios\.(?:post|put)",
        r"['\" =]https?://(?!localhost|127\.|\{|\$|api\.)[\w-]+\.[\w.-]+",
        near=1200,
    ),
    code(
        "skill.exfiltrate",
        "posts what it was given and hides whether it could",
        r"except(?: [\w., ()]+)?(?: as \w+)?:\s*\n\s*pass\b|catch ?(?:\(\w*\))? ?\{\s*\}|\.catch\(\(\w*\) "
        r"?=> ?\{?\s*\}?\)|(?:&>|> ?)/dev/null[^\n]{0,20}(?:&\s*$|&\n|\|\| ?true)",
        r"requests\.(?:post|put)|method\s*[=:]\s*['\"](?:post|put)|urlopen\(|request\(|"
        r"\bcurl\b[^\n]{0,200}(?: -[dft]\b| --data\S*)|axios\.post|\bfetch\(",
        r"\bopen\(|read_text\(|sys\.argv|sys\.stdin|readfilesync|\.read\(\)|\$\(cat |@\"?\$|process\.argv|"
        r"getpass|input\(",
        r"['\" ]https?://(?!localhost|127\.|\{|\$|api\.|ntfy|hc-ping|hooks\.|discord)[\w-]+\.[\w.-]+",
        r"\bdata\b|\bbody\b|\bjson\b| -[dft] | --data",
        near=500,
    ),
    code(
        "skill.persist",
        "sets up a service and says nothing",
        r"(?:systemctl[^\n]{0,80}\benable\b|launchctl (?:load|bootstrap|enable)|schtasks "
        r"/create)[^\n]{0,120}(?:>|&>) ?/dev/null",
        r"execstart|programarguments|/tr\b|\.service|\.plist",
        r"\bcurl\b|\bwget\b|\bnc\b|urlopen|https?://|base64|while (?:true|sleep|:)",
    ),
    code(
        "skill.credentials",
        "has git ask a program of its own for passwords",
        r"credential\.helper[ =]+['\"]?!(?!\s*(?:/\S*/)?(?:gh|aws|glab|gcloud|az|op)\b)",
        r"\bcurl\b|\bnc\b|\bwget\b|/tmp/|\btee\b|>>",
        near=200,
    ),
    code(
        "skill.protection",
        "sends what git fetches to another place",
        r"git config --global url\.[\"']?https?://(?![^/\s\"']*(?:github|gitlab|bitbucket|codeberg|azure|"
        r"gitea))[^\s]{1,200}insteadof",
    ),
    code(
        "skill.exfiltrate",
        "a workflow that sends every secret",
        r"tojson\( ?secrets ?\)|secrets: inherit",
        r"curl|wget|base64",
    ),
    code(
        "skill.exfiltrate",
        "pushes to a second place",
        r"remote set-url --add(?: --push)?|pushurl|set-url --push",
        r"https?://|git@",
    ),
    code(
        "skill.protection",
        "turns checks of certificates off for everything",
        r"http\.sslverify false|node_tls_reject_unauthorized=[\"']?0|strict-ssl false|"
        r"pythonhttpsverify=[\"']?0|_create_unverified_context",
        r"--global|export|>>|npm config|_create_default",
    ),
    code(
        "skill.protection",
        "settings that let the agent do everything unasked",
        r"bypasspermissions|\"approvals\"\s*:\s*\{\s*\"mode\"\s*:\s*\"off\"|"
        r"auto_?approve\"?\s*[:=]\s*(?:true|\[\"\*)",
    ),
)
