"""A stand-in for the Hugging Face Hub: data sets, commits of small files, and trees. Tests can make it fail."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hub(ThreadingHTTPServer):
    """`files` of each data set, and the commits in order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.files: dict[str, dict[str, bytes]] = {}
        self.commits: list[list[str]] = []
        self.refuse_after: int | None = None
        """number of commits after which every second commit fails"""
        self.token = "hf_test"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if "/tree/" not in self.path:
            return self._answer(404, {"error": "not here"})
        tree = [
            {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
            for path, data in self.server.files.get("/".join(self.path.split("/")[3:5]), {}).items()
            if "/" not in path or "recursive=true" in self.path.lower()
        ]  # fmt: skip
        return self._answer(200, tree)

    def do_POST(self) -> None:
        hub = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        name = "/".join(path.split("/")[3:5])
        if self.headers.get("Authorization") != f"Bearer {hub.token}":
            return self._answer(401, {"error": "Invalid credentials"})
        if path == "/api/repos/create":
            given = json.loads(body)
            name = f"{given['organization']}/{given['name']}" if given.get("organization") else given["name"]
            hub.files.setdefault(name, {})
            return self._answer(200, {"url": f"{hub.url}/datasets/{name}", "name": name, "id": "1"})
        if path == "/api/validate-yaml":
            return self._answer(200, {"errors": [], "warnings": []})
        if "/preupload/" in path:
            how = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
            return self._answer(200, {"files": [{"path": f["path"], **how} for f in json.loads(body)["files"]]})
        if hub.refuse_after is not None and len(hub.commits) >= hub.refuse_after:
            return self._answer(400, {"error": "failure requested"})
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        values = [line["value"] for line in lines if line["key"] == "file"]
        added = {value["path"]: base64.b64decode(value["content"]) for value in values}
        hub.files[name].update(added)
        hub.commits.append(sorted(added))
        commit = {"success": True, "commitOid": "0" * 40, "commitUrl": f"{hub.url}/datasets/{name}/commit/0"}
        return self._answer(200, commit)

    def _answer(self, status: int, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
