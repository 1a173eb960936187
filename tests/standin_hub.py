"""A stand-in for the Hugging Face Hub: data sets, commits of small files, and trees. Tests can make it fail."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Hub:
    """`files` of each data set, and the commits in order."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.commits: list[list[str]] = []
        self.refuse_after: int | None = None
        """number of commits after which every second commit fails"""
        self.token = "hf_test"
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                hub._get(self)

            def do_POST(self) -> None:
                hub._post(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        if "/tree/" not in request.path:
            return _answer(request, 404, {"error": "not here"})
        name = "/".join(request.path.split("/")[3:5])
        tree = [
            {
                "type": "file",
                "path": path,
                "size": len(data),
                "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(),
            }
            for path, data in self.files.get(name, {}).items()
            if "/" not in path or "recursive=true" in request.path.lower()
        ]
        return _answer(request, 200, tree)

    def _post(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return _answer(request, 401, {"error": "Invalid credentials"})
        path = request.path.partition("?")[0]
        if path == "/api/repos/create":
            given = json.loads(body)
            name = f"{given['organization']}/{given['name']}" if given.get("organization") else given["name"]
            self.files.setdefault(name, {})
            return _answer(request, 200, {"url": f"{self.url}/datasets/{name}", "name": name, "id": "1"})
        if path == "/api/validate-yaml":
            return _answer(request, 200, {"errors": [], "warnings": []})
        name = "/".join(path.split("/")[3:5])
        if "/preupload/" in path:
            files = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False, "oid": None}
                for f in json.loads(body)["files"]
            ]
            return _answer(request, 200, {"files": files})
        if self.refuse_after is not None and len(self.commits) >= self.refuse_after:
            return _answer(request, 400, {"error": "failure requested"})
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        added = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines if line["key"] == "file"
        }
        self.files[name].update(added)
        self.commits.append(sorted(added))
        return _answer(
            request, 200, {"success": True, "commitOid": "0" * 40, "commitUrl": f"{self.url}/datasets/{name}/commit/0"}
        )


def _answer(request: BaseHTTPRequestHandler, status: int, value: Any) -> None:
    content = json.dumps(value).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)
