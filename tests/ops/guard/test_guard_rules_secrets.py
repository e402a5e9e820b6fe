"""Which paths hold credentials."""

import pytest

from hermes_ops.guard.rules.names import names
from hermes_ops.guard.rules.secrets import secret_of

HOME = "/home/me"
SECRET = names(
    """
    ~/.ssh ~/.ssh/id_rsa ~/.ssh/id_ed25519_work ~/.ssh/* /root/.ssh/id_rsa .ssh/id_rsa id_ed25519
    ~/.aws/credentials .env ./.env ../.env.local .env.production prod.env .envrc ~/.netrc ~/.pgpass
    ~/.git-credentials ~/.docker/config.json ~/.kube/config ~/.gnupg ~/.gnupg/private-keys-v1.d/x
    ~/.config/gcloud/credentials.db ~/.azure/accessTokens.json ~/.npmrc ~/.pypirc ~/.hermes/auth.json
    ~/.hermes/.env ~/.hermes/state.db ~/.hermes/profiles/work/.env ~/.mozilla/firefox/x/logins.json
    ~/Library/Keychains/login.keychain-db /etc/shadow server.key privkey.pem deploy.p12
    ~/.password-store/mail.gpg ~/.vault-token /proc/self/environ /proc/1/environ /etc/ssl/private/x.key
    /run/secrets/db secrets.yaml credentials.json ~/.config/gh/hosts.yml ~/.cargo/credentials.toml
    /home/other/.ssh/id_rsa ~/.bash_history terraform.tfstate
    """
)
ORDINARY = names(
    """
    ~/.ssh/id_rsa.pub ~/.ssh/known_hosts ~/.ssh/config ~/.ssh/authorized_keys ~/.aws/config .env.example
    .env.sample .env.template env.py src/environment.ts cert.pem fullchain.pem ca.pem
    ~/.hermes/config.yaml README.md /etc/passwd keyboard.js tokenizer.py package.json .npmrc public.key
    ~/.gitconfig ~ / /etc secret_santa.py -i
    """
)


@pytest.mark.parametrize("path", sorted(SECRET))
def test_a_file_of_credentials_is_known_by_its_path(path):
    assert secret_of(path, "/home/me/proj", HOME, "/home/me/.hermes")
    assert secret_of(path.replace("~", HOME), None, HOME)


@pytest.mark.parametrize("path", sorted(ORDINARY))
def test_an_ordinary_file_is_none(path):
    assert secret_of(path, "/home/me/proj", HOME, "/home/me/.hermes") is None


def test_it_is_shown_below_the_home_with_its_kind():
    assert secret_of("/home/me/.ssh/id_rsa", None, HOME) == "~/.ssh/id_rsa (SSH keys)"


def test_the_folder_one_stands_in_counts():
    assert secret_of("id_work", "/home/me/.ssh", HOME)
    assert secret_of("credentials", "/home/me/.aws", HOME)
    assert secret_of("*", "/home/me/.ssh", HOME)
    assert secret_of("credentials", "/home/me/proj", HOME) is None


def test_a_home_counts_only_as_a_whole():
    for path in ("~", "/", "/home/me/.hermes", "/root"):
        assert secret_of(path, None, HOME) is None
        assert secret_of(path, None, HOME, whole=True)
    assert secret_of("src", "/home/me/proj", HOME, whole=True) is None
