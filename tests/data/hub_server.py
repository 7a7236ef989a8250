"""A loopback server that answers the hub's routes for data set repositories kept as folders."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Served:
    """A repository: the folder of each commit, and the commit of each branch and tag."""

    commits: dict[str, Path]
    refs: dict[str, str]

    def commit(self, revision: str) -> str | None:
        return self.refs.get(revision, revision if revision in self.commits else None)


@dataclass
class Hub:
    """A running server: its address, and the path of every request so far."""

    endpoint: str
    requests: list[str] = field(default_factory=list)


@contextmanager
def serve(repositories: dict[str, Served]) -> Iterator[Hub]:
    hub = Hub("")

    class Handler(_Handler):
        served = repositories
        log = hub.requests

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    served: dict[str, Served]
    log: list[str]

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.headers.get("Content-Type", "").startswith("application/json"):
            paths = json.loads(body or "{}").get("paths", [])
        else:
            paths = parse_qs(body).get("paths", [])
        self._answer([paths] if isinstance(paths, str) else paths)

    def _answer(self, paths: list[str] | None = None) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        self.log.append(f"{self.command} {self.path}")
        if parts[:2] == ["api", "datasets"]:
            return self._api("/".join(parts[2:4]), parts[4:], paths)
        if parts[:1] == ["datasets"] and parts[3:4] == ["resolve"]:
            return self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        return self._send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def _folder(self, repository: str, revision: str) -> tuple[str, Path] | None:
        served = self.served.get(repository)
        if served is None:
            self._send(401, b"", {"X-Error-Code": "RepoNotFound"})
            return None
        commit = served.commit(revision)
        if commit is None:
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
            return None
        return commit, served.commits[commit]

    def _api(self, repository: str, rest: list[str], paths: list[str] | None) -> None:
        route, revision = (rest[0], rest[1]) if rest else ("revision", "main")
        found = self._folder(repository, revision)
        if found is None:
            return None
        commit, folder = found
        if route == "revision":
            siblings = [{"rfilename": entry["path"]} for entry in _files(folder)]
            return self._json(
                {"id": repository, "sha": commit, "private": False, "siblings": siblings}
            )
        if route == "paths-info":
            return self._json([e for e in _entries(folder) if e["path"] in (paths or [])])
        if route == "tree":
            below = "/".join(rest[2:])
            entries = [e for e in _entries(folder) if not below or _is_below(e["path"], below)]
            if below and not entries:
                return self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            if "recursive=true" not in self.path.lower():
                depth = below.count("/") + 1 if below else 0
                entries = [e for e in entries if e["path"].count("/") == depth]
            return self._json(entries)
        return self._send(404, b"", {})

    def _file(self, repository: str, revision: str, name: str) -> None:
        found = self._folder(repository, revision)
        if found is None:
            return
        commit, folder = found
        path = folder / name
        if not path.is_file():
            self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
            return
        content = path.read_bytes()
        etag = hashlib.sha256(content).hexdigest()
        self._send(200, content, {"ETag": f'"{etag}"', "X-Repo-Commit": commit})

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _files(folder: Path) -> list[dict[str, Any]]:
    return [
        {
            "type": "file",
            "path": path.relative_to(folder).as_posix(),
            "size": path.stat().st_size,
            "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def _entries(folder: Path) -> list[dict[str, Any]]:
    folders = [
        {"type": "directory", "path": path.relative_to(folder).as_posix(), "size": 0, "oid": "0"}
        for path in sorted(folder.rglob("*"))
        if path.is_dir()
    ]
    return folders + _files(folder)
