"""Programs whose words are data: what they print, search, send, store or test is never run by them."""

from __future__ import annotations

from ..rules.names import names as listed

# Their arguments, their input and the files they read are text to them.
EVERYDAY = (
    # printing and looking
    listed(
        "echo printf print cat tac nl tee less more most bat batcat glow mdcat head tail wc column pr fold "
        "fmt cowsay figlet toilet say espeak banner lolcat boxes yes seq true false : clear tput stat file "
        "ls exa eza lsd tree du df realpath readlink basename dirname pwd date cal hexdump xxd od strings "
        "diff cmp comm sdiff colordiff delta icdiff vimdiff meld cksum md5sum sha1sum sha256sum sha512sum "
        "b2sum sum"
    )
    # searching and cutting
    | listed(
        "grep egrep fgrep zgrep rg ag ack ugrep git-grep fzf sed gsed awk gawk mawk nawk cut tr sort uniq "
        "join paste rev shuf look split csplit jq gojq yq xq tomlq dasel miller mlr xsv qsv csvcut csvgrep "
        "csvlook xmllint xmlstarlet pup htmlq sqlite3 psql mysql mariadb duckdb clickhouse-client "
        "redis-cli find fd fdfind locate plocate ctags cscope sgrep semgrep ast-grep codespell aspell "
        "hunspell expr test [ [[ let bc dc factor numfmt"
    )
    # questions about programs
    | listed(
        "man info help apropos whatis tldr cheat which type whereis command hash alias unalias complete "
        "compgen history fc bind declare typeset export local readonly set unset shopt getopt getopts trap "
        "pgrep ps pidof pstree lsof fuser top htop shellcheck shfmt bashate checkbashisms explainshell"
    )
    # messages, tickets, the clipboard, mail, the web
    | listed(
        "logger notify-send terminal-notifier wall write mesg mail mailx mutt sendmail msmtp swaks s-nail "
        "slack slackcat ntfy telegram-send apprise signal-cli twilio curl wget http https xh httpie hurl "
        "grpcurl websocat wscat nc ncat netcat telnet openssl gh glab hub tea jira linear bd beads todo "
        "task taskwarrior remind khal calcurse xclip xsel wl-copy pbcopy clip clip.exe zenity kdialog "
        "dialog whiptail yad fold pastebinit gist lp lpr a2ps enscript pandoc qrencode llm ollama aichat "
        "mods sgpt"
    )
    # version control: messages, patterns, names
    | listed("git hg svn bzr fossil jj darcs cvs git-cliff tig lazygit delta commitizen cz")
    # tests, linters and formatters, which read code and names
    | listed(
        "pytest py.test nose2 nosetests tox nox jest vitest mocha ava cypress playwright rspec cucumber "
        "behave phpunit pest ctest bats shellspec prove busted ruff black isort flake8 pylint mypy pyright "
        "bandit eslint prettier stylelint biome tsc rubocop golangci-lint gofmt clippy-driver rustfmt "
        "clang-format clang-tidy cppcheck hadolint yamllint markdownlint vale proselint pre-commit trivy "
        "gitleaks trufflehog coverage hypothesis hyperfine tokei cloc scc"
    )
    # packing, copying and removing names
    | listed(
        "cp mv ln rm rmdir mkdir touch chmod chown chgrp install mktemp truncate shred rsync scp tar zip "
        "unzip gzip gunzip zcat bzip2 xz zstd 7z cpio ar dd sync sleep kill pkill killall wait read mapfile "
        "readarray cd pushd popd source . exit return break continue shift umask ulimit jobs fg bg disown"
    )
    # encodings
    | listed("base64 base32 basenc uuencode uudecode iconv dos2unix unix2dos gpg age sops urlencode recode")
    # programs with rules about verbs of their own
    | listed(
        "hermes-ops npm pnpm yarn pip pip3 uv poetry cargo rustup go mvn gradle dotnet gem bundle composer "
        "brew apt apt-get dnf yum pacman apk"
    )
)

# Of other programs, the verb behind which all words are data.
DATA_VERBS: dict[str, frozenset[str]] = {
    "hermes": listed("ops memory skills"),
    "kubectl": listed("annotate label get describe logs explain"),
    "docker": listed("build buildx commit tag inspect logs images ps"),
    "podman": listed("build commit tag inspect logs images ps"),
}

# Options whose value is prose or a pattern.
PROSE = listed(
    "-m -k -g --content --details --message --title --body --description --desc --text --comment --note "
    "--notes --subject --reason --summary --query --grep --pattern --match --msg --search --annotation "
    "--question --goal --label --name --regex --regexp --exclude --include --ignore --expect --expected "
    "--commit-message --changelog"
)
