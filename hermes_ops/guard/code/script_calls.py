"""What the functions of script languages do: for each language, its functions by what they stand for."""

from __future__ import annotations

from ..rules.names import names

# Kinds: "shell" runs its first argument as shell text, or all as a program and its arguments; "words" a
# program and a list; "remove", "tree" (with all below), "write" (path first), "open" (path, mode), "read",
# "move", "copy", "link", "mode" (path, mode), "mode-first", "owner", "owner-first", "eval", "folder", "send",
# "fetch", "connect", "kill" (process first), "kill-second", "glob", "truncate", "list" (a folder's names),
# "require".
_NODE = {
    "shell": (
        "child_process.exec child_process.execSync exec execSync shell.exec shelljs.exec execaCommand "
        "execaCommandSync Bun.$ $ zx.$ execa.command"
    ),
    "words": (
        "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync "
        "spawn spawnSync execFile execFileSync execa execaSync Bun.spawn Bun.spawnSync Deno.run "
        "Deno.Command cross-spawn child_process.fork runProgram rawMongoProgram runMongoProgram"
    ),
    "remove": "fs.unlink fs.unlinkSync unlinkSync unlink Deno.removeSync.file fs.rmdir.file",
    "tree": (
        "fs.rm fs.rmSync fs.rmdir fs.rmdirSync rmSync rmdirSync rm fs-extra.remove fs-extra.removeSync "
        "fs-extra.emptyDir fs-extra.emptyDirSync fs.removeSync fs.remove fs.emptyDirSync rimraf "
        "rimraf.sync rimraf.rimrafSync rimrafSync del del.sync deleteAsync deleteSync Deno.remove "
        "Deno.removeSync"
    ),
    "shell-rm": "shell.rm shelljs.rm",
    "write": (
        "fs.writeFile fs.writeFileSync fs.appendFile fs.appendFileSync fs.createWriteStream writeFileSync "
        "writeFile appendFileSync fs.outputFile fs.outputFileSync Bun.write Deno.writeTextFile "
        "Deno.writeTextFileSync Deno.writeFile Deno.writeFileSync"
    ),
    "open": "fs.open fs.openSync",
    "read": (
        "fs.readFile fs.readFileSync fs.createReadStream readFileSync readFile Deno.readTextFile "
        "Deno.readTextFileSync Deno.readFileSync Bun.file"
    ),
    "move": "fs.rename fs.renameSync renameSync fs.move fs.moveSync Deno.rename Deno.renameSync",
    "copy": "fs.copyFile fs.copyFileSync fs.cp fs.cpSync copyFileSync fs.copySync",
    "link": "fs.symlink fs.symlinkSync fs.link fs.linkSync",
    "mode": "fs.chmod fs.chmodSync chmodSync",
    "owner": "fs.chown fs.chownSync",
    "truncate": "fs.truncate fs.truncateSync truncateSync",
    "list": "fs.readdir fs.readdirSync readdirSync",
    "glob": "glob.sync glob.globSync globSync fast-glob.sync",
    "eval": (
        "eval Function vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction"
    ),
    "folder": "process.chdir Deno.chdir",
    "send": (
        "fetch axios axios.post axios.put axios.patch axios.get axios.request http.request https.request "
        "http.get https.get got got.post needle.post superagent.post request request.post undici.request "
        "undici.fetch navigator.sendBeacon dns.lookup dns.resolve"
    ),
    "connect": "net.connect net.createConnection net.Socket tls.connect Deno.connect Bun.connect",
    "kill": "process.kill Deno.kill",
    "require": (
        "require import createRequire process.mainModule.require module.require process.getBuiltinModule"
    ),
}
_PERL = {
    "shell": "system exec shell run readpipe CORE::system CORE::exec CORE.system CORE.exec",
    "remove": "unlink CORE::unlink",
    "tree": (
        "rmtree remove_tree File::Path::rmtree File::Path::remove_tree File::Path.rmtree "
        "File::Path.remove_tree rmdirall pathrmdir"
    ),
    "walk": "find finddepth File::Find::find File::Find::finddepth",
    "open-perl": "open sysopen",
    "read": "read_file slurp File::Slurp::read_file",
    "write": "write_file File::Slurp::write_file",
    "move": "rename move File::Copy::move",
    "copy": "copy File::Copy::copy cp",
    "link": "symlink link",
    "mode-first": "chmod",
    "owner-first": "chown",
    "truncate": "truncate",
    "glob": "glob bsd_glob",
    "eval": "eval do",
    "folder": "chdir",
    "fetch": "get LWP::Simple::get getstore",
    "connect": "connect IO::Socket::INET.new IO::Socket::INET IO::Socket::SSL.new",
    "kill-second": "kill",
}
_RUBY = {
    "shell": (
        "system exec spawn Kernel.system Kernel.exec Kernel.spawn Process.spawn IO.popen Open3.capture2 "
        "Open3.capture3 Open3.capture2e Open3.popen3 Open3.popen2 Open3.popen2e Open3.pipeline PTY.spawn "
        "Kernel.` sh"
    ),
    "remove": (
        "File.delete File.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.safe_unlink "
        "Dir.rmdir.file rm rm_f"
    ),
    "tree": (
        "FileUtils.rm_rf FileUtils.rm_r FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry "
        "FileUtils.remove_entry_secure rm_rf rm_r rmtree remove_entry_secure"
    ),
    "write": "File.write IO.write File.binwrite IO.binwrite",
    "open": "File.open File.new open Kernel.open",
    "read": "File.read IO.read File.readlines IO.readlines File.binread File.foreach",
    "move": "File.rename FileUtils.mv FileUtils.move",
    "copy": "FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file",
    "link": "File.symlink FileUtils.ln_s FileUtils.ln_sf File.link",
    "mode-first": "File.chmod FileUtils.chmod FileUtils.chmod_R",
    "owner-first": "File.chown FileUtils.chown FileUtils.chown_R",
    "truncate": "File.truncate",
    "glob": "Dir.glob Dir.[]",
    "list": "Dir.children Dir.entries Dir.each_child Dir.foreach",
    "eval": "eval instance_eval class_eval Kernel.eval binding.eval TOPLEVEL_BINDING.eval load",
    "folder": "Dir.chdir FileUtils.cd",
    "send": (
        "Net::HTTP.post Net::HTTP.post_form HTTParty.post RestClient.post Faraday.post Net::HTTP.get "
        "Net::HTTP.get_response"
    ),
    "fetch": "URI.open OpenURI.open_uri URI.read",
    "connect": "TCPSocket.new TCPSocket.open TCPSocket Socket.tcp",
    "kill-second": "Process.kill",
    "dispatch": "send public_send __send__ Kernel.send Kernel.public_send",
}
_PHP = {
    "shell": "system exec shell_exec passthru popen proc_open",
    "words": "pcntl_exec",
    "remove": "unlink",
    "tree": "File::deleteDirectory Storage::deleteDirectory",
    "write": "file_put_contents",
    "open": "fopen",
    "read": "file_get_contents readfile file",
    "move": "rename",
    "copy": "copy",
    "link": "symlink link",
    "mode": "chmod",
    "owner": "chown",
    "truncate": "ftruncate.path",
    "glob": "glob",
    "list": "scandir",
    "eval": "eval assert create_function preg_replace_eval include require include_once require_once",
    "folder": "chdir",
    "send": "mail curl_setopt fwrite fputs curl_setopt_array stream_context_create curl_init get_headers",
    "connect": "fsockopen pfsockopen stream_socket_client socket_connect",
    "kill": "posix_kill",
    "map": "array_map array_walk call_user_func call_user_func_array",
}
_LUA = {
    "shell": (
        "os.execute io.popen vim.fn.system vim.fn.systemlist vim.fn.jobstart vim.system vim.cmd "
        "vim.api.nvim_command vim.api.nvim_exec"
    ),
    "remove": "os.remove vim.uv.fs_unlink vim.loop.fs_unlink",
    "open": "io.open io.output",
    "read": "io.lines",
    "move": "os.rename",
    "eval": "load loadstring dofile",
    "connect": "socket.tcp socket.connect vim.loop.new_tcp",
    "require": "require",
    "tree": "vim.fn.delete vim.fs.rm lfs.rmdir.tree",
}
_R = {
    "shell": "system shell base::system",
    "words": "system2 processx::run sys::exec_wait",
    "remove": "file.remove fs::file_delete",
    "tree": "unlink fs::dir_delete",
    "write-second": "writeLines cat.file write saveRDS",
    "read": "readLines readRDS readChar scan",
    "move": "file.rename",
    "copy": "file.copy",
    "mode": "Sys.chmod",
    "eval": "eval source",
    "folder": "setwd",
    "glob": "Sys.glob list.files",
    "send": "httr::POST httr2::req_body_raw POST",
    "fetch": "url httr::GET",
}
_AWK = {
    "shell": "system",
}


def _by_name(table: dict[str, str], folded: bool = False) -> dict[str, str]:
    return {
        (name.lower() if folded else name): kind for kind, names in table.items() for name in names.split()
    }


KINDS: dict[str, dict[str, str]] = {
    "node": _by_name(_NODE),
    "perl": _by_name(_PERL),
    "ruby": _by_name(_RUBY),
    "php": _by_name(_PHP, folded=True),
    "lua": _by_name(_LUA),
    "r": _by_name(_R),
    "awk": _by_name(_AWK),
    "applescript": {},
}
# Methods that mean the same on whatever they are called.
METHODS: dict[str, dict[str, str]] = {
    "node": dict.fromkeys(["post", "send", "write", "end"], "send")
    | dict.fromkeys(["query", "execute"], "sql"),
    "perl": dict.fromkeys(["post", "post_form", "put", "request"], "send") | {"do": "sql", "get": "fetch"},
    "ruby": dict.fromkeys(["post", "puts", "print", "write", "request"], "send")
    | {"execute": "sql", "exec": "sql", "rmtree": "self-tree"},
    "php": {"query": "sql", "exec": "sql", "post": "send"},
    "lua": {"send": "send", "execute": "sql"},
}

# Words that introduce or modify, and stand for nothing themselves.
SKIPPED = names(
    "new await async return typeof void delete const let var my our local use export default throw "
    "yield not echo print say puts p pp begin BEGIN END ensure rescue then else elsif elseif elif do "
    "done end static public private protected final abstract global declare die warn defined unless if "
    "while until for foreach in of switch case when try catch finally class module function sub def fn "
    "void int string bool lambda proc import from require_relative no package and or xor"
)
