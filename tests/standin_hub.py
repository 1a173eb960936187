"""A stand-in for the Hugging Face Hub: data sets, commits of small files, and trees. Tests can make it fail."""

import base64
import hashlib
import json

from tests.http_server import Answer, Request, Server, answer_json


class Hub(Server):
    """`files` of each data set, and the commits in order."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.commits: list[list[str]] = []
        self.refuse_after: int | None = None
        """number of commits after which every second commit fails"""
        self.token = "hf_test"

    def answer(self, request: Request) -> Answer:
        """Answer as the Hub does."""
        path, body = request.path.partition("?")[0], request.body
        name = "/".join(path.split("/")[3:5])
        if request.method == "GET":
            return self._list_tree(name, request.path)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return answer_json({"error": "Invalid credentials"}, 401)
        if path == "/api/repos/create":
            given = json.loads(body)
            name = f"{given['organization']}/{given['name']}" if given.get("organization") else given["name"]
            self.files.setdefault(name, {})
            return answer_json({"url": f"{self.url}/datasets/{name}", "name": name, "id": "1"})
        if path == "/api/validate-yaml":
            return answer_json({"errors": [], "warnings": []})
        if "/preupload/" in path:
            how = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
            return answer_json({"files": [{"path": f["path"], **how} for f in json.loads(body)["files"]]})
        if self.refuse_after is not None and len(self.commits) >= self.refuse_after:
            return answer_json({"error": "failure requested"}, 400)
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        values = [line["value"] for line in lines if line["key"] == "file"]
        added = {value["path"]: base64.b64decode(value["content"]) for value in values}
        self.files[name].update(added)
        self.commits.append(sorted(added))
        url = f"{self.url}/datasets/{name}/commit/0"
        return answer_json({"success": True, "commitOid": "0" * 40, "commitUrl": url})

    def _list_tree(self, name: str, path: str) -> Answer:
        if "/tree/" not in path:
            return answer_json({"error": "not here"}, 404)
        return answer_json([
            {"type": "file", "path": file, "size": len(data), "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
            for file, data in self.files.get(name, {}).items() if "/" not in file or "recursive=true" in path.lower()
        ])  # fmt: skip
