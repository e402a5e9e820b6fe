"""A dry run counts when it is an option of that tool which nothing undoes."""

import pytest

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.rules.dry_runs import is_dry
from hermes_ops.guard.verdict import Verdict

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def verdict(command: str) -> Verdict:
    return judge_shell(command, WHERE).verdict


@pytest.mark.parametrize(
    ("words", "dry"),
    [
        ("-n", True),
        ("-avn a b", True),
        ("a b --dry-run", True),
        ("--dry-run=true", True),
        ("-e -n", False),
        ("-en", False),
        ("--exclude --dry-run", False),
        ("--exclude=x --dry-run", True),
        ("-- --dry-run", False),
        ("--dry-run --no-dry-run", False),
        ("-n --no-n", False),
        ("--dry-run=false", False),
        ("--dry-run false", False),
        ("n dry-run", False),
        ("", False),
    ],
)
def test_only_an_option_of_its_own_makes_a_dry_run(words: str, dry: bool) -> None:
    found = is_dry(words.split(), frozenset(("-n", "--dry-run")), frozenset(("-e", "--exclude")), True)
    assert found is dry


@pytest.mark.parametrize(
    "command",
    [
        "npm publish --noop",
        "npm publish --list",
        "npm publish --dryrun",
        "npm publish --skip-publish",
        "npm publish --dry-run --no-dry-run",
        "npm publish --dry-run=false",
        "npm publish --dry-run false",
        "npm publish --tag --dry-run",
        "npm publish -- --dry-run",
        "pnpm publish --noop",
        "kamal deploy -h 10.0.0.1",
        "conan upload --list pkglist.json -r remote -c",
        "twine upload dist/* -c -h",
        "corepack npm publish",
        "corepack yarn@4 npm publish",
        "corepack pnpm@9 publish",
        "python3 -W ignore -m twine upload dist/*",
        "python3 -Im twine upload dist/*",
        "python -mtwine upload dist/*",
        "python -X dev -Wd -m twine upload dist/*",
        "python3 -B setup.py sdist upload",
        "cargo --color always publish",
        "npx netlify-cli deploy --prod",
        "netlify deploy -p",
        "netlify deploy --dir build -p",
        "goreleaser release --skip=announce",
    ],
)
def test_words_that_a_tool_ignores_or_uses_otherwise_are_no_dry_run(command: str) -> None:
    assert verdict(command) is Verdict.APPROVE


@pytest.mark.parametrize(
    "command",
    [
        "npm publish --dry-run",
        "npm publish --dry-run=true",
        "npm publish --tag next --dry-run",
        "npm publish --access public --dry-run",
        "pnpm -r publish --dry-run",
        "corepack pnpm publish --dry-run",
        "corepack enable",
        "cargo publish -n",
        "cargo publish -p core --dry-run",
        "cargo owner --list acme",
        "semantic-release --noop publish",
        "python -m semantic_release --noop publish",
        "goreleaser release --skip=publish,sign",
        "goreleaser release --skip publish",
        "goreleaser release --skip-publish",
        "twine upload --help",
        "python3 -m twine upload --help",
        "python3 -Im twine check dist/*",
        "python3 -mbuild",
        "python setup.py -n upload",
        "kamal deploy --help",
        "netlify deploy --dir build",
        "poetry publish -u me --dry-run",
    ],
)
def test_a_dry_run_of_the_tool_stays_silent(command: str) -> None:
    assert verdict(command) is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "rsync -a --exclude -n --delete empty/ ~/",
        "rsync -a --delete --exclude --dry-run empty/ ~/",
        "rsync -a --dry-run --no-dry-run --delete empty/ ~/",
        "rsync -a -n --no-n --delete empty/ ~/",
        "rsync -a --delete -en empty/ ~/",
        "rsync -a --remove-source-f ~/ h:/x",
        "rsync -a --remove-sent-files ~/ h:/x",
        "rclone sync empty ~ --exclude --dry-run",
        "rclone sync -n empty ~ --dry-run=false",
        "rclone sync empty ~ --filter -n",
        "aws s3 sync empty ~ --delete --exclude --dryrun",
        "unison /tmp/empty ~ -force=/tmp/empty -batch",
        "unison /tmp/empty ~ --force /tmp/empty -batch",
        "robocopy empty C:\\\\Windows /MIR /XF /L",
        "robocopy empty C:\\\\Windows /MIR /xd /l",
        "lftp -c 'mirror --delete --exclude --dry-run /pub /etc'",
        "mount -o --help --bind /tmp/empty /etc",
        "mount --bind -o --version /tmp/empty /etc",
        "sshfs -o --help host.example:/x ~/.hermes",
        "tar --remove -cf a /etc",
        "tar --rem -cf a.tar ~",
        "tar --remove-files -cf a -T <(echo /etc)",
        "echo /etc > l; tar --remove-files -cf a -T l",
        "echo /etc > l; tar --remove-files -cf a --files-from=l",
        "echo /etc | tar --remove-files -cf a -T -",
        "zip --mov -r a ~",
        "zip -r a ~ -TT 'rm -rf ~ #' -T",
        "gzip -rS --help /etc",
        "gzip -r --suffix -k /etc",
        "zstd -r --rm ~",
        "zstd --rm /etc/passwd",
        "fd -H . ~ --exec-batch=rm -rf",
        "fd . ~ --exec=rm -rf",
        "fd -HI . ~ -Xrm -rf",
        "fd . ~ -HIxrm -rf",
    ],
)
def test_values_of_options_silence_no_removal(command: str) -> None:
    assert verdict(command) is Verdict.BLOCK


def test_a_list_of_names_that_is_not_known_is_asked_about() -> None:
    assert verdict("tar --remove-files -czf a.tgz -T names.txt") is Verdict.APPROVE


@pytest.mark.parametrize(
    "command",
    [
        "rsync -avn --delete empty/ ~/",
        "rsync -a --delete --exclude '*.o' --dry-run empty/ ~/",
        "rsync -a --delete -e ssh -n empty/ ~/",
        "rclone sync empty ~ --dry-run",
        "rclone sync empty ~ --exclude '*.o' -n",
        "rclone -nv sync empty ~",
        "aws s3 sync empty s3://bucket --delete --dryrun",
        "robocopy a b /MIR /L",
        "robocopy a b /MIR /XF '*.tmp' /L",
        "mount --help",
        "sshfs --help",
        "tar czf a.tgz -T names.txt",
        "tar --remove-files -czf a.tgz build",
        "gzip -rk /etc",
        "gzip -r --keep /etc",
        "gzip --help",
        "zstd -r src",
        "zstd --rm dump.sql",
        "zstd -r --rm build",
        "zip -r -T a src",
        "fd -tx -e sh . ~",
        "fd __pycache__ -x rm -rf",
        "fd -e py -xwc -l",
    ],
)
def test_what_only_shows_or_keeps_stays_silent(command: str) -> None:
    assert verdict(command) is Verdict.ALLOW
