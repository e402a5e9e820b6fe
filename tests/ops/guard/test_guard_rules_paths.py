"""What a path is, however it is spelled."""

import pytest

from hermes_ops.guard.judge.invocation import UNKNOWN
from hermes_ops.guard.rules.paths import Place, locate, place

HOME = "/home/me"
CWD = "/home/me/proj/app"
SPELLED = {
    Place.ROOT: [
        "/",
        "//",
        "/.",
        "/./",
        "/../..",
        "/*",
        "/*/",
        "/???",
        "/.*",
        "/usr/..",
        "../../../..",
        "C:\\",
        "c:/",
        "/mnt/c",
        "/proc/1/root",
        "/home/../*",
    ],
    Place.SYSTEM: [
        "/etc",
        "/etc/",
        "//etc",
        "/usr/../etc",
        "/e*c",
        "/e?c/*",
        "/usr/*",
        "/usr/local",
        "/usr/local/bin",
        "/var",
        "/var/lib",
        "/var/lib/postgresql",
        "/boot/*",
        "/lib64",
        "/opt",
        "/srv/",
        "/mnt",
        "/media/*",
        "/dev",
        "/private/etc",
        "/System/Library",
        "C:\\Windows\\System32",
        "/home/me/../../etc",
        "/proc/self/root/etc",
    ],
    Place.HOME: [
        "~",
        "~/",
        "~/*",
        "~/.*",
        "~/.[!.]*",
        "/home",
        "/home/*",
        "/home/me",
        "/home/other",
        "/Users/x",
        "/root",
        "~root",
        "~other",
        "../..",
        "~/.ssh",
        "~/.config",
        "~/.gnupg/",
        "~/.ssh/*",
        "/Users",
        "C:\\Users\\x",
    ],
    Place.HERMES: ["~/.hermes", "~/.hermes/plugins", "/home/me/.hermes/config.yaml", "~/.herm*"],
    Place.DEVICE: ["/dev/sda", "/dev/nvme0n1p2", "/dev/disk/by-id/x", "/dev/mapper/vg-root", "/dev/mem"],
    Place.NOTHING: ["/dev/null", "/dev/stdout", "/dev/tty", "/dev/fd/3", "/dev/ttyUSB0"],
    Place.NETWORK: ["/dev/tcp/203.0.113.5/80", "/dev/udp/h/53"],
    Place.CURRENT: [".", "./", "*", "./*", "../app", CWD, ".[!.]*"],
    Place.PARENT: ["..", "../", "/home/me/proj"],
    Place.VERSION_CONTROL: [".git", ".git/", "./.git/objects", "../other/.git", ".hg"],
    Place.BUILD: [
        "build",
        "./dist/",
        "node_modules",
        "packages/a/node_modules",
        "x.egg-info",
        "__pycache__",
        ".venv",
        "target/debug",
        "~/.cache/pip",
        "/srv/site/node_modules",
        "*.pyc",
        UNKNOWN + "/build",
        "build-" + UNKNOWN,
        "tmp/x",
        ".mypy_cache",
    ],
    Place.TEMPORARY: ["/tmp/x", "/tmp/x/y", "/var/tmp/a", "/tmp/" + UNKNOWN, "/dev/shm/x", "/private/tmp/x"],
    Place.SHARED: [
        "/tmp",
        "/tmp/*",
        "/srv/www",
        "/opt/x",
        "/mnt/backup",
        "/var/log/nginx",
        "/data/x",
        "/app",
    ],
    Place.WORK: ["src", "./src/a.py", "../x", "~/Documents", "/home/other/x", "~/D*", "src/" + UNKNOWN],
    Place.UNKNOWN: [
        UNKNOWN,
        UNKNOWN + "/",
        UNKNOWN + "/*",
        "/" + UNKNOWN,
        "/home/" + UNKNOWN,
        UNKNOWN + "/x",
    ],
}


@pytest.mark.parametrize(
    ("expected", "path"), [(kind, path) for kind, paths in SPELLED.items() for path in paths]
)
def test_a_path_is_the_same_place_in_every_spelling(expected, path):
    assert place(path, CWD, HOME) is expected


def test_without_a_known_folder_relative_paths_are_judged_by_their_names():
    assert place(".", None, HOME) is Place.CURRENT
    assert place("..", None, HOME) is Place.PARENT
    assert place("build", None, HOME) is Place.BUILD
    assert place("src", None, HOME) is Place.WORK
    assert place("../../../../../etc", None, HOME) is Place.SYSTEM


def test_a_project_under_tmp_is_work():
    assert place("src", "/tmp/work/repo", HOME) is Place.WORK
    assert place(".", "/tmp/work/repo", HOME) is Place.CURRENT
    assert place("x", "/tmp", HOME) is Place.TEMPORARY
    assert place("/tmp/other", "/tmp/work/repo", HOME) is Place.TEMPORARY


def test_a_home_may_lie_anywhere():
    assert place("~", None, "/data/people/me") is Place.HOME
    assert place("/data/people", None, "/data/people/me") is Place.HOME
    assert place("~/.hermes", None, "/data/me", "/data/me/state") is Place.HERMES
    assert place("/data/me/state/config.yaml", None, "/data/me", "/data/me/state") is Place.HERMES
    assert place("/etc", None, "/") is Place.SYSTEM


def test_a_star_that_is_quoted_is_a_name():
    assert place("/*", CWD, HOME, glob=False) is not Place.ROOT
    assert place("*", CWD, HOME, glob=False) is Place.WORK


def test_a_located_path_says_how_deep_and_how_wide_it_is():
    whole = locate("/etc/*", CWD, HOME)
    assert (whole.path, whole.depth, whole.everything, whole.pattern) == ("/etc", 1, True, False)
    some = locate("logs/*.log.1", CWD, HOME)
    assert (some.path, some.everything, some.pattern) == (CWD + "/logs/*.log.1", False, True)


def test_long_paths_take_no_more_than_linear_time():
    for path in ("/a" * 20_000, "../" * 20_000, "[" * 20_000, "*" * 20_000, "a[" * 10_000, "~" * 20_000):
        assert isinstance(place(path, CWD, HOME), Place)
