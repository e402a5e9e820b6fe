"""Infrastructure as code, cloud accounts, virtual machines, hosting of repositories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import Invocation
from ..verdict import Found
from .names import names
from .rule import Family, approve
from .verbs import has, verb_of, verbs_of

DESTROYED = approve("infra.destroyed", "destroys infrastructure", "read the plan first")
APPLIED = approve(
    "infra.applied", "changes infrastructure without a look at the plan", "plan to a file and show it"
)
STATE = approve("infra.state", "changes what is recorded of the infrastructure")
DELETED = approve(
    "cloud.deleted", "deletes or stops resources of a cloud account", "list or describe them first"
)
RIGHTS = approve("cloud.rights", "changes who may do what in a cloud account, or opens it to the world")
MACHINE = approve("machines.removed", "removes, stops or resets a virtual machine")
REPOSITORY = approve("hosting.deleted", "deletes or hides what is on the server that hosts a repository")
RELEASED = approve("publish.release", "publishes or changes a release")
MERGED = approve("hosting.merged", "merges into a branch that others build on")
ACCESS = approve("hosting.access", "changes who may reach a repository or an account")
HTTP_DELETE = approve("infra.http-delete", "deletes something on a server", "GET it first")

_AWS_VALUED = names(
    "--profile --region --endpoint-url --output --query --color --ca-bundle --cli-read-timeout "
    "--cli-connect-timeout"
)
_AWS_ENDS = re.compile(
    r"(?:batch-)?(?:delete|terminate|remove|deregister|purge|destroy|reset|disassociate|detach|release|stop|reboot|cancel|revoke|disable|schedule-key-deletion|abort)(?:-|\Z)"
)
_AWS_RIGHTS = re.compile(
    r"(?:put|attach|create|add|update|set)-(?:bucket-policy|bucket-acl|public-access-block|user-policy|role-policy|group-policy|"
    r"user-to-group|login-profile|access-key|user|assume-role-policy|permission|resource-policy|role-to-instance-profile|key-policy|grant)\Z"
    r"|authorize-security-group|modify-(?:image|snapshot)-attribute"
)
_HARMLESS_CANCELS = re.compile(r"stop-(?:query-execution|query)\Z")
_DELETES = names(
    "delete destroy rm remove terminate purge deallocate deprovision uninstall del rb stop shutdown "
    "reset unlink abandon delete-all force-delete empty wipe drop nuke remove-iam-policy-binding"
)
_RIGHTS = names("add-iam-policy-binding set-iam-policy set-policy")
_CLOUDS = names(
    "gcloud az doctl linode-cli hcloud vultr-cli vultr scw oci ibmcloud fly flyctl heroku render "
    "railway vercel netlify wrangler supabase firebase neonctl neon pscale atlas mongocli exo civo "
    "upctl eb copilot sls serverless amplify aliyun tccli openstack nova s3cmd mc gsutil bq b2 "
    "rancher nomad consul vault etcdctl cf pcf dokku kamal turso tailscale ovhcloud packet metal "
    "confluent databricks snow planetscale stripe shopify auth0 okta cloudflared flarectl appwrite "
    "ionosctl juju maas"
)
_CLOUD_VALUED = names(
    "--project --region --zone --account --configuration -a --app -n --name -g --resource-group "
    "--subscription -t --token --scope --org -o --output --format -p -h"
)
_TERRAFORMS = names("terraform tofu terragrunt tf opentofu")
_MACHINES = {
    "virsh": names(
        "destroy undefine shutdown reset reboot vol-delete pool-delete pool-destroy net-destroy "
        "net-undefine snapshot-delete"
    ),
    "qm": names("destroy stop shutdown reset reboot suspend unlink rollback delsnapshot"),
    "pct": names("destroy stop shutdown reboot rollback delsnapshot"),
    "pvesh": names("delete"),
    "vagrant": names("destroy halt reload"),
    "multipass": names("delete purge stop"),
    "lxc": names("delete stop restart"),
    "incus": names("delete stop restart"),
    "limactl": names("delete stop factory-reset prune"),
    "colima": names("delete"),
    "prlctl": names("delete stop"),
    "govc": names("vm.destroy datastore.rm object.destroy host.shutdown vm.power"),
    "xe": names("vm-destroy vm-uninstall vm-shutdown vdi-destroy host-shutdown"),
    "machinectl": names("remove terminate poweroff kill"),
    "wsl": names("--unregister --shutdown"),
    "orb": names("delete reset"),
    "tart": names("delete"),
}


def _aws(invocation: Invocation) -> Iterator[Found]:
    service, operation = (*verbs_of(invocation, _AWS_VALUED), "", "")[:2]
    words = invocation.words()
    if any(word in ("--dry-run", "--dryrun", "help") for word in words):
        return
    if service == "s3":
        if operation in ("rb", "rm") or (operation == "sync" and "--delete" in words):
            yield DELETED.found(invocation.part)
        elif any(word.startswith("public-read") or word == "--acl=public-read" for word in words):
            yield RIGHTS.found(invocation.part)
        return
    if _AWS_ENDS.match(operation) and not _HARMLESS_CANCELS.match(operation):
        yield DELETED.found(invocation.part)
    elif _AWS_RIGHTS.match(operation):
        yield RIGHTS.found(invocation.part)


def _terraform(invocation: Invocation) -> Iterator[Found]:
    verb, rest = verb_of(invocation, names("--terragrunt-working-dir --working-dir"))
    words = [word.text for word in rest]
    if verb in ("run-all", "run"):
        verb = next((word for word in words if word in ("destroy", "apply", "plan")), verb)
    destroys = any(word.lstrip("-") == "destroy" for word in words if word.startswith("-"))
    if "-help" in words or "--help" in words:
        return
    if verb == "destroy" or (verb == "apply" and destroys):
        yield DESTROYED.found(invocation.part)
    elif verb == "apply":
        yield APPLIED.found(invocation.part)
    elif (verb == "state" and words[:1] and words[0] in ("rm", "mv", "push", "replace-provider")) or verb in (
        "taint",
        "untaint",
        "force-unlock",
    ):
        yield STATE.found(invocation.part)
    elif verb == "workspace" and words[:1] == ["delete"]:
        yield DESTROYED.found(invocation.part)


def _iac(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    verbs = verbs_of(
        invocation, names("-s --stack --cwd -C --profile --region -a --app -t -i --inventory -u -e")
    )
    verb = verbs[0] if verbs else ""
    if name == "ansible-playbook":
        return
    if name in ("pulumi", "cdk", "cdktf", "sam", "copilot", "sst"):
        if verb in ("destroy", "delete", "down", "remove") or verbs[:2] in (
            ("stack", "rm"),
            ("state", "delete"),
        ):
            yield DESTROYED.found(invocation.part)
        elif verb in ("up", "deploy", "update") and not has(
            invocation.arguments, "", "--preview-only", "--no-execute-changeset"
        ):
            yield APPLIED.found(invocation.part)
    elif name == "gcloud":
        return


def _cloud(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    if any(word in ("--help", "-h", "help", "--dry-run", "-n=dry") for word in words):
        return
    verbs = verbs_of(invocation, _CLOUD_VALUED)
    name = invocation.name
    if name == "gsutil":
        verbs = tuple(word for word in verbs if word != "m")
        if verbs[:1] and (
            verbs[0] in ("rm", "rb") or (verbs[0] == "rsync" and has(invocation.arguments, "d"))
        ):
            yield DELETED.found(invocation.part)
        elif verbs[:1] and verbs[0] in ("iam", "acl", "defacl") and verbs[1:2] and verbs[1] in ("ch", "set"):
            yield RIGHTS.found(invocation.part)
        return
    if verbs[:1] == ("config",) or verbs[:2] == ("auth", "revoke"):
        return
    # heroku apps:destroy, netlify sites:delete
    if verbs and ":" in verbs[0] and verbs[0].rpartition(":")[2] in _DELETES:
        yield DELETED.found(invocation.part)
        return
    for word in verbs[:5]:
        if word in _RIGHTS:
            yield RIGHTS.found(invocation.part)
            return
        if word in _DELETES or word.startswith(("delete-", "remove-", "terminate-")):
            yield DELETED.found(invocation.part)
            return
    if (
        name == "vault"
        and verbs[:2]
        in (
            ("kv", "destroy"),
            ("secrets", "disable"),
            ("auth", "disable"),
            ("token", "revoke"),
            ("lease", "revoke"),
        )
    ) or (name == "mc" and any(word in ("rb", "rm") for word in verbs)):
        yield DELETED.found(invocation.part)
    elif name == "tailscale" and verbs[:1] and verbs[0] in ("down", "logout", "funnel", "up"):
        yield RIGHTS.found(invocation.part)
    elif name == "nomad" and verbs[:2] in (("job", "stop"), ("system", "gc"), ("node", "drain")):
        yield DELETED.found(invocation.part)


def _machine(invocation: Invocation) -> Iterator[Found]:
    verbs = verbs_of(invocation, names("-c --connect"))
    wanted = _MACHINES.get(invocation.name, frozenset())
    if invocation.name == "VBoxManage":
        words = invocation.words()
        if (
            "--delete" in words
            or (verbs[:1] == ("controlvm",) and verbs[2:3] and verbs[2] in ("poweroff", "reset"))
            or verbs[:1] in (("closemedium",),)
        ):
            yield MACHINE.found(invocation.part)
    elif (verbs and verbs[0] in wanted) or any(word in wanted for word in invocation.words()[:1]):
        yield MACHINE.found(invocation.part)


def _gh(invocation: Invocation) -> Iterator[Found]:
    verbs = verbs_of(invocation, names("-R --repo -H --hostname"))
    first, second = (*verbs, "", "")[:2]
    words = invocation.words()
    if "--help" in words:
        return
    if first in (
        "repo",
        "project",
        "issue",
        "codespace",
        "gist",
        "label",
        "secret",
        "variable",
        "run",
        "ruleset",
        "cs",
    ) and second in (
        "delete",
        "archive",
        "unarchive",
        "transfer",
    ):
        if not (first == "run" and second != "delete"):
            yield REPOSITORY.found(invocation.part)
    elif (
        first == "repo"
        and second in ("edit", "rename")
        and any(word.startswith(("--visibility", "--default-branch")) for word in words)
    ):
        yield REPOSITORY.found(invocation.part)
    elif (first == "repo" and second == "deploy-key") or (
        first in ("ssh-key", "gpg-key") and second in ("add", "delete")
    ):
        yield ACCESS.found(invocation.part)
    elif first == "workflow" and second == "disable":
        yield REPOSITORY.found(invocation.part)
    elif first == "release" and second in ("create", "delete", "edit", "upload", "delete-asset"):
        if not any(word in ("--draft", "-d") for word in words) or second != "create":
            yield RELEASED.found(invocation.part)
    elif first in ("pr", "mr") and second == "merge":
        yield MERGED.found(invocation.part)
    elif first == "gist" and second == "create" and any(word in ("-p", "--public") for word in words):
        yield RELEASED.found(invocation.part)
    elif first == "auth" and second == "token":
        yield ACCESS.found(invocation.part, "it prints the token")
    elif first == "extension" and second == "install":
        yield ACCESS.found(invocation.part, "it installs a program from a repository")
    elif first == "api":
        method = ""
        for index, word in enumerate(words):
            if word in ("-X", "--method") and index + 1 < len(words):
                method = words[index + 1].upper()
            elif word.startswith(("-X", "--method=")):
                method = word.removeprefix("--method=").removeprefix("-X").upper()
        if method == "DELETE":
            yield REPOSITORY.found(invocation.part)


_LOCAL = re.compile(
    r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)(?:[:/]|\Z)"
)
_WHOLE_INDEX = re.compile(r"/(?:_all|\*|_delete_by_query)(?:[/?]|\Z)|:9200/[\w*-]+\Z")


def _curl(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    method = ""
    for index, word in enumerate(words):
        if word in ("-X", "--request", "--method") and index + 1 < len(words):
            method = words[index + 1]
        elif word.startswith(("-X", "--request=", "--method=")):
            method = word.partition("=")[2] or word[2:]
        elif (
            word.startswith("-")
            and not word.startswith("--")
            and word.endswith("X")
            and index + 1 < len(words)
        ):
            method = words[index + 1]
    if invocation.name in ("http", "https", "xh", "httpie"):
        method = next((word for word in words if not word.startswith("-")), "")
    urls = [word for word in words if "://" in word or _LOCAL.match(word) or _WHOLE_INDEX.search(word)]
    if (
        method.upper() == "DELETE" and any(not _LOCAL.match(url) or _WHOLE_INDEX.search(url) for url in urls)
    ) or any("_delete_by_query" in url for url in urls):
        yield HTTP_DELETE.found(invocation.part)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name in ("aws", "awslocal"):
        return _aws(invocation) if name == "aws" else ()
    if name in _TERRAFORMS:
        return _terraform(invocation)
    if name in ("pulumi", "cdk", "cdktf", "sam", "sst"):
        return _iac(invocation)
    if name in _MACHINES or name == "VBoxManage":
        return _machine(invocation)
    if name in ("gh", "glab", "tea"):
        return _gh(invocation)
    if name in ("curl", "wget", "http", "https", "xh", "httpie"):
        return _curl(invocation)
    return _cloud(invocation)


FAMILY = Family(
    "cloud",
    _CLOUDS
    | _TERRAFORMS
    | frozenset(_MACHINES)
    | names("aws awslocal pulumi cdk cdktf sam sst VBoxManage gh glab tea curl wget http https xh httpie"),
    _check,
    examples=(
        ("terraform destroy -auto-approve", "infra.destroyed"),
        ("terraform -chdir=infra apply -destroy", "infra.destroyed"),
        ("tofu apply -auto-approve", "infra.applied"),
        ("terraform state rm aws_db.main", "infra.state"),
        ("pulumi destroy --yes", "infra.destroyed"),
        ("aws s3 rb s3://bucket --force", "cloud.deleted"),
        ("aws --profile prod --region eu-west-1 s3 rm --recursive s3://bucket/x", "cloud.deleted"),
        ("aws ec2 terminate-instances --instance-ids i-0abc", "cloud.deleted"),
        ("aws s3api put-bucket-acl --bucket b --acl public-read", "cloud.rights"),
        ("gcloud --project p compute instances delete vm-1 --quiet", "cloud.deleted"),
        ("gcloud projects add-iam-policy-binding p --member user:x --role roles/owner", "cloud.rights"),
        ("az group delete --name rg --yes", "cloud.deleted"),
        ("gsutil -m rm -r gs://bucket/data", "cloud.deleted"),
        ("doctl compute droplet delete 1", "cloud.deleted"),
        ("heroku apps:destroy shop", "cloud.deleted"),
        ("virsh undefine vm1", "machines.removed"),
        ("vagrant destroy -f", "machines.removed"),
        ("gh repo delete x/y --yes", "hosting.deleted"),
        ("gh api -X DELETE repos/x/y", "hosting.deleted"),
        ("gh release create v1", "publish.release"),
        ("gh pr merge 12 --squash", "hosting.merged"),
        ("gh ssh-key add key.pub", "hosting.access"),
        ("curl -X DELETE https://api.example.com/v1/users/1", "infra.http-delete"),
        ("curl -XDELETE localhost:9200/_all", "infra.http-delete"),
    ),
    silent=(
        "terraform plan -destroy",
        "terraform init",
        "terraform state list",
        "aws s3 ls",
        "aws --profile p s3 cp a.txt s3://bucket/a.txt",
        "aws ec2 describe-instances",
        "aws s3 rm s3://bucket/x --dryrun",
        "gcloud compute instances list",
        "gcloud config unset project",
        "az vm list",
        "gh pr create --fill",
        "gh pr view 12",
        "gh release list",
        "gh api repos/x/y",
        "vagrant up",
        "virsh list",
        "curl -X POST https://api.example.com/v1/items -d '{}'",
        "curl -X DELETE http://localhost:8000/items/1",
    ),
    rules=(
        DESTROYED,
        APPLIED,
        STATE,
        DELETED,
        RIGHTS,
        MACHINE,
        REPOSITORY,
        RELEASED,
        MERGED,
        ACCESS,
        HTTP_DELETE,
    ),
)
