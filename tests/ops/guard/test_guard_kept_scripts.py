"""Commands that a line keeps in a settings file, and the tool that runs them from there."""

import pytest

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.verdict import Verdict

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


def verdict(command: str) -> Verdict:
    return judge_shell(command, WHERE).verdict


@pytest.mark.parametrize(
    "command",
    [
        "gh alias set x '!rm -rf ~' && gh x",
        "echo '!rm -rf ~' | gh alias set x -",
        "npm pkg set scripts.x='rm -rf ~'; false && npm pkg delete scripts.x; npm run x",
        "npm pkg set scripts.x='rm -rf ~'; (cd sub && npm pkg delete scripts.x); npm run x",
        "npm pkg set scripts.x='rm -rf ~'; npm --prefix other pkg delete scripts.x; npm run x",
        "npm pkg set scripts.x='rm -rf ~'; npm --prefix other pkg set scripts.x=true; npm run x",
        "npm pkg set scripts.x=a scripts.x=b scripts.x=c scripts.x=d scripts.x='rm -rf ~'; npm run x",
        "npm pkg set scripts.x='rm -rf ~' scripts.x=a scripts.x=b scripts.x=c scripts.x=d; npm run x",
        "npm pkg set scripts.x='rm -rf ~' && npm run x --ignore-scripts",
        "npm pkg set scripts.x='rm -rf ~' && npm run x -- --ignore-scripts",
        "npm pkg set scripts.test='rm -rf ~' && npm test --ignore-scripts",
        "npm pkg set scripts.prex='rm -rf ~' && npm run prex --ignore-scripts",
        "npm pkg set scripts.postinstall='rm -rf ~' && npm ci --ignore-scripts=false",
        "npm pkg set scripts.x='rm -rf ~' && npm --loglevel silent run x",
        "npm pkg set scripts.x='rm -rf ~' && npm --script-shell bash run x",
        "npm pkg set scripts.x='rm -rf ~' && npm --of-another-name y run x",
        "npm pkg set scripts.x='rm -rf ~' && corepack npm@10 run x",
        "npm pkg set scripts.x='rm -rf ~' && node --run x",
        "npm pkg set scripts.x='rm -rf ~' && node --run=x",
        "npm pkg set scripts.x='rm -rf ~' && npx run-s x",
        "npm pkg set scripts.a:x='rm -rf ~' && npx run-p 'a:*'",
        "npm pkg set scripts.x='rm -rf ~' && npx npm-run-all --parallel y x",
        "npm pkg set scripts.x='rm -rf ~' && deno task x",
        "composer config --json scripts.x '[\"rm -rf ~\"]' && composer x",
        "gh alias set --shell x 'rm -rf ~' && gh x",
        "bun pm pkg set scripts.x='rm -rf ~' && bun run x",
        "echo 'rm -rf ~' > .envrc && direnv allow && direnv exec . make",
        "echo 'import os; os.system(\"rm -rf ~\")' > conftest.py; pytest",
        "echo 'import os; os.system(\"rm -rf ~\")' > tasks.py; inv x",
        'echo \'require("child_process").execSync("rm -rf ~")\' > gulpfile.js; npx gulp',
        "npm pkg set scripts.pretest='rm -rf ~' && npm test",
        "npm pkg set scripts.x='rm -rf /' && npm run x",
        "npm pkg set 'scripts.x=rm -rf /' && npm run-script x",
        "npm pkg set scripts.postinstall='rm -rf ~' && npm install",
        "npm pkg set scripts.prepare='rm -rf ~'; npm ci",
        "npm pkg set scripts.prebuild='rm -rf ~' && npm run build",
        "npm pkg set scripts.start='rm -rf /etc' && yarn start",
        'npm pkg set "scripts[test]=rm -rf /" && npm t',
        "npm pkg set scripts.test='rm -rf ~' && pnpm test",
        "pnpm pkg set scripts.x='rm -rf ~' && pnpm run x",
        "yarn config set x y; npm pkg set scripts.x='rm -rf ~'; yarn x",
        "npm pkg set scripts.x='rm -rf ~'; yarn run x",
        "npm set-script x 'rm -rf ~' && npm run x",
        'npm pkg set --json scripts=\'{"x":"rm -rf ~"}\' && npm run x',
        'npm pkg set scripts.x=\'node -e "require(\\"fs\\").rmSync(\\"/etc\\",{recursive:true})"\' '
        "&& npm run x",
        "composer config scripts.x 'rm -rf ~' && composer run-script x",
        "composer config scripts.post-install-cmd 'rm -rf /' && composer install",
        "composer config scripts.x 'rm -rf ~' && composer x",
        "git config alias.x '!rm -rf ~' && git x",
        "git config --global alias.x '!rm -rf ~'; git x",
        "git -c alias.x='!rm -rf ~' x",
        "git config core.pager 'rm -rf ~' && git log",
        "git config core.fsmonitor 'rm -rf ~' && git status",
        "git config core.editor 'rm -rf ~ #' && git commit",
        "mkdir h; printf '#!/bin/sh\\nrm -rf ~\\n' > h/pre-commit; chmod +x h/pre-commit; "
        "git config core.hooksPath h; git commit -m x",
        "mkdir h && echo 'rm -rf ~' > h/post-checkout && git -c core.hooksPath=h checkout main",
        "mkdir -p /tmp/x && echo 'rm -rf ~' > /tmp/x/pre-push && git config core.hooksPath "
        "/tmp/x && git push",
        "echo 'rm -rf ~' > .husky/pre-commit; git config core.hooksPath .husky; git commit -m x",
        "cat > justfile <<'E'\nx:\n    rm -rf ~\nE\njust x",
        "just -f - x <<'E'\nx:\n    rm -rf ~\nE",
        "just --justfile /tmp/j x; cat > /tmp/j <<'E'\nx:\n    rm -rf ~\nE\njust --justfile /tmp/j x",
        "cat > Taskfile.yml <<'E'\nversion: '3'\ntasks:\n  x:\n    cmds:\n      - rm -rf ~\nE\ntask x",
        "cat > /tmp/t.yml <<'E'\nversion: '3'\ntasks:\n  x:\n    cmd: rm -rf ~\nE\ntask -t /tmp/t.yml x",
        "make -f - <<'E'\nall:\n\trm -rf ~\nE",
        "make -f /dev/stdin x <<'E'\nx:\n\trm -rf /\nE",
        "cat > pyproject.toml <<'E'\n[tool.poe.tasks]\nx = \"rm -rf ~\"\nE\npoe x",
        "cat > pyproject.toml <<'E'\n[tool.pdm.scripts]\nx = \"rm -rf ~\"\nE\npdm run x",
        "cat > pyproject.toml <<'E'\n[tool.hatch.envs.default.scripts]\nx = \"rm -rf ~\"\nE\nhatch run x",
        "cat > pyproject.toml <<'E'\n[tool.taskipy.tasks]\nx = \"rm -rf ~\"\nE\ntask x",
        "cat > Pipfile <<'E'\n[scripts]\nx = \"rm -rf ~\"\nE\npipenv run x",
        "cat > tox.ini <<'E'\n[testenv]\ncommands = rm -rf ~\nE\ntox",
        "cat > noxfile.py <<'E'\nimport os\nos.system(\"rm -rf ~\")\nE\nnox",
        'cat > deno.json <<\'E\'\n{"tasks": {"x": "rm -rf ~"}}\nE\ndeno task x',
        "cat > Procfile <<'E'\nweb: rm -rf ~\nE\nforeman start",
        "cat > mise.toml <<'E'\n[tasks.x]\nrun = \"rm -rf ~\"\nE\nmise run x",
        "cat > .pre-commit-config.yaml <<'E'\nrepos:\n"
        "- repo: local\n  hooks:\n  - id: x\n    entry: rm -rf ~\n"
        "    language: system\nE\npre-commit run -a",
        "cat > lefthook.yml <<'E'\npre-commit:\n  commands:\n"
        "    x:\n      run: rm -rf ~\nE\nlefthook run pre-commit",
        "cat > Makefile.toml <<'E'\n[tasks.x]\nscript = \"rm -rf ~\"\nE\ncargo make x",
        'cat > package.json <<\'E\'\n{"scripts": {"x": "rm -rf ~"}}\nE\nnpm run x',
        'cat > composer.json <<\'E\'\n{"scripts": {"x": ["rm -rf ~"]}}\nE\ncomposer run x',
        "hg --config hooks.pre-status='rm -rf ~' status",
        "git config filter.x.clean 'rm -rf ~' && git add .",
    ],
)
def test_a_command_kept_in_settings_is_judged_when_it_runs(command: str) -> None:
    assert verdict(command) is Verdict.BLOCK


@pytest.mark.parametrize(
    "command",
    [
        "npm pkg set scripts.x='git push --force' && npm run x",
        "npm pkg set scripts.clean='rm -rf src' && npm run clean",
    ],
)
def test_a_person_is_asked_when_a_kept_command_needs_one(command: str) -> None:
    assert verdict(command) is Verdict.APPROVE


@pytest.mark.parametrize(
    "command",
    [
        "gh alias set co 'pr checkout'",
        "echo 'export FOO=1' > .envrc && direnv allow",
        "npm pkg set scripts.clean='rm -rf dist' && npm run clean",
        "npm pkg set scripts.test='jest' && npm test",
        "npm pkg set scripts.x='rm -rf src'",
        "npm pkg set scripts.release='git push --force' && npm test",
        "npm pkg get scripts",
        "npm pkg set description='rm -rf / must be blocked' && npm test",
        "npm pkg set name=demo version=1.0.0 && npm test",
        "npm pkg delete scripts.pretest && npm test",
        "npm pkg set scripts.postinstall='rm -rf ~' && npm ci --ignore-scripts",
        "npm pkg set scripts.pretest='rm -rf ~' && npm test --ignore-scripts",
        "npm pkg set scripts.x='rm -rf ~' && npx run-s y",
        "npm pkg set scripts.x=jest && node --run x",
        "npm pkg set scripts.b:x='rm -rf ~' && npx run-p 'a:*'",
        "node --run x && deno task x && npx run-s x && corepack npm run x && corepack enable",
        "composer config --json scripts.x '[\"phpunit\"]' && composer x",
        "git config alias.st status && git st",
        "git config alias.lg 'log --oneline --graph' && git lg",
        "git config core.hooksPath .githooks",
        "git config core.pager 'less -FRX' && git log",
        "git config core.hooksPath .husky && git commit -m x",
        "mkdir h; printf '#!/bin/sh\\nnpm test\\n' > h/pre-commit; git config core.hooksPath "
        "h; git commit -m x",
        "composer config scripts.test phpunit && composer test",
        "cat > justfile <<'E'\nbuild:\n    cargo build\nE\njust build",
        "make -f - <<'E'\nall:\n\techo ok\nE",
        "cat > pyproject.toml <<'E'\n[tool.poetry]\n"
        'description = "asks before rm -rf /"\nE\npoetry install',
        "cat > README.md <<'E'\n    rm -rf ~\nE\nnpm test",
        "cat > pyproject.toml <<'E'\n[tool.pdm.scripts]\nclean = \"rm -rf build\"\nE\npdm run clean",
    ],
)
def test_settings_that_keep_harmless_commands_are_silent(command: str) -> None:
    assert verdict(command) is Verdict.ALLOW
