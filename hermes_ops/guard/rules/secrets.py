"""Which files hold credentials, by their path alone."""

from __future__ import annotations

import re
from functools import lru_cache

from ..judge.invocation import UNKNOWN
from .names import names
from .paths import components, folder_components, locate

# Below a home. The whole of these folders counts, and so do their files, but for _PUBLIC.
_FOLDERS: dict[tuple[str, ...], str] = {
    (".ssh",): "SSH keys",
    (".aws",): "AWS credentials",
    (".gnupg",): "GnuPG keys",
    (".password-store",): "a password store",
    (".config", "gcloud"): "Google Cloud credentials",
    (".azure",): "Azure credentials",
    (".config", "op"): "1Password credentials",
    (".config", "1Password"): "1Password data",
    (".config", "Bitwarden CLI"): "Bitwarden data",
    (".local", "share", "keyrings"): "a keyring",
    (".kube",): "Kubernetes credentials",
    ("Library", "Keychains"): "a keychain",
    (".electrum",): "a wallet",
    (".bitcoin",): "a wallet",
    (".ethereum", "keystore"): "a wallet",
    (".config", "solana"): "a wallet",
    (".mozilla", "firefox"): "a browser's store",
    (".config", "google-chrome"): "a browser's store",
    (".config", "chromium"): "a browser's store",
    (".config", "BraveSoftware"): "a browser's store",
    ("Library", "Application Support", "Google", "Chrome"): "a browser's store",
    ("Library", "Application Support", "Firefox"): "a browser's store",
    ("Library", "Application Support", "BraveSoftware"): "a browser's store",
}
_FILES: dict[tuple[str, ...], str] = {
    (".netrc",): "passwords of hosts",
    ("_netrc",): "passwords of hosts",
    (".authinfo",): "passwords of hosts",
    (".authinfo.gpg",): "passwords of hosts",
    (".pgpass",): "database passwords",
    (".my.cnf",): "database passwords",
    (".mylogin.cnf",): "database passwords",
    (".git-credentials",): "git passwords",
    (".config", "git", "credentials"): "git passwords",
    (".docker", "config.json"): "registry passwords",
    (".config", "containers", "auth.json"): "registry passwords",
    (".npmrc",): "an npm token",
    (".yarnrc.yml",): "an npm token",
    (".pypirc",): "a PyPI token",
    (".gem", "credentials"): "a RubyGems token",
    (".cargo", "credentials"): "a crates.io token",
    (".cargo", "credentials.toml"): "a crates.io token",
    (".config", "gh", "hosts.yml"): "a GitHub token",
    (".config", "hub"): "a GitHub token",
    (".config", "glab-cli", "config.yml"): "a GitLab token",
    (".vault-token",): "a Vault token",
    (".terraform.d", "credentials.tfrc.json"): "a Terraform token",
    (".terraformrc",): "a Terraform token",
    (".boto",): "cloud credentials",
    (".s3cfg",): "cloud credentials",
    (".config", "rclone", "rclone.conf"): "cloud credentials",
    (".config", "doctl", "config.yaml"): "a cloud token",
    (".config", "hcloud", "cli.toml"): "a cloud token",
    (".config", "flyctl", "config.yml"): "a cloud token",
    (".fly", "config.yml"): "a cloud token",
    (".oci", "config"): "cloud credentials",
    (".m2", "settings.xml"): "Maven passwords",
    (".gradle", "gradle.properties"): "Gradle passwords",
    (".huggingface", "token"): "a Hugging Face token",
    (".cache", "huggingface", "token"): "a Hugging Face token",
    (".claude", ".credentials.json"): "a login of another agent",
    (".codex", "auth.json"): "a login of another agent",
    (".gemini", "oauth_creds.json"): "a login of another agent",
    (".bash_history",): "a shell's history",
    (".zsh_history",): "a shell's history",
    (".smbcredentials",): "passwords of hosts",
    (".msmtprc",): "a mail password",
    (".keepass",): "a password store",
}
_SYSTEM_FILES: dict[tuple[str, ...], str] = {
    ("etc", "shadow"): "password hashes",
    ("etc", "shadow-"): "password hashes",
    ("etc", "gshadow"): "password hashes",
    ("etc", "master.passwd"): "password hashes",
    ("etc", "sudoers"): "who may become root",
    ("etc", "krb5.keytab"): "Kerberos keys",
    ("etc", "kubernetes", "admin.conf"): "Kubernetes credentials",
    ("etc", "rancher", "k3s", "k3s.yaml"): "Kubernetes credentials",
    ("run", "secrets"): "mounted secrets",
    ("var", "run", "secrets"): "mounted secrets",
    ("etc", "ssl", "private"): "private keys",
    ("etc", "letsencrypt", "live"): "private keys",
    ("etc", "letsencrypt", "archive"): "private keys",
    ("etc", "wireguard"): "VPN keys",
    ("etc", "openvpn"): "VPN keys",
    ("proc", "self", "environ"): "the environment of the process",
}
_SYSTEM_LENGTHS = tuple(sorted({len(key) for key in _SYSTEM_FILES}, reverse=True))
_HOME_LENGTHS = tuple(sorted({len(key) for key in [*_FOLDERS, *_FILES]}, reverse=True))
# The host's own: logins, keys, everything that was ever said.
_HERMES = {
    ".env": "the agent's keys",
    "auth.json": "the agent's logins",
    ".anthropic_oauth.json": "the agent's logins",
    "credentials": "the agent's logins",
    "state.db": "every conversation of the agent",
    "pairing": "who may talk to the agent",
    "secrets": "the agent's keys",
    "google_token.json": "the agent's logins",
    "google_client_secret.json": "the agent's logins",
}
_HERMES_PROFILES = "profiles"
_SEAL_KEY = ["ops", "guard", "key"]
_PUBLIC = names(
    "known_hosts known_hosts.old config authorized_keys authorized_keys2 environment rc pubring.kbx "
    "pubring.gpg trustdb.gpg gpg.conf gpg-agent.conf dirmngr.conf common.conf allowed_signers"
)
_PUBLIC_IN = {".ssh", ".gnupg", ".aws"}
_EXAMPLE = re.compile(
    r"(?:^|[._-])(?:example|sample|template|templates|tmpl|tpl|dist|default|defaults|schema|ci|test|testing|md|vault-example|d\.ts)$",
    re.IGNORECASE,
)
_ENV = re.compile(r"(?:\.env(?:rc)?|\.env[._-][\w.-]+|[\w-]+\.env)\Z")
_KEY_NAME = re.compile(
    r"(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?!pub\Z)[\w-]+)?|ssh_host_\w+_key|identity)\Z"
)
_KEY_FILE = re.compile(
    r"\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx|keytab|asc\.key|p8|agekey|ovpn)\Z", re.IGNORECASE
)
_NOT_PRIVATE = re.compile(
    r"(?:^|[._-])(?:cert|certs|chain|fullchain|ca|cacert|cacerts|pub|public|crt|bundle|roots?|csr|dhparams?|test)(?:[._-]|\d|$)",
    re.IGNORECASE,
)
_NAMED = {
    "credentials.json": "credentials",
    "client_secret.json": "credentials",
    "client_secrets.json": "credentials",
    "service-account.json": "credentials",
    "service_account.json": "credentials",
    "serviceaccount.json": "credentials",
    "secrets.yml": "secrets",
    "secrets.yaml": "secrets",
    "secrets.json": "secrets",
    "secrets.toml": "secrets",
    "secrets.env": "secrets",
    ".htpasswd": "password hashes",
    ".netrc": "passwords of hosts",
    ".pgpass": "database passwords",
    ".git-credentials": "git passwords",
    ".pypirc": "a PyPI token",
    "wallet.dat": "a wallet",
    "master.key": "a private key",
    "kubeconfig": "Kubernetes credentials",
    "terraform.tfstate": "secrets in a state file",
    "terraform.tfvars": "secrets",
    "cookies.sqlite": "a browser's store",
    "logins.json": "a browser's store",
    "key4.db": "a browser's store",
    "Login Data": "a browser's store",
    "Cookies": "a browser's store",
    "token.json": "a token",
    "vault-token": "a Vault token",
    ".vault_pass": "a vault's password",
    ".vault-password": "a vault's password",
}
_WORTH_A_LOOK = re.compile(
    r"env|ssh|id_|key|pem|p12|pfx|\.p8|jks|ppk|kdbx|cred|secret|token|auth|pass|netrc|npmrc|pypirc|aws|azure|gcloud|op\b|1Pass|"
    r"Bitwarden|gnupg|kube|docker|cnf|config|hub|rc\Z|boto|s3cfg|shadow|sudoers|wallet|coin|electrum|ethereum|solana|"
    r"mozilla|chrom|Brave|firefox|Firefox|Keychains|history|state|pairing|tfstate|tfvars|Cookies|cookies|logins|Login|"
    r"settings\.xml|gradle\.properties|letsencrypt|wireguard|openvpn|ovpn|hermes|\.config|keystore|gem|cargo|rc\.yml|smb|\.toml"
    r"|[*?\[\x00~]",
)


def secret_of(
    path: str, cwd: str | None = None, home: str = "", hermes_home: str = "", whole: bool = False
) -> str | None:
    """What credential a path holds, as it may be shown ("~/.ssh/id_rsa (SSH keys)"); None for any other path.

    `whole`: the path is packed or sent with all that is below it, so a home or the root counts as well.
    Public halves, known hosts and example files are no credentials.
    """
    if not path or path[0] == "-" or len(path) > _LONGEST:
        return None
    if len(path) < _LONG:
        return _found_again(path, cwd, home, hermes_home, whole)
    return _found(path, cwd, home, hermes_home, whole)


def _found(path: str, cwd: str | None, home: str, hermes_home: str, whole: bool) -> str | None:
    if not whole and not _WORTH_A_LOOK.search(path):
        return None
    located = locate(path, cwd, home, hermes_home)
    kind = _kind(components(located.path), located.everything, home, hermes_home, whole)
    if kind is None:
        return None
    return f"{_shown(path, home)} ({kind})"


_LONG = 200
# PATH_MAX: no system opens a longer one.
_LONGEST = 4096
_found_again = lru_cache(maxsize=1024)(_found)


def _shown(path: str, home: str) -> str:
    path = path.replace(UNKNOWN, "…")
    return "~" + path[len(home) :] if home and path.startswith(home + "/") else path


def _kind(parts: list[str], everything: bool, home: str, hermes_home: str, whole: bool) -> str | None:
    below = below_home(parts, home)
    name = parts[-1] if parts else ""
    if whole and (not parts or below == [] or parts in (["home"], ["Users"], ["etc"], ["root"])):
        return "all that is in it"
    hermes = below_hermes(parts, home, hermes_home)
    if hermes is not None:
        if not hermes:
            return "the agent's own home" if whole or everything else None
        if hermes == _SEAL_KEY:
            return "the key that seals the guard's policy"
        return _HERMES.get(hermes[0]) or _by_name(name, parts)
    if below:
        found = _in_home(below)
        if found is not _NONE:
            return found
    for length in _SYSTEM_LENGTHS:
        found_system = _SYSTEM_FILES.get(tuple(parts[:length]))
        if found_system:
            return None if _is_public(name) else found_system
    if len(parts) == 3 and parts[0] == "proc" and parts[2] == "environ":
        return "the environment of a process"
    if ".ssh" in parts or ".aws" in parts or ".gnupg" in parts:
        # A relative path, or a home that is not known.
        at = next(index for index, part in enumerate(parts) if part in (".ssh", ".aws", ".gnupg"))
        found = _in_home(parts[at:])
        if found is not _NONE:
            return found
    return _by_name(name, parts)


_NONE = ""  # says that the tables of a home know nothing of it


def _in_home(below: list[str]) -> str | None:
    name = below[-1]
    for length in _HOME_LENGTHS:
        if length > len(below):
            continue
        start = tuple(below[:length])
        if start in _FOLDERS:
            if len(below) > length and below[0] in _PUBLIC_IN and _is_public(name):
                return None
            if below[0] == ".aws" and name in ("config", "cli"):
                return None
            return _FOLDERS[start]
        if length == len(below) and start in _FILES:
            return _FILES[start]
    return _NONE


def _is_public(name: str) -> bool:
    return name in _PUBLIC or name.endswith((".pub", ".crt")) or bool(_NOT_PRIVATE.search(name))


def _by_name(name: str, parts: list[str]) -> str | None:
    if name in _NAMED:
        return _NAMED[name]
    if _ENV.match(name):
        return None if _EXAMPLE.search(name) or name in ("test.env", "ci.env") else "keys and passwords"
    if _KEY_NAME.match(name):
        return "a private key" if name != "identity" or ".ssh" in parts else None
    if _KEY_FILE.search(name):
        return None if _NOT_PRIVATE.search(name) else "a private key"
    return None


def below_home(parts: list[str], home: str) -> list[str] | None:
    """The components below a home (the user's or another's), None for a path in no home."""
    own = folder_components(home)
    if own and parts[: len(own)] == own:
        return parts[len(own) :]
    if parts[:1] == ["root"]:
        return parts[1:]
    if len(parts) > 1 and parts[0] in ("home", "Users"):
        return parts[2:]
    return None


def below_hermes(parts: list[str], home: str, hermes_home: str) -> list[str] | None:
    """The components below the host's home, or below that of one of its profiles; None elsewhere."""
    own = folder_components(hermes_home) if hermes_home else []
    if own and parts[: len(own)] == own:
        rest = parts[len(own) :]
    else:
        below = below_home(parts, home)
        if not below or below[0] != ".hermes":
            return None
        rest = below[1:]
    if len(rest) > 2 and rest[0] == _HERMES_PROFILES:
        return rest[2:]
    return rest
