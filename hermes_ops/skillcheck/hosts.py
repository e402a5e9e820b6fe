"""Addresses: whose they are, and whether they are what they seem."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from .fold import fold
from .rules import ERROR, INFO, WARNING

URL = re.compile(r"""https?://[^\s"'`<>|;)\]}\\]{3,2000}""", re.IGNORECASE)
_BARE = re.compile(
    r"(?<![\w@/.-])((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,12}(?::\d{1,5})?/[^\s\"'`<>|;)]{1,500})", re.IGNORECASE
)

# Where the makers of well-known tools keep their installers: exact hosts, and repositories of a host.
_INSTALLERS_LIST = """
    sh.rustup.rs static.rust-lang.org get.docker.com download.docker.com install.python-poetry.org
    astral.sh get.pnpm.io bun.sh bun.com deno.land fnm.vercel.app get.sdkman.io get.k3s.io get.rke2.io
    get.helm.sh fly.io ollama.com ollama.ai tailscale.com starship.rs deb.nodesource.com
    rpm.nodesource.com dl.yarnpkg.com yarnpkg.com get.volta.sh mise.run mise.jdx.dev nixos.org
    install.determinate.systems sh.vector.dev get.jetify.com get.jetpack.io foundry.paradigm.xyz
    setup.atuin.sh zed.dev claude.ai opencode.ai sentry.io run.linkerd.io istio.io dl.dagger.io
    pyenv.run pixi.sh just.systems railway.app railway.com packagecloud.io webi.sh install.duckdb.org
    hermes-agent.nousresearch.com getcomposer.org get.scoop.sh community.chocolatey.org chocolatey.org
    win.rustup.rs aka.ms cursor.com get.haskellstack.org get-ghcup.haskell.org sh.haskell.org
    install.julialang.org cli.github.com packages.microsoft.com cloud.google.com sdk.cloud.google.com
    awscli.amazonaws.com apt.releases.hashicorp.com rpm.releases.hashicorp.com releases.hashicorp.com
    install.meteor.com brew.sh get.rvm.io rvm.io get.pulumi.com get.please.build nodejs.org go.dev
    dl.google.com golang.org bootstrap.pypa.io
    rubygems.org storage.googleapis.com/golang get.opentofu.org get.acme.sh acme.sh
    install.goreleaser.com carapace.sh get.nexte.st cdn.jsdelivr.net/gh/devcontainers
    micro.mamba.pm repo.anaconda.com repo.continuum.io developer.arm.com
    dot.net dotnet.microsoft.com builds.dotnet.microsoft.com download.pytorch.org
    pkgs.tailscale.com pkgs.k8s.io dl.k8s.io packages.gitlab.com gitlab.com
    s3.amazonaws.com/session-manager-downloads code-server.dev coder.com supabase.com turso.tech
    get.tur.so neon.tech planetscale.com cli.doppler.com cli.infisical.com install.direnv.net direnv.net
    nix.dev platform.sh warp.dev githubcli.com omz.sh install.ohmyz.sh ohmyposh.dev install.pi-hole.net
    rclone.org get.chezmoi.io getmic.ro fluxcd.io wasmtime.dev get.wasmer.io get.netdata.cloud moonrepo.dev
    install.surrealdb.com getcroc.schollz.com cdn.coollabs.io install.zerotier.com pkgs.netbird.io dotenvx.sh
"""
_INSTALLERS = frozenset(_INSTALLERS_LIST.split())
_OWNERS_LIST = """
    homebrew nvm-sh ohmyzsh robbyrussell asdf-vm helm k3d-io kubernetes kubernetes-sigs pyenv rbenv
    nodenv astral-sh rust-lang docker golang junegunn neovim tmux-plugins zsh-users romkatv starship
    ajeetdsouza sharkdp burntsushi cli github actions golangci goreleaser aquasecurity anchore derailed
    jesseduffield sdkman conda-forge conda mamba-org apple microsoft google googlecloudplatform aws
    hashicorp gruntwork-io terraform-linters tfutils nousresearch anthropics openai huggingface ggml-org
    ggerganov ollama vercel denoland oven-sh pnpm yarnpkg npm nodejs python pypa pre-commit jenv tj
    moovweb wting rupa mikefarah stedolan jqlang junegunn caddyserver traefik grafana prometheus
    open-telemetry envoyproxy argoproj fluxcd istio linkerd cilium rancher k3s-io containerd moby podman
    containers buildpacks dapr tilt-dev derailed ahmetb vmware-tanzu projectcalico metallb bitnami
    elastic influxdata timescale cockroachdb nats-io spicetify syncthing rclone restic borgbackup
    tailscale wireguard acmesh-official letsencrypt certbot nixos determinatesystems cachix lnl7 direnv
    junest fish-shell jorgebucaran oh-my-fish arduino platformio espressif home-assistant esphome v2fly
    pi-hole adguardteam netdata coollabsio basecamp wp-cli jandedobbeleer twpayne
"""
_OWNERS = frozenset(_OWNERS_LIST.split())
_FORGES = ("raw.githubusercontent.com", "github.com", "gist.githubusercontent.com")

# Where anybody may leave a text or fetch what was sent, and what hides where an address leads.
_DROPS_LIST = """
    pastebin.com paste.ee rentry.co rentry.org glot.io hastebin.com dpaste.com ghostbin.com termbin.com
    ix.io sprunge.us 0x0.st transfer.sh file.io temp.sh bashupload.com oshi.at anonfiles.com gofile.io
    webhook.site requestbin.com requestbin.net pipedream.net beeceptor.com ngrok.io ngrok.app
    ngrok-free.app ngrok-free.dev serveo.net loca.lt localhost.run trycloudflare.com interact.sh
    oast.pro oast.live oast.site oast.online oast.fun oast.me burpcollaborator.net dnslog.cn ceye.io
    canarytokens.com bit.ly tinyurl.com t.co is.gd rb.gy cutt.ly goo.gl shorturl.at ow.ly
    gist.githubusercontent.com cdn.discordapp.com duckdns.org no-ip.org ddns.net hopto.org
"""
_DROPS = frozenset(_DROPS_LIST.split())
_NOBODY = re.compile(r"[<>{}]|\$|example\.(?:com|org|net)$|\.example$|\.(?:local|lan|internal|test)$")


def weight_of_source(*texts: str) -> str:
    """How grave it is to run what comes from the addresses in the first of some texts that has any.

    "" when every one is a well-known installer, INFO for this machine, WARNING for a host nobody here knows,
    ERROR for plain http, bare numbers and places where anybody may leave a text.
    """
    found = next((found for text in texts if (found := list(addresses(text)))), None)
    if found is None:
        return WARNING
    weights = {_weight(url) for url in found}
    return next((one for one in (ERROR, WARNING, INFO) if one in weights), "")


def addresses(text: str) -> Iterator[str]:
    """The addresses in a text, with a scheme or without."""
    for found in URL.finditer(text):
        yield found[0]
    for found in _BARE.finditer(URL.sub(" ", text)):
        host = found[1].split("/")[0].split(":")[0].lower()
        if host in _INSTALLERS or _is_below(host, _DROPS):
            yield f"https://{found[1]}"


def host_of(url: str) -> str:
    """The host of an address in lower case, "" for none."""
    try:
        return (urlsplit(url).hostname or "").lower().rstrip(".")
    except ValueError:
        return ""


def is_drop(host: str) -> bool:
    """Whether anybody may leave something there, or fetch what was sent there."""
    return _is_below(host, _DROPS)


def is_number(host: str) -> bool:
    """Whether a host is a bare number of the internet, not of this machine or its network."""
    address = _number(host)
    return address is not None and address.is_global


def is_local(host: str) -> bool:
    """Whether a host is this machine, its network, or a made-up one of documentation."""
    address = _number(host)
    if host in ("localhost", "host.docker.internal") or (address is not None and not address.is_global):
        return True
    return _NOBODY.search(host) is not None


def seems(url: str) -> str:
    """Why an address is not what it seems, "" when it is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        user = parts.username or ""
    except ValueError:
        return "it cannot be read"
    if "." in user and parts.password is None:
        return f"it leads to {host}, not to {user}"
    if any(one.what == "mixed" for one in fold(host).oddities):
        return "its host mixes letters of two alphabets"
    return ""


def names_other_host(shown: str, url: str) -> bool:
    """Whether the text of a link is an address on a different host than it leads to."""
    text = shown.strip().strip("<>`*")
    found = re.fullmatch(r"(?:https?://)?((?:[\w-]+\.)+[a-z]{2,12})(?:[/?#:]\S*)?", text, re.IGNORECASE)
    if not found or not url.lower().startswith(("http://", "https://")):
        return False
    if "://" not in text and re.search(
        r"\.(?:md|py|js|ts|sh|json|ya?ml|toml|txt|html?|io|ai|rs|go|net|app)$", found[1], re.I
    ):
        return False
    return _site(found[1].lower()) != _site(host_of(url))


def _weight(url: str) -> str:
    host = host_of(url)
    address = _number(host)
    if host in ("localhost", "host.docker.internal") or (address is not None and not address.is_global):
        return INFO
    if seems(url) or is_drop(host) or address is not None:
        return ERROR
    if _is_installer(host, url):
        return ""
    if _NOBODY.search(host or url):
        return INFO
    return ERROR if url.lower().startswith("http://") else WARNING


def _is_installer(host: str, url: str) -> bool:
    if host.removeprefix("www.") in _INSTALLERS or _is_below(host, ("brew.sh", "rustup.rs")):
        return True
    if host in _FORGES[:2]:
        owner = urlsplit(url).path.strip("/").split("/")[0].lower()
        return owner in _OWNERS
    path = f"{host}{urlsplit(url).path}".lower()
    return any("/" in one and path.startswith(f"{one}/") for one in _INSTALLERS)


def _is_below(host: str, domains: Iterator[str] | tuple[str, ...] | list[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _site(host: str) -> str:
    """The last two parts of a host, three below a country's second level: roughly who owns it."""
    parts = host.removeprefix("www.").split(".")
    keep = 3 if len(parts) > 2 and len(parts[-1]) == 2 and len(parts[-2]) <= 3 else 2
    return ".".join(parts[-keep:])


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        pass
    try:
        if re.fullmatch(r"\d{8,10}", host):
            return ipaddress.ip_address(int(host))
        if re.fullmatch(r"0x[0-9a-f]{8}", host):
            return ipaddress.ip_address(int(host, 16))
    except ValueError:
        pass
    return None
