"""Each identity of the S3 server has its permissions, and no other identity has access.

The server runs with the command and environment of docker-compose.yaml.
"""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from s2corpus.deployment.s3_security import format_identities
from s2corpus.errors import UserError
from tests import compose
from tests.compose import IDENTITIES, KEYS
from tests.compose import S3_PORTS as PORTS
from tests.compose import s3_client as client

pytestmark = pytest.mark.services
ROOT = Path(__file__).resolve().parents[4]
POLICIES = ROOT / "deploy" / "s3"
ABOVE = (
    "drops/d/_READY", "sources/s/d/_READY", "snapshots/x/manifest.json", "releases/r/papers/part-0.parquet", "suppress.jsonl",
    "datasets/d/x/manifest.json", "corrections.jsonl", "actions/a.json", "snapshots/x/latest.json", "snapshots/x/yanked/x-1",
)  # fmt: skip
MAY: dict[str, dict[str, str]] = {
    # g: get, p: put, d: delete, l: list its folder.
    "admin": dict.fromkeys(ABOVE, "gpdl"),
    "deliver": {ABOVE[0]: "gpl", ABOVE[1]: "gpl"},
    "worker": {
        ABOVE[0]: "gl",
        ABOVE[1]: "gl",
        ABOVE[2]: "gpdl",
        ABOVE[3]: "gpdl",
        ABOVE[4]: "gl",
        ABOVE[5]: "gpdl",
        ABOVE[6]: "gl",
        **dict.fromkeys(ABOVE[7:], "gpdl"),
    },
    "consumer": {key: "gl" for key in ABOVE if key.startswith(("snapshots/", "datasets/"))},
    # What the actions of the page write: a correction, a takedown, a withdrawal or restoration, and their records.
    "page": dict.fromkeys(ABOVE, "gl") | dict.fromkeys((ABOVE[4], *ABOVE[6:9]), "gpl") | {ABOVE[9]: "gpdl"},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """Yield the ports of a server that runs as in compose, with the test's own folders, host and ports."""
    with compose.s3_server(tmp_path_factory.mktemp("s3")) as ports:
        yield ports


def allowed(act: Callable[[], object]) -> bool:
    try:
        act()
    except ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDenied", error
        return False
    return True


def begin_and_abort_upload(s3: Any, key: str) -> None:
    upload = s3.create_multipart_upload(Bucket="corpus", Key=key)["UploadId"]
    s3.abort_multipart_upload(Bucket="corpus", Key=key, UploadId=upload)


@pytest.mark.parametrize("who", IDENTITIES)
def test_each_identity_has_exactly_its_permissions(server: dict[str, int], who: str) -> None:
    admin, s3 = client(server["s3"], "admin"), client(server["s3"], who)
    found = {}
    for key in ABOVE:
        admin.put_object(Bucket="corpus", Key=key, Body=b"whole")
        folder = key.rpartition("/")[0] + "/" if "/" in key else ""
        other = f"{folder}other"
        actions: dict[str, Callable[[], object]] = {
            "g": partial(s3.get_object, Bucket="corpus", Key=key), "p": partial(s3.put_object, Bucket="corpus", Key=key, Body=b"changed"),
            "d": partial(s3.delete_object, Bucket="corpus", Key=key), "l": partial(s3.list_objects_v2, Bucket="corpus", Prefix=folder),
        }  # fmt: skip
        found[key] = "".join(name for name, act in actions.items() if allowed(act))
        multipart = allowed(partial(begin_and_abort_upload, s3, other))
        if not key.endswith((".jsonl", "latest.json")):  # Other keys have the rights of their folder.
            assert multipart is ("p" in found[key])
            source = {"Bucket": "corpus", "Key": ABOVE[0]}
            admin.put_object(Bucket="corpus", Key=ABOVE[0], Body=b"whole")
            copied = allowed(partial(s3.copy_object, Bucket="corpus", Key=other, CopySource=source))
            assert not copied or "p" in found[key], "a copy is a write too"
        if "p" not in found[key] and "d" not in found[key]:
            assert admin.get_object(Bucket="corpus", Key=key)["Body"].read() == b"whole"
    assert {key: may for key, may in found.items() if may} == MAY[who]


@pytest.mark.parametrize("who", [who for who in IDENTITIES if who != "admin"])
def test_only_admin_changes_bucket_and_permissions(server: dict[str, int], who: str) -> None:
    s3 = client(server["s3"], who)
    policy = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::corpus/*"}]}'
    rule = {"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}
    assert not allowed(partial(s3.create_bucket, Bucket=f"of-{who}"))
    assert not allowed(partial(s3.delete_bucket, Bucket="corpus"))
    assert not allowed(partial(s3.put_bucket_policy, Bucket="corpus", Policy=policy))
    assert not allowed(partial(s3.put_bucket_acl, Bucket="corpus", ACL="public-read-write"))
    expire = partial(s3.put_bucket_lifecycle_configuration, LifecycleConfiguration={"Rules": [rule]})
    assert not allowed(partial(expire, Bucket="corpus"))


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("port", ["s3", *PORTS])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_port_answers_without_keys(server: dict[str, int], port: str, method: str, scheme: str) -> None:
    admin = client(server["s3"], "admin")
    admin.put_object(Bucket="corpus", Key="snapshots/s/latest.json", Body=b"the pointer")
    pointer = "corpus/snapshots/s/latest.json"
    for path in (f"/{pointer}", f"/buckets/{pointer}", "/dir/assign", "/cluster/status", "/metrics", "/debug/pprof/"):
        url = f"{scheme}://127.0.0.1:{server[port]}{path}"
        request = urllib.request.Request(url, b"another" if method == "PUT" else None, method=method)
        # A refusal has one of these statuses, or is no HTTP answer.
        try:
            with urllib.request.urlopen(request, timeout=5, context=ssl._create_unverified_context()) as response:
                pytest.fail(f"{method} {url} answered {response.status}")
        except urllib.error.HTTPError as error:
            assert error.code in {400, 401, 403, 405}, (method, url)
        except OSError:
            pass
    assert admin.get_object(Bucket="corpus", Key="snapshots/s/latest.json")["Body"].read() == b"the pointer"


def test_missing_or_shared_keys_give_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"s3_consumer is no file of AWS credentials .*: run deploy/make_secrets.py"):
        format_identities(POLICIES, "corpus", tmp_path)
    compose.write_s3_keys(tmp_path / "keys", KEYS | {"S3_PAGE_ACCESS_KEY": KEYS["S3_WORKER_ACCESS_KEY"]})
    with pytest.raises(UserError, match="two identities of the lake have one access key"):
        format_identities(POLICIES, "corpus", tmp_path / "keys")


def test_lifecycle_rule_is_accepted_by_the_server(server: dict[str, int]) -> None:
    """Check the rule that removes the parts of uploads which were never completed; they are invisible, and cost space."""
    s3, rule = client(server["s3"], "admin"), json.loads((ROOT / "deploy" / "s3-lifecycle.json").read_text("utf-8"))
    s3.put_bucket_lifecycle_configuration(Bucket="corpus", LifecycleConfiguration=rule)
    (stored,) = s3.get_bucket_lifecycle_configuration(Bucket="corpus")["Rules"]
    assert stored["Status"] == "Enabled"
    assert stored["AbortIncompleteMultipartUpload"] == rule["Rules"][0]["AbortIncompleteMultipartUpload"]
