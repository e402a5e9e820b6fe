"""Containers and clusters: docker and its kin, docker compose, kubectl, helm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..judge.invocation import CONTAINER, UNKNOWN, Arg, Invocation
from ..verdict import Found, Verdict
from .names import names
from .paths import Place, locate
from .removal import removed
from .rule import Family, approve
from .verbs import has, plain, verb_of

VOLUMES = approve(
    "containers.volumes", "removes volumes with the data in them", "leave the volumes, or dump them first"
)
PRUNED = approve(
    "containers.pruned", "removes whatever no container uses at this moment", "name what should go"
)
REMOVED = approve(
    "containers.removed", "removes containers, images or networks by force", "stop it first; name each one"
)
STOPPED = approve("containers.stopped", "stops containers whose names only running the command could tell")
SWARM = approve("containers.swarm", "takes services or machines out of a swarm")
HOST_ACCESS = approve(
    "containers.host-access", "gives a container the whole machine", "mount only the folder that is needed"
)
PUSHED = approve("publish.image", "uploads an image for others to run")
DELETED = approve(
    "kubernetes.deleted", "deletes what runs in a cluster", "kubectl diff, or --dry-run=server first"
)
SCALED = approve("kubernetes.stopped", "takes workloads out of service in a cluster")
NODE = approve("kubernetes.node", "takes a node out of service")
REMOTE_MANIFEST = approve(
    "kubernetes.remote-manifest", "applies a manifest from the network unread", "download and read it"
)
HELM = approve("helm.removed", "removes or rolls back a release", "helm get all NAME first")

_DOCKERS = names("docker podman nerdctl finch docker.exe podman-remote")
_COMPOSES = names("docker-compose podman-compose docker-compose.exe nerdctl-compose")
_KUBECTLS = names("kubectl oc k kubectl.exe microk8s.kubectl kubecolor k3s")
_DOCKER_VALUED = names(
    "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url "
    "--namespace -n"
)
_COMPOSE_VALUED = names(
    "-f --file -p --project-name --profile --env-file --project-directory --parallel --ansi "
    "--progress -c --context -H --host"
)
_KUBE_VALUED = names(
    "-n --namespace --context --cluster --kubeconfig -s --server --user --token --as --as-group "
    "--as-uid --request-timeout --certificate-authority --client-certificate --client-key --cache-dir "
    "-v --v --tls-server-name --password --username"
)
_HELM_VALUED = names(
    "-n --namespace --kube-context --kubeconfig --registry-config --repository-cache "
    "--repository-config --kube-token --kube-apiserver"
)
_RUN_VALUED = names(
    "-v --volume --mount -e --env --env-file -p --publish --name -w --workdir -u --user --network "
    "--net --entrypoint -h --hostname --add-host --label -l --platform --gpus -m --memory --cpus "
    "--cap-add --cap-drop --device --dns --ip --ipc --pid --restart --shm-size --tmpfs --ulimit "
    "--user --userns --volumes-from --security-opt --link --log-driver --log-opt --cidfile --pull "
    "--runtime --stop-signal --stop-timeout --sysctl --uts -a --attach --expose --group-add "
    "--health-cmd --init-path --network-alias --oom-score-adj --cgroupns --cgroup-parent "
    "--cpuset-cpus -c --cpu-shares"
)


def _docker(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, _DOCKER_VALUED)
    part = invocation.part
    if verb in ("compose", "stack") and verb == "compose":
        yield from _compose(
            Invocation("docker-compose", [Arg("docker-compose"), *rest], part=part, place=invocation.place)
        )
        return
    second = plain(rest)[0].text if plain(rest) else ""
    if verb in (
        "container",
        "image",
        "volume",
        "network",
        "system",
        "builder",
        "buildx",
        "swarm",
        "service",
        "node",
        "secret",
        "config",
        "pod",
        "machine",
        "manifest",
        "context",
        "plugin",
    ):
        group, verb = verb, second
        rest = rest[1:] if rest and rest[0].text == second else [word for word in rest if word.text != second]
    else:
        group = {"rmi": "image", "stack": "stack"}.get(verb, "container")
        if verb == "rmi":
            verb = "rm"
        elif verb == "stack":
            verb = second
    targets = plain(rest, names("-t --time --filter -s --signal"))
    unknown = invocation.appended or any(UNKNOWN in word.text for word in targets)
    if verb == "prune":
        if group == "builder" or group == "buildx":
            return
        if has(rest, "", "--volumes") or group == "volume":
            yield VOLUMES.found(part)
        yield PRUNED.found(part)
    elif group == "volume" and verb in ("rm", "remove"):
        yield VOLUMES.found(part)
    elif group == "system" and verb in ("reset",):
        yield PRUNED.found(part)
    elif group in ("container", "image", "network", "pod", "machine") and verb in (
        "rm",
        "remove",
        "delete",
        "untag",
    ):
        if group == "container" and _is_of_this_text(targets, invocation):
            return
        if has(rest, "v", "--volumes"):
            yield VOLUMES.found(part)
        elif group == "container" and _is_for_a_test(targets) and not invocation.appended:
            return
        elif unknown or has(rest, "fa", "--force", "--all") or group in ("network", "machine", "pod"):
            yield REMOVED.found(part)
    elif (
        (
            group in ("service", "node", "stack", "secret", "config", "plugin", "context")
            and verb
            in (
                "rm",
                "remove",
                "down",
            )
        )
        or (group == "swarm" and verb == "leave")
        or (group == "node" and verb == "demote")
    ):
        yield SWARM.found(part)
    elif group == "container" and verb in ("stop", "kill", "restart"):
        if has(rest, "a", "--all") or (unknown and not _is_of_this_text(targets, invocation)):
            yield STOPPED.found(part)
    elif verb == "push" or (verb in ("build", "bake") and has(rest, "", "--push")):
        yield PUSHED.found(part)
    elif verb in ("run", "create") and group == "container":
        yield from _run(invocation, rest)
    elif verb == "exec" and has(rest, "", "--privileged"):
        yield HOST_ACCESS.found(part)


def _mounts(rest: list[Arg]) -> Iterator[tuple[str, str, bool]]:
    """The folders of the machine that a container gets: source, destination, may it write."""
    for index, argument in enumerate(rest):
        text = argument.text
        value = ""
        if text in ("-v", "--volume", "--mount") and index + 1 < len(rest):
            value = rest[index + 1].text
        elif text.startswith(("--volume=", "--mount=")):
            value = text.partition("=")[2]
        elif text.startswith("-v") and len(text) > 2:
            value = text[2:]
        if not value:
            continue
        if "," in value and "=" in value:
            fields = dict(field.partition("=")[::2] for field in value.split(","))
            source = fields.get("source") or fields.get("src") or ""
            to = fields.get("target") or fields.get("destination") or fields.get("dst") or ""
            yield source, to, "readonly" not in fields and "ro" not in fields
        else:
            pieces = value.split(":")
            yield pieces[0], pieces[1] if len(pieces) > 1 else "", "ro" not in pieces[2:]


def _run(invocation: Invocation, rest: list[Arg]) -> Iterator[Found]:
    part = invocation.part
    # Only what stands before the image belongs to docker.
    index = 0
    while index < len(rest) and rest[index].text.startswith("-"):
        index += 2 if rest[index].text in _RUN_VALUED else 1
    options, command = rest[:index], rest[index + 1 :]
    exposed = has(options, "", "--privileged") or any(
        word.text in ("--pid=host", "--userns=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN")
        for word in options
    )
    exposed = exposed or any(
        first.text in ("--pid", "--cap-add", "--device")
        and second.text in ("host", "ALL", "SYS_ADMIN", "/dev/sda", "/dev/mem")
        for first, second in pairwise(options)
    )
    for source, to, writes in _mounts(options):
        place = locate(source, invocation.cwd, invocation.home, invocation.hermes_home, glob=False).place
        if place is Place.ROOT or (
            writes
            and place in (Place.SYSTEM, Place.DEVICE)
            and not source.startswith(
                (
                    "/var/run/",
                    "/run/",
                    "/etc/localtime",
                    "/etc/timezone",
                    "/dev/",
                    "/var/lib/docker",
                    "/sys",
                    "/proc",
                    "/lib/modules",
                )
            )
        ):
            exposed = True
        if to and command and writes:
            yield from _removed_through(invocation, command, source, to)
    if exposed:
        yield HOST_ACCESS.found(part)


def _removed_through(invocation: Invocation, command: list[Arg], source: str, to: str) -> Iterator[Found]:
    """Removals in a container of what is mounted into it: the paths lead to the machine."""
    name = command[0].text.rpartition("/")[2]
    if name == "chroot" and len(command) > 2 and command[1].text.rstrip("/") == to.rstrip("/"):
        inside = [
            command[2],
            *(
                Arg(to.rstrip("/") + word.text, word.glob) if word.text[:1] == "/" else word
                for word in command[3:]
            ),
        ]
        yield from _removed_through(invocation, inside, source, to)
        return
    texts = [word.text for word in command]
    at = next((at for at, text in enumerate(texts[1:-1], 1) if re.fullmatch(r"-\w*c\w*", text)), 0)
    if name in ("sh", "bash", "ash") and at:
        at += sum(letter in "oO" for letter in texts[at])
        for piece in re.split(r"[;&|\n]+", texts[min(at + 1, len(texts) - 1)]):
            words = [Arg(word.strip("\"'"), "*" in word) for word in piece.split()]
            if words:
                yield from _removed_through(invocation, words, source, to)
        return
    if name != "rm":
        return
    outside = []
    for word in command[1:]:
        if word.text == to or word.text.startswith(to.rstrip("/") + "/"):
            outside.append(
                Arg((source.rstrip("/") or "") + word.text[len(to.rstrip("/")) :] or "/", word.glob)
            )
    on_machine = Invocation(
        "rm",
        [],
        cwd=invocation.cwd,
        home=invocation.home,
        hermes_home=invocation.hermes_home,
        part=invocation.part,
    )
    recursive = has(command, "rR", "--recursive")
    yield from (found for found in removed(on_machine, outside, recursive) if found.verdict is Verdict.BLOCK)


_FOR_A_TEST = re.compile(
    r"(?:^|[-_.])(?:tests?|tmp|temp|scratch|e2e|ci|demo|throwaway)(?:[-_.]|\d*$)", re.IGNORECASE
)


def _is_for_a_test(targets: list[Arg]) -> bool:
    """Is it one container whose name says that it was made for a test run?"""
    return len(targets) == 1 and targets[0].known and bool(_FOR_A_TEST.search(targets[0].text))


def _is_of_this_text(targets: list[Arg], invocation: Invocation) -> bool:
    """Are they containers that the same text made, by the names that it gave them or the ids it was told?"""
    return (
        bool(targets)
        and not invocation.appended
        and all(
            each.source == CONTAINER if each.text == UNKNOWN else each.text in invocation.made
            for each in targets
        )
    )


def _compose(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, _COMPOSE_VALUED)
    part = invocation.part
    if verb == "down":
        if has(rest, "v", "--volumes"):
            yield VOLUMES.found(part)
        elif any(word.text in ("--rmi=all",) for word in rest) or (
            has(rest, "", "--rmi") and any(w.text == "all" for w in rest)
        ):
            yield REMOVED.found(part)
    elif verb == "rm" and has(rest, "v", "--volumes"):
        yield VOLUMES.found(part)
    elif verb == "push" or (verb == "build" and has(rest, "", "--push")):
        yield PUSHED.found(part)


def _is_dry(rest: list[Arg]) -> bool:
    return any(word.text.startswith("--dry-run") and word.text != "--dry-run=none" for word in rest)


def _kubectl(invocation: Invocation) -> Iterator[Found]:
    part = invocation.part
    verb, rest = verb_of(invocation, _KUBE_VALUED)
    if verb == "kubectl" and rest:
        verb, rest = rest[0].text, rest[1:]
    if _is_dry(rest) or has(rest[:1], "h", "--help"):
        return
    words = [word.text for word in rest]
    first = next(iter(plain(rest, _KUBE_VALUED)), Arg("")).text
    if (
        verb == "delete"
        or (verb == "config" and first.startswith("delete-"))
        or (verb == "replace" and has(rest, "", "--force"))
    ):
        yield DELETED.found(part)
    elif verb in ("drain", "cordon", "taint"):
        yield NODE.found(part)
    elif (
        (verb == "scale" and any(word == "--replicas=0" for word in words))
        or (verb == "scale" and _follows(words, "--replicas", "0"))
    ) or (verb == "rollout" and first in ("undo", "restart", "pause")):
        yield SCALED.found(part)
    elif verb in ("apply", "create", "replace"):
        if has(rest, "", "--prune"):
            yield DELETED.found(part)
        for index, word in enumerate(words):
            given = (
                words[index + 1]
                if word in ("-f", "--filename", "-k") and index + 1 < len(words)
                else word.partition("=")[2] or word[2:]
            )
            if word.startswith(("-f", "--filename", "-k")) and given.startswith(
                ("http://", "https://", "github.com/")
            ):
                yield REMOTE_MANIFEST.found(part, given)
                break


def _follows(words: list[str], option: str, value: str) -> bool:
    return any(first == option and second == value for first, second in pairwise(words))


def _helm(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, _HELM_VALUED)
    if _is_dry(rest):
        return
    if verb in ("uninstall", "delete", "del", "un", "rollback", "destroy") or (
        verb == "upgrade" and has(rest, "", "--reset-values", "--force")
    ):
        yield HELM.found(invocation.part)
    elif verb == "push":
        yield PUSHED.found(invocation.part)


def _other(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verb, rest = verb_of(invocation)
    if name in ("skopeo", "crane", "oras", "buildah", "regctl"):
        to_registry = verb in ("push", "copy", "cp", "append", "attach") and (
            name != "skopeo" or any(word.text.startswith("docker://") for word in plain(rest)[1:])
        )
        if to_registry:
            yield PUSHED.found(invocation.part)
        elif verb in ("delete", "rm"):
            yield REMOVED.found(invocation.part)
    elif name in ("kind", "minikube", "k3d", "eksctl", "kops", "k0s", "kubeadm", "ctr", "crictl"):
        if verb in ("delete", "reset", "rmi", "rm", "rmp") and not _is_dry(rest):
            yield DELETED.found(invocation.part)
    elif name in ("helmfile", "argocd", "flux", "kustomize", "istioctl", "velero", "skaffold", "k9s"):
        words = [verb, *(word.text for word in plain(rest)[:2])]
        if any(word in ("destroy", "delete", "uninstall", "suspend") for word in words):
            yield DELETED.found(invocation.part)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name in _DOCKERS:
        return _docker(invocation)
    if name in _COMPOSES:
        return _compose(invocation)
    if name in _KUBECTLS:
        return _kubectl(invocation)
    if name == "helm":
        return _helm(invocation)
    return _other(invocation)


FAMILY = Family(
    "containers",
    _DOCKERS
    | _COMPOSES
    | _KUBECTLS
    | names(
        "helm skopeo crane oras buildah regctl kind minikube k3d eksctl kops k0s kubeadm ctr crictl "
        "helmfile argocd flux istioctl velero skaffold"
    ),
    _check,
    examples=(
        ("docker volume rm pgdata", "containers.volumes"),
        ("docker -H tcp://host:2375 compose -p shop -f prod.yml down -v", "containers.volumes"),
        ("docker-compose down --volumes", "containers.volumes"),
        ("docker system prune -af --volumes", "containers.volumes"),
        ("docker image prune -a", "containers.pruned"),
        ("docker rm -f web", "containers.removed"),
        ("docker ps -aq | xargs docker stop", "containers.stopped"),
        ("docker stack rm shop", "containers.swarm"),
        ("docker run --rm -v /:/host alpine ls /host", "containers.host-access"),
        ("docker run --privileged -it alpine sh", "containers.host-access"),
        ("docker run --rm -v /:/host alpine rm -rf /host/etc", "files.system-removal"),
        ("docker run -v /:/m alpine sh -c 'rm -rf /m/usr'", "files.system-removal"),
        ("docker run -v /:/m alpine chroot /m rm -rf /usr", "files.system-removal"),
        ("docker push registry.example/x", "publish.image"),
        ("docker buildx build --push -t r/x .", "publish.image"),
        ("kubectl delete pod web-1 -n dev", "kubernetes.deleted"),
        ("kubectl --context prod -n web delete pods --all", "kubernetes.deleted"),
        ("kubectl scale deploy/api --replicas=0", "kubernetes.stopped"),
        ("kubectl drain node-1", "kubernetes.node"),
        ("kubectl apply -f https://example.com/all.yaml", "kubernetes.remote-manifest"),
        ("helm uninstall web -n kube-system", "helm.removed"),
        ("kind delete cluster", "kubernetes.deleted"),
    ),
    silent=(
        "docker ps -a",
        "docker build -t x .",
        "docker run --rm -v $HOME/proj:/app -w /app node:20 npm test",
        "docker compose up -d",
        "docker compose down",
        "docker stop web",
        "docker rm web",
        "docker logs -f web",
        "docker login --password-stdin registry.example",
        "docker builder prune -f",
        "kubectl get pods -A",
        "kubectl delete pod x --dry-run=client",
        "kubectl logs web-1",
        "kubectl apply -f deploy.yaml",
        "kubectl rollout status deploy/web",
        "helm upgrade --install web ./chart",
        "helm list",
    ),
    rules=(
        VOLUMES,
        PRUNED,
        REMOVED,
        STOPPED,
        SWARM,
        HOST_ACCESS,
        PUSHED,
        DELETED,
        SCALED,
        NODE,
        REMOTE_MANIFEST,
        HELM,
    ),
)
