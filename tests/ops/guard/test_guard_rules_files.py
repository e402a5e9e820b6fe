"""What is said of writing a file, by whatever means."""

import pytest

from hermes_ops.guard.rules.files import write_findings
from hermes_ops.guard.rules.names import names
from hermes_ops.guard.rules.removal import of_path
from hermes_ops.guard.verdict import Verdict

HOME = "/home/me"
HERMES = "/home/me/.hermes"
WRITTEN = {
    "writes.accounts": [
        "/etc/passwd",
        "/usr/../etc/shadow",
        "/etc/sudoers.d/x",
        "~/.ssh/authorized_keys",
        "/etc/pam.d/su",
    ],
    "guard.changed": [
        "~/.hermes/config.yaml",
        "~/.hermes/plugins/hermes-ops/guard/verdict.py",
        "~/.hermes/ops/guard.toml",
        "~/.hermes/ops/guard/accepted.json",
        "~/.hermes/shell-hooks-allowlist.json",
        "~/.hermes/profiles/work/config.yaml",
        "/usr/lib/python3/site-packages/hermes_ops/guard/hook.py",
    ],
    "guard.agent-state-changed": ["~/.hermes/.env", "~/.hermes/auth.json", "~/.hermes/state.db"],
    "guard.agent-code": [
        "~/.hermes/plugins/other/__init__.py",
        "~/.hermes/hermes-agent/run.py",
        "~/.hermes/cron/jobs.json",
    ],
    "writes.system-file": ["/etc/hosts", "/usr/bin/tool", "/boot/x", "/proc/sys/kernel/x", "/var/lib/x/y"],
    "writes.startup": [
        "~/.bashrc",
        "~/.config/systemd/user/a.service",
        "/etc/cron.d/a",
        "/etc/systemd/system/a.service",
        "~/.config/autostart/a.desktop",
        "~/Library/LaunchAgents/a.plist",
        "venv/lib/python3.12/site-packages/evil.pth",
    ],
    "writes.git-hook": [".git/hooks/pre-commit", "../other/.git/hooks/post-merge", ".git/config"],
    "writes.keys": ["~/.ssh/id_rsa", "~/.ssh/config", "~/.gnupg/gpg.conf"],
    "disk.overwritten": ["/dev/sda"],
    "power.sysrq": ["/proc/sysrq-trigger"],
}
ORDINARY = names(
    """
    src/app.py .env ../x.txt /tmp/x ~/notes.md ~/.hermes/scripts/report.sh ~/.hermes/skills/a/SKILL.md
    ~/.hermes/logs/x.log ~/.ssh/known_hosts .git/hooks/pre-commit.sample /dev/null /srv/site/index.html
    hermes_ops/guard.py .github/workflows/ci.yml ~/.config/app/settings.json ~/.gitconfig
    .husky/pre-commit build/x
    """
)


@pytest.mark.parametrize(
    ("rule", "path"), [(rule, path) for rule, paths in WRITTEN.items() for path in paths]
)
def test_a_file_that_is_more_than_a_file_is_named(rule, path):
    (each,) = write_findings(path, "/home/me/proj", HOME, HERMES)
    assert each.rule == rule
    if not path.startswith(("venv", ".", "/")):
        assert write_findings(path.replace("~", HOME), None, HOME)[0].rule == rule


@pytest.mark.parametrize("path", sorted(ORDINARY))
def test_an_ordinary_file_may_be_written(path):
    assert write_findings(path, "/home/me/proj", HOME, HERMES) == []


def test_what_holds_the_agent_in_check_is_blocked():
    for path in WRITTEN["guard.changed"] + WRITTEN["guard.agent-state-changed"] + WRITTEN["writes.accounts"]:
        assert write_findings(path, None, HOME, HERMES)[0].verdict is Verdict.BLOCK


def test_code_that_removes_is_judged_as_the_command_would_be():
    assert of_path("/etc", True, None, HOME).rule == "files.system-removal"
    assert of_path("~", True, None, HOME).verdict is Verdict.BLOCK
    assert of_path("notebooks", True, "/home/me/proj", HOME).verdict is Verdict.APPROVE
    assert of_path("old.txt", False, "/home/me/proj", HOME) is None
    assert of_path("build", True, None, HOME) is None
