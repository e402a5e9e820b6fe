"""Everyday commands beside those that pack, mirror, publish, mount, loop or keep scripts."""

import pytest

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.verdict import Verdict

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def verdict(command: str) -> Verdict:
    return judge_shell(command, WHERE).verdict


@pytest.mark.parametrize(
    "command",
    [
        "npm run x -- --flag",
        "npm run build && npm test",
        "npm run clean -- rm",
        "yarn build --mode production",
        "tar -xzf a.tgz -C /tmp/x --strip-components=1",
        "git -C /etc/nginx clean -n",
        "for i in 1 2 3; do ./worker.sh & done; wait",
        "echo 'for i in 1 2; do ./job.sh \"$i\" & done; wait' > run.sh; bash run.sh",
        "cat > run.sh <<'E'\ncase \"$1\" in --worker) work; exit;; esac\n"
        '"$0" --worker & "$0" --worker & wait\nE\nbash run.sh',
        "while true; do ./sync.sh; sleep 60; done &",
        "while :; do inotifywait -e modify src && make & wait; done",
        "while ! nc -z localhost 5432; do sleep 1; done",
        'f() { echo "in $FUNCNAME"; g; }; g() { echo "called by ${FUNCNAME[1]}"; }; f',
        'die() { echo "${FUNCNAME[1]}: $*" >&2; exit 1; }; die x',
        "cp a.txt ~/$name",
        "echo hi > ~/$name.txt",
        'for f in ~/notes/*; do wc -l "$f"; done',
        "for f in src/*; do sed -i 's/a/b/' \"$f\"; done",
        "find . -type f -name '*.txt' -exec cp {} /tmp/out/ \\;",
        "find ~/photos -name '*.jpg' -exec cp {} /tmp/out/ \\;",
        "find . -name '*.log' -mtime +30 -exec gzip {} \\;",
        "find /var/log/app -name '*.log' -exec gzip {} +",
        "gzip -9 dump.sql",
        "find src -type f -exec touch {} +",
        "find . -type f | xargs sed -n 1p",
        "find . -name '*.bak' | zip -@ bak.zip",
        "mvn clean install",
        "gradle build",
        "rclone sync docs /tmp/docs",
        "aws s3 sync build s3://bucket/site",
        "lftp -e 'ls; quit' ftp://host.example",
        'docker run --rm -v "$PWD:/src" alpine mount',
        "pytest -q",
        "cat > conftest.py <<'E'\nimport pytest\n@pytest.fixture\n"
        "def x(tmp_path):\n    return tmp_path\nE\npytest",
        "cat > conftest.py <<'E'\nimport shutil, pytest\n"
        "@pytest.fixture\ndef x(tmp_path):\n    yield\n"
        "    shutil.rmtree(tmp_path)\nE\npytest",
        "cat > tox.ini <<'E'\n[testenv]\ncommands_pre = rm -rf build\ncommands = pytest {posargs}\nE\ntox",
        "cat > pyproject.toml <<'E'\n[tool.poe.tasks]\n"
        'clean = "rm -rf dist build"\ntest = "pytest"\n'
        "E\npoe clean && poe test",
        "cat > .pre-commit-config.yaml <<'E'\nrepos:\n"
        "- repo: https://github.com/x/y\n  rev: v1\n"
        "  hooks:\n  - id: z\nE\npre-commit run -a",
        'cat > Gemfile <<\'E\'\nsource "https://rubygems.example"\ngem "rails"\nE\nbundle install',
        "cat > vite.config.js <<'E'\nexport default { build: { outDir: \"dist\" } }\nE\nnpx vite build",
        "echo 'layout python' > .envrc && direnv allow",
        "gio trash ~/Downloads/old.iso",
        "trash-put ~/notes/old",
        "composer config repositories.x vcs https://x.example && composer install",
        "git config core.hooksPath .githooks && chmod +x .githooks/*",
        "npm pkg set scripts.prepare=husky && npm install",
        "npm pkg set scripts.test='node --test' type=module && npm test",
        "npm pkg set scripts.build='tsc -p .' && npm run build",
        "npm install x",
        "python -m build",
        "python -m pip install twine",
        "cargo release --help",
        "rake test",
        "bundle exec rake spec",
        "npx prettier --write .",
        "npx -y create-vite app",
        "uvx ruff check",
        "yarn add vsce",
        "pnpm add -D semantic-release",
        "yarn test publish",
        "npm exec -- jest",
        "gh alias list",
        "helm upgrade x chart",
        "conan install .",
        "dart test",
        "docker compose push --help",
    ],
)
def test_everyday_work_is_silent(command: str) -> None:
    assert verdict(command) is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "zip -m a.zip a b",
        "git -C /etc/nginx clean -fd",
        "cd /opt/app && git clean -fdx",
        "git clean -fd src",
        "git clean -ffdx -e .venv",
        "aws s3 sync --delete build s3://bucket/site",
        "npm publish",
    ],
)
def test_a_person_is_asked_about_work_that_would_be_lost_or_published(command: str) -> None:
    assert verdict(command) is Verdict.APPROVE


@pytest.mark.parametrize(
    "command",
    [
        "aws s3 sync --delete s3://empty /etc",
        "cp -f /dev/null /etc/*",
        "rsync -a --delete /var/empty/ /usr/",
        "cd / && tar --remove-files -cf /tmp/x.tar etc",
        "tar --remove-files -T - -cf x.tar < list; tar cf x --remove-files /boot",
        "find ~ -print0 | tar --null -T - --remove-files -cf x.tar",
        "7z u -sdel x.7z /usr",
        "zip -rm x.zip /home",
        "rar m -r /tmp/x.rar ~/.ssh",
    ],
)
def test_the_system_and_a_home_stay(command: str) -> None:
    assert verdict(command) is Verdict.BLOCK
