"""Small interpreters, editors and debuggers: code that removes a tree or starts a program."""

import time

import pytest

from hermes_ops.guard.code.spelled_paths import spelled
from hermes_ops.guard.code.tree_calls import removed
from hermes_ops.guard.judge.judge import judge_shell

BLOCKED = [
    "vim -es -c 'call delete($HOME, \"rf\")' -c 'qa!'",
    'vim -es -c \'call delete("/etc", "rf")\' -c q',
    'nvim --headless -c \'call delete(expand("~"), "rf")\' -c qa',
    'nvim --headless +\'lua vim.fn.delete(vim.fn.expand("~"), "rf")\' +q',
    "nvim --headless -c 'lua os.execute(\"rm -rf ~\")' -c q",
    "vim -c ':!rm -rf ~' -c q",
    "vim -c 'silent !rm -rf /' -c q",
    "vim -es -c 'let x = system(\"rm -rf /\")' -c q",
    "vim -es -c 'echo system(\"rm -rf ~\")' +q",
    "vim -es -c 'exe \"!rm -rf /\"' -c q",
    "vim -es -c 'execute \"!rm -rf \" . $HOME' -c q",
    'vim -es -c \'call mkdir("/x") | call delete("/usr","rf")\' -c q',
    "vim -es -c 'eval delete($HOME,\"rf\")' -c q",
    'vim -c \'call delete($HOME . "/.ssh", "rf")\' -c q',
    "vim -e -s <<< 'call delete($HOME, \"rf\")'",
    "ex -s -c '!rm -rf ~' -c q",
    "vim -es -c 'py3 import shutil; shutil.rmtree(\"/\")' -c q",
    "vim -es -c 'perl system(\"rm -rf /\")' -c q",
    "vim -es -c 'ruby system(\"rm -rf /\")' -c q",
    'nvim -l /dev/stdin <<< \'vim.fn.delete("/home", "rf")\'',
    'nvim --headless -c \'call jobstart(["rm","-rf","/"])\' -c q',
    'vim -es -c \'call system(["rm", "-rf", "/"])\' -c q',
    "emacs --batch --eval '(delete-directory \"/\" t)'",
    "emacs --batch --eval '(delete-directory \"~\" t)'",
    "emacs --batch --eval '(delete-directory (getenv \"HOME\") t)'",
    "emacs --batch --eval '(delete-directory (expand-file-name \"~/\") t)'",
    "emacs -Q --batch --eval '(shell-command \"rm -rf /\")'",
    'emacs --batch --eval \'(call-process "rm" nil nil nil "-rf" "/")\'',
    'emacs --batch --eval "(delete-directory \\"/home\\" \'recursive)"',
    'emacs --batch --eval \'(shell-command (concat "rm" " -rf" " /"))\'',
    "emacsclient -e '(shell-command-to-string \"rm -rf ~\")'",
    "emacs --batch --eval='(delete-directory \"/etc\" t)'",
    "julia -e 'rm(homedir(); recursive=true, force=true)'",
    "julia -e 'rm(\"/\"; recursive=true)'",
    "julia -e 'rm(\"/etc\", recursive=true)'",
    "julia -e 'rm(ENV[\"HOME\"], recursive=true)'",
    "julia -e 'run(`rm -rf /`)'",
    "julia -e 'run(`sh -c \"rm -rf ~\"`)'",
    "julia --eval='run(`rm -rf /`)'",
    "julia -e 'foreach(p -> rm(p; recursive=true), readdir(\"/\", join=true))'",
    "julia -e 'rm(joinpath(homedir(), \".hermes\"); recursive=true)'",
    "julia -e 'rm(expanduser(\"~\"); force=true, recursive=true)'",
    'octave --eval \'rmdir("/", "s")\'',
    'octave --eval \'confirm_recursive_rmdir(0); rmdir(getenv("HOME"), "s")\'',
    "octave --eval 'system(\"rm -rf ~\")'",
    "octave-cli --eval 'unix(\"rm -rf /\")'",
    "gdb -batch -ex 'shell rm -rf /'",
    "gdb -nx -ex '!rm -rf ~' -ex quit",
    "gdb -batch -ex 'python import os; os.system(\"rm -rf /\")'",
    "gdb -ex 'pipe info registers | sh -c \"rm -rf /\"'",
    "gdb -batch -ex 'call (int)system(\"rm -rf /\")' -p 1",
    "lldb -b -o 'platform shell rm -rf /'",
    "lldb -b -o 'script import os; os.system(\"rm -rf ~\")'",
    "ghc -e 'System.Process.callCommand \"rm -rf /\"'",
    "ghc -e 'System.Directory.removeDirectoryRecursive \"/\"'",
    "ghc -e ':!rm -rf ~'",
    "ghc -e 'System.Directory.getHomeDirectory >>= System.Directory.removeDirectoryRecursive'",
    "runghc <<< 'main = System.Directory.removePathForcibly \"/home\"'",
    "elixir -e 'File.rm_rf!(\"/\")'",
    "elixir -e 'File.rm_rf!(System.user_home!())'",
    "elixir -e 'File.rm_rf(Path.expand(\"~\"))'",
    'elixir -e \'System.cmd("rm", ["-rf", "/"])\'',
    "elixir -e 'System.shell(\"rm -rf ~\")'",
    "elixir -e ':os.cmd(~c\"rm -rf /\")'",
    "groovy -e '\"rm -rf /\".execute()'",
    "groovy -e 'new File(\"/\").deleteDir()'",
    "groovy -e 'new File(System.getProperty(\"user.home\")).deleteDir()'",
    "groovy -e 'new File(System.getenv(\"HOME\")).deleteDir()'",
    'groovy -e \'["rm","-rf","/"].execute()\'',
    "erl -noshell -eval 'file:del_dir_r(\"/\"), halt().'",
    "erl -noshell -eval 'os:cmd(\"rm -rf /\"), halt().'",
    "erl -noshell -eval 'file:del_dir_r(os:getenv(\"HOME\")), halt().'",
    "racket -e '(delete-directory/files \"/\")'",
    "racket -e '(system \"rm -rf /\")'",
    "racket -e '(delete-directory/files (find-system-path (quote home-dir)))'",
    'sbcl --eval \'(sb-ext:run-program "/bin/rm" (list "-rf" "/"))\'',
    "sbcl --eval '(uiop:delete-directory-tree #P\"/\" :validate t)'",
    "sbcl --noinform --eval '(sb-ext:delete-directory \"/home\" :recursive t)'",
    "bb -e '(babashka.fs/delete-tree \"/\")'",
    "bb -e '(shell \"rm -rf ~\")'",
    "kotlinc -e 'java.io.File(System.getProperty(\"user.home\")).deleteRecursively()'",
    "jshell - <<< 'Runtime.getRuntime().exec(\"rm -rf /\")'",
    "swift -e 'import Foundation; try FileManager.default.removeItem(atPath: \"/\")'",
    "swift -e 'try FileManager.default.removeItem(atPath: NSHomeDirectory())'",
    "swipl -g 'shell(\"rm -rf /\")' -t halt",
    "swipl -g \"delete_directory_and_contents('/home')\" -t halt",
    "nim e x; nim --eval:'removeDir(\"/\")'",
    "kak -n -e 'nop %sh{rm -rf ~}; quit'",
    "scheme --quiet <<< '(run-shell-command \"rm -rf /\")'",
    "rdmd --eval='rmdirRecurse(\"/\")'",
    "v -e 'os.rmdir_all(\"/\")!'",
    "vim -es -u NONE -c 'let d = $HOME' -c 'call delete(d, \"rf\")' -c q",
    'vim -Nes -c \'call delete(expand("$HOME"), "rf")\' -c q',
    "nvim --headless -c 'lua vim.fs.rm(vim.env.HOME, {recursive=true, force=true})' -c q",
    "nvim --headless -c 'lua vim.fn.system(\"rm -rf /\")' -c q",
    'nvim --headless -c \'lua vim.fn.system({"rm", "-rf", "/"})\' -c q',
    "nvim --headless -c 'call system(\"rm -rf \" .. $HOME)' -c q",
    "vim -c '%!rm -rf ~' -c q",
    "vim -c 'r !rm -rf ~' -c q",
    "vim -c 'w !sudo rm -rf /' -c q",
    "vim +'!rm -rf /' +q",
    "vim --cmd 'call system(\"rm -rf /\")'",
    'ex -s +\'call delete("/", "rf")\' +q',
    'vi -c \':call delete("/home", "rf")\'',
    "vim -es -c \"call delete('/etc', 'rf')\" -c q",
    "vim -es -c 'call rename($HOME, \"/tmp/gone\")' -c q",
    "vim -es -c 'terminal rm -rf /' -c q",
    "emacs --batch --eval '(let ((d \"~\")) (delete-directory d t))'",
    "emacs --batch --eval '(progn (setq d (getenv \"HOME\")) (delete-directory d t))'",
    'emacs --batch --eval "(f-delete \\"/\\" t)"',
    'emacs -batch -eval \'(delete-directory (concat (getenv "HOME") "/") t)\'',
    'emacs --batch --eval \'(start-process "x" nil "rm" "-rf" "/")\'',
    'emacs --batch --eval \'(process-file "rm" nil nil nil "-rf" "/")\'',
    "julia -e 'd = homedir(); rm(d, force=true, recursive=true)'",
    "julia -e 'for f in readdir(\"/\"; join=true); rm(f; recursive=true, force=true); end'",
    "julia -E 'Base.rm(\"/etc\"; recursive=true)'",
    "julia -e 'run(`rm -rf $(homedir())`)'",
    'julia -e \'run(Cmd(["rm","-rf","/"]))\'',
    'julia -e \'rm(joinpath("/", "usr"); recursive=true)\'',
    "Rscript -e 'd <- \"~\"; unlink(d, recursive=TRUE)'",
    'Rscript -e \'unlink(file.path("/", "etc"), recursive=TRUE)\'',
    "Rscript -e 'invisible(system(\"rm -rf ~\", intern=TRUE))'",
    "Rscript -e 'shell(\"rm -rf /\")'",
    "octave --eval \"system('rm -rf /')\"",
    'octave --eval \'confirm_recursive_rmdir(false); rmdir(fullfile("/", "home"), "s")\'',
    'octave -q --eval \'d = getenv("HOME"); rmdir(d, "s")\'',
    "elixir -e '\"/\" |> File.rm_rf!()'",
    "elixir -e 'System.user_home!() |> File.rm_rf!()'",
    "elixir -e 'File.rm_rf!(Path.join(System.user_home!(), \".ssh\"))'",
    "elixir -e 'home = System.get_env(\"HOME\"); File.rm_rf(home)'",
    'elixir --eval \'System.cmd("sh", ["-c", "rm -rf /"])\'',
    "iex -e 'File.rm_rf!(\"/home\")'",
    "erl -noshell -eval 'file:del_dir_r(\"/home\"), init:stop().'",
    "erl -eval '{ok,[[H]]}=init:get_argument(home), os:cmd(\"rm -rf /\").'",
    "groovy -e 'new File(\"/home\").deleteDir()'",
    "groovy -e 'def f = new File(System.getenv(\"HOME\")); f.deleteDir()'",
    "groovy -e 'org.apache.commons.io.FileUtils.deleteDirectory(new File(\"/\"))'",
    "groovy -e '\"rm -rf /\".execute().waitFor()'",
    "kotlin -e 'java.io.File(\"/\").deleteRecursively()'",
    "scala -e 'scala.reflect.io.Directory(new java.io.File(\"/\")).deleteRecursively()'",
    "amm -c 'os.remove.all(os.root / \"etc\")'",
    "amm -c 'os.remove.all(os.home)'",
    'jshell <<< \'new ProcessBuilder("rm","-rf","/").start()\'',
    "swift -e 'import Foundation; "
    "try! FileManager.default.removeItem(at: FileManager.default.homeDirectoryForCurrentUser)'",
    "swift - <<< 'import Foundation; try? FileManager.default.removeItem(at: URL(fileURLWithPath: \"/\"))'",
    "ghc -e 'System.Directory.removeDirectoryRecursive =<< System.Directory.getHomeDirectory'",
    "runghc <<< 'main = getHomeDirectory >>= removePathForcibly'",
    "racket -e '(require racket/file) (delete-directory/files (find-system-path (quote home-dir)))'",
    'racket -e "(delete-directory/files (build-path \\"/\\" \\"etc\\"))"',
    'racket -l racket/base -e \'(system* "/bin/rm" "-rf" "/")\'',
    'guile -c \'(system (string-append "rm" " -rf /"))\'',
    "sbcl --eval '(uiop:run-program \"rm -rf /\")' --quit",
    "sbcl --eval '(uiop:delete-directory-tree (user-homedir-pathname) :validate t)'",
    "clisp -x '(run-shell-command \"rm -rf ~\")'",
    "clojure -M -e '(babashka.fs/delete-tree (System/getProperty \"user.home\"))'",
    "bb -e '(babashka.fs/delete-tree (babashka.fs/home))'",
    "bb '(babashka.fs/delete-tree \"/\")'",
    "bb -e '(fs/delete-tree (System/getenv \"HOME\"))'",
    "swipl -g \"delete_directory_and_contents('/')\" -t halt",
    "nim --eval:'import os; removeDir(getHomeDir())' e",
    "crystal eval 'require \"file_utils\"; FileUtils.rm_rf(Path.home.to_s)'",
    "rdmd --eval='std.file.rmdirRecurse(environment[\"HOME\"]);'",
    "ocaml -e 'ignore (Sys.command \"rm -rf /\")'",
    "ocaml <<< 'Sys.command \"rm -rf ~\";;'",
    'fennel -e \'(os.execute (.. "rm" " -rf /"))\'',
    "gdb -batch -ex 'print system(\"rm -rf /\")' ./a.out",
    "gdb -nx --batch -ex 'pipe p 1 | rm -rf /'",
    "gdb --eval-command='shell rm -rf ~' --batch",
    "gdb -x /dev/stdin <<< 'shell rm -rf /'",
    "gdb -q <<< 'shell rm -rf /'",
    "lldb -o 'expr (int)system(\"rm -rf /\")' -p 1",
    "tclsh <<< 'file delete -force -- /'",
    "tclsh <<< 'eval exec rm -rf /'",
    "tclsh <<< 'exec sh -c \"rm -rf ~\"'",
    "tclsh <<< 'foreach f [glob /*] { file delete -force $f }'",
    "wish <<< 'file delete -force $::env(HOME)'",
    "expect -c 'spawn rm -rf /; interact'",
    "expect -c 'exec rm -rf /'",
    "lua -e 'os.remove(\"/etc/passwd\")'",
    'lua -e \'local h = os.getenv("HOME"); os.execute("rm -rf " .. h)\'',
    "luajit -e 'io.popen(\"rm -rf /\"):close()'",
    "raku -e 'shell(\"rm -rf /\")'",
    "maxima --batch-string='system(\"rm -rf ~\")$'",
    "gnuplot -e \"system 'rm -rf /'\"",
    "gnuplot <<< 'system(\"rm -rf /\")'",
    "kak -e 'nop %sh{ rm -rf / }'",
    "mix run -e 'File.rm_rf!(System.user_home!())'",
    "root -l -q -e 'gSystem->Exec(\"rm -rf /\")'",
    "cling <<< '#include <cstdlib>\nsystem(\"rm -rf /\");'",
    'php -r \'array_map("unlink", glob("/etc/*"));\'',
    "csharp -e 'System.IO.Directory.Delete(\"/home\", true);'",
    "jrunscript -e 'java.lang.Runtime.getRuntime().exec(\"rm -rf /\")'",
    "gosh -e '(sys-system \"rm -rf /\")'",
    "mit-scheme --quiet <<< '(run-shell-command \"rm -rf /\")'",
    "chez --script /dev/stdin <<< '(system \"rm -rf /\")'",
    "newlisp -e '(exec \"rm -rf /\")'",
    "pike -e 'Stdio.recursive_rm(\"/\")'",
    'janet -e \'(os/execute @["rm" "-rf" "/"] :p)\'',
    "hy -c '(do (import shutil) (shutil.rmtree \"/\"))'",
    "sage -c 'os.system(\"rm -rf ~\")'",
    "xonsh -c 'import shutil; shutil.rmtree(\"/\")'",
    'vim -es -c \'call writefile(["ssh-rsa AAAA x"], $HOME . "/.ssh/authorized_keys", "a")\' -c q',
    "vim -es -c 'call writefile([], \"/etc/passwd\")' -c q",
]
SILENT = [
    'vim -es -c \'call delete("build", "rf")\' -c q',
    "vim -c 'set number' -c 'syntax on' main.c",
    "vim +42 src/main.py",
    "vim -es -c '%s/foo/bar/g' -c 'wq' file.txt",
    "vim -c 'w !sudo tee %' notes",
    'vim -es -c \'call writefile(["a", "b"], "out.txt")\' -c q',
    "vim -es -c 'echo system(\"git status\")' -c q",
    "nvim --headless '+Lazy! sync' +qa",
    "nvim --headless -c 'lua print(vim.version())' -c q",
    "nvim --headless -c 'PlenaryBustedDirectory tests/' -c q",
    "ex -s file.txt <<< $'g/rm -rf/d\\nwq'",
    "vim -es -c 'g/rm -rf \\//d' -c wq notes.txt",
    "ed -s file.txt <<< $'1d\\nw\\nq'",
    "emacs --batch --eval '(message \"hello\")'",
    "emacs --batch -l org --eval '(org-export-to-file)' notes.org",
    "emacs --batch --eval '(delete-directory \"build\" t)'",
    "emacs --batch --eval '(princ \"rm -rf /\")'",
    "julia -e 'using Pkg; Pkg.instantiate()'",
    "julia -e 'rm(\"build\"; recursive=true, force=true)'",
    "julia -e 'd = mktempdir(); rm(d; recursive=true)'",
    "julia --project -e 'println(joinpath(homedir(), \"x\"))'",
    "julia -e 'rm(\"out.txt\")'",
    "Rscript -e 'unlink(\"build\", recursive=TRUE)'",
    "Rscript -e 'install.packages(\"dplyr\")'",
    "R -e 'devtools::test()'",
    "octave --eval 'disp(1+1)'",
    "octave --eval 'x = getenv(\"HOME\"); disp(x)'",
    "elixir -e 'IO.puts System.user_home!()'",
    "elixir -e 'File.rm_rf!(\"_build\")'",
    "mix run -e 'IO.inspect(MyApp.start())'",
    "mix test",
    "groovy -e 'println new File(\"build\").exists()'",
    "groovy -e 'new File(\"build\").deleteDir()'",
    "ghc -e 'print (2+2)'",
    "racket -e '(displayln (+ 1 2))'",
    "gdb -batch -ex 'bt' ./a.out core",
    "gdb -batch -ex 'print x' -ex 'info registers' ./a.out",
    "gdb -q -ex 'break main' -ex run ./a.out",
    "gdb -batch -ex 'shell ls' ./a.out",
    "lldb -b -o 'bt' ./a.out",
    "erl -noshell -eval 'io:format(\"~p~n\", [1+1]), halt().'",
    "swift -e 'print(\"hi\")'",
    "swift build",
    "kotlinc hello.kt -include-runtime -d hello.jar",
    "scheme --version",
    "kak -n -e 'quit'",
    "tclsh <<< 'puts [glob *.tcl]'",
    "tclsh <<< 'file delete -force build'",
    "sbcl --script build.lisp",
    "bb -e '(println (+ 1 2))'",
    "crystal eval 'puts 1'",
    "v run main.v",
    "jshell -q < script.jsh",
    "lua -e 'print(os.getenv(\"HOME\"))'",
    "nim c -r main.nim",
    "elixir -e 'dir = System.tmp_dir!(); IO.puts(dir)'",
]


@pytest.mark.parametrize("command", BLOCKED)
def test_code_that_must_not_run_is_blocked(command: str) -> None:
    judgement = judge_shell(command)
    assert str(judgement.verdict) == "block", judgement


@pytest.mark.parametrize("command", SILENT)
def test_everyday_code_is_silent(command: str) -> None:
    judgement = judge_shell(command)
    assert str(judgement.verdict) == "allow", judgement


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ('"/a/b"', "/a/b"),
        ('joinpath(homedir(), "x", "y")', "~/x/y"),
        ('(concat (getenv "HOME") "/x")', "~/x"),
        ('Path.join(System.user_home!(), ".ssh")', "~/.ssh"),
        ('$HOME . "/x"', "~/x"),
        ('os:getenv("HOME")', "~"),
        ('(expand-file-name "~/x")', "~/x"),
        ('fullfile("/", "home")', "/home"),
        ('d; d = "/srv"', "/srv"),
        ('os.root / "etc"', "/etc"),
        ('readdir("/", join=true)', "/*"),
        ("mktempdir()", None),
        ("config.folder", None),
        ("d", None),
    ],
)
def test_a_path_is_read_as_it_is_spelt_or_not_at_all(code: str, path: str | None) -> None:
    found = spelled(code, 0)
    assert (found[0] if found is not None else None) == path


@pytest.mark.parametrize(
    "code",
    [
        "rm_rf(" * 3000,
        'x = rm_rf(a); a = b + b + b + b; b = c + c + c + c; c = d + d + d + d; d = e + e + e + e; e = "/"',
        "delete($HOME, " * 1500,
        "new File(" * 2000 + ").deleteDir()",
        "a.b" * 6000 + ".deleteDir()",
        "getHomeDirectory >>= " * 900 + "removePathForcibly",
        " " * 18000 + "rm_rf",
        "((((" * 4000 + "rm_rf",
        "rm_rf(" + '"a" + ' * 3000,
    ],
)
def test_hostile_code_is_read_in_time(code: str) -> None:
    started = time.perf_counter()
    list(removed(code))
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "silent " * 1100 + "x",
        " " * 8000 + "x",
        "w" + " " * 8000 + "x",
        "system(" * 1000,
        "exe " * 2000,
        "|" * 8000,
    ],
)
def test_hostile_lines_of_an_editor_are_read_in_time(text: str) -> None:
    started = time.perf_counter()
    judge_shell(f"vim -es -c '{text}' -c q")
    judge_shell(f"gdb -batch -ex '{text}'")
    assert time.perf_counter() - started < 1.0


EDITORS_THAT_RUN = [
    "vim -es -c 'bufdo !rm -rf ~' -c q",
    "vim -es -c 'tab !rm -rf ~' -c q",
    "vim -es -c 'hide !rm -rf ~' -c q",
    "vim -es -c 'g/^/!rm -rf ~' -c q",
    "vim -es -c 'au VimLeave * !rm -rf ~' -c q",
    "vim -es -c 'normal! :!rm -rf ~\r' -c q",
    "vim -es -c 'set makeprg=rm\\ -rf\\ ~ | make' -c q",
    'vim -es -c \':call feedkeys(":!rm -rf ~\\<CR>", "tx")\' -c q',
    'vim -es -c \'call call("system", ["rm -rf ~"])\' -c q',
    "vim -es -c 'for c in [\"rm -rf ~\"] | call system(c) | endfor' -c q",
    "vim -es -c 'vert term rm -rf ~' -c q",
    "vim -es -c 'com X !rm -rf ~ | X' -c q",
    "vim -es -c 'luado os.execute(\"rm -rf ~\")' -c q",
    "ed '!rm -rf ~'",
    "printf 'e !rm -rf ~\\n' | ed",
    "VIMINIT='!rm -rf ~' vim",
    "nvim --cmd='!rm -rf ~'",
    "vim -c 'e /etc/passwd' -c '%d' -c 'wq!'",
    "nvim --server s --remote-send ':!rm -rf ~<CR>'",
    "vim -es -c '%argdo silent !rm -rf ~' -c q",
    "vim -es -c 'windo hide vert !rm -rf ~' -c q",
    "vim -es -c 'v/x/silent !rm -rf ~' -c q",
    "vim -es -c 'autocmd! mine VimLeave,BufRead * ++once nested silent !rm -rf ~' -c q",
    "vim -es -c 'command! -nargs=0 X :!rm -rf ~' -c X",
    "vim -c 'au VimEnter * call system(\"rm -rf ~\")'",
    "vim -es -c 'let &makeprg = \"rm -rf ~\" | make' -c q",
    "EXINIT='bufdo !rm -rf ~' ex",
    "nvim --server s --remote-expr 'system(\"rm -rf ~\")'",
    "vim -es -c 'bufdo lua os.execute(\"rm -rf ~\")' -c q",
    "nvim -c 'tab te rm -rf ~'",
    "ex -s <<< $'e /etc/shadow\\n%d\\nx'",
]
EDITORS = [
    "vim -es -c 'bufdo %s/foo/bar/ge | update' -c q *.txt",
    "vim -c 'au BufWritePre *.py !black %' main.py",
    "vim -c 'vert split notes.txt' -c 'tabdo windo set number'",
    "vim -es -c 'g/^$/d' -c 'v/keep/d' -c wq notes.txt",
    "vim -es -c 'normal! gg=G' -c wq main.c",
    "vim -c 'set makeprg=ninja\\ -C\\ build' -c make",
    "VIMINIT='set number' vim main.c",
    "nvim --server /tmp/nvim.sock --remote-send ':w<CR>'",
    "vim -c 'e notes.txt' -c 'wq'",
    "vim -c 'vert term htop'",
    "vim -c 'command! Fmt !gofmt -w %' main.go",
    "vim --cmd='set nocompatible' a.txt",
    "nvim --headless -c 'set shortmess+=I' -c 'tabnew README.md' -c 'qa!'",
    'vim -es -c \'for f in ["a b", "c d"] | echo system("ls " . f) | endfor\' -c q',
]


@pytest.mark.parametrize("command", EDITORS_THAT_RUN)
def test_what_editors_run_is_stopped(command: str) -> None:
    assert str(judge_shell(command).verdict) == "block"


@pytest.mark.parametrize("command", EDITORS)
def test_everyday_editors_are_silent(command: str) -> None:
    assert str(judge_shell(command).verdict) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "g/" + "\\\\a" * 2500,
        "g/a/" * 2000,
        "tab " * 2000,
        "au a b " * 1100,
        "com -a " * 1100,
        "norm :" * 1300,
        "feedkeys(" * 800,
        "set makeprg=" * 600,
        "let &mp=" * 900,
        'for x in ["a b"] | call system(x)' * 200,
        "e ~/x | w |" * 700,
    ],
)
def test_hostile_lines_for_editors_are_read_in_time(text: str) -> None:
    started = time.perf_counter()
    judge_shell(f"vim -es -c '{text}'")
    assert time.perf_counter() - started < 0.5


DEBUGGERS_THAT_RUN = [
    "gdb -batch -ex 'she rm -rf ~'",
    "gdb --ex 'shell rm -rf ~'",
    "gdb -batch -ex 'p $_shell(\"rm -rf ~\")'",
    'gdb -batch -ex \'eval "shell rm -rf %s", "~"\'',
    "gdb -batch -ex 'alias x=shell' -ex 'x rm -rf ~'",
    "gdb -batch -ex 'with print pretty -- shell rm -rf ~'",
    "gdb -batch -ex 'guile (system \"rm -rf ~\")'",
    "gdb -batch -ex 'run -c \"rm -rf ~\"' /bin/sh",
    "echo 'import os; os.system(\"rm -rf ~\")' > a.py; gdb -x a.py",
    "lldb -b -o 'pl sh rm -rf ~'",
    "gdb-multiarch -batch -ex 'shell rm -rf ~'",
    "gdb -nx -iex 'shell rm -rf ~'",
    "rust-gdb -batch --eval-command='she rm -rf ~'",
    "gdb -batch -ex 'thread apply all shell rm -rf ~'",
    "gdb -batch -ex 'python gdb.execute(\"shell rm -rf ~\")'",
    "gdb -batch -ex 'file /bin/sh' -ex 'set args -c \"rm -rf ~\"' -ex run",
    "lldb -b -o 'command alias x platform shell' -o 'x rm -rf ~'",
    "lldb-16 -b --one-line 'platform shell rm -rf ~'",
    "gdb -batch -ex 'if $_shell(\"rm -rf ~\")'",
    "echo 'import os; os.system(\"rm -rf ~\")' > a.py; gdb -ex 'source a.py'",
    "echo 'shell rm -rf ~' > a.gdb; gdb -batch -ex 'source a.gdb'",
]
DEBUGGERS = [
    "gdb -batch -ex 'show version'",
    "gdb -batch -ex 'with print pretty on -- print x' ./a.out",
    "gdb --ex run --ex bt --args ./a.out input.txt",
    "gdb -batch -ex 'run < input.txt' -ex bt ./a.out",
    "gdb -batch -ex 'set args --verbose' -ex run -ex 'thread apply all bt' ./a.out",
    "gdb-multiarch -batch -ex 'info files' firmware.elf",
    "gdb -batch -ex 'alias pp=print -pretty' -ex 'pp x' ./a.out",
    "lldb -b -o 'process launch' -o 'bt' ./a.out",
    "gdb -batch -ex 'eval \"print %d\", 3' ./a.out",
    "gdb -x script.gdb ./a.out",
]


@pytest.mark.parametrize("command", DEBUGGERS_THAT_RUN)
def test_what_debuggers_run_is_stopped(command: str) -> None:
    assert str(judge_shell(command).verdict) == "block"


@pytest.mark.parametrize("command", DEBUGGERS)
def test_everyday_debuggers_are_silent(command: str) -> None:
    assert str(judge_shell(command).verdict) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "with " * 1600,
        "thread apply " * 600,
        "alias x=shell;" * 500,
        'eval "%s", ' * 600,
        "$_shell(" * 900,
        "run " * 2000,
        "source " * 1000,
        "gdb.execute(" * 600,
        "-- " * 2500,
    ],
)
def test_hostile_lines_for_debuggers_are_read_in_time(text: str) -> None:
    started = time.perf_counter()
    judge_shell(f"gdb -batch -ex '{text}'")
    assert time.perf_counter() - started < 0.5
