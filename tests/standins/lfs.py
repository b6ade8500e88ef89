"""A Git LFS server on loopback: the batch API with basic transfers, and faults on demand."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

MEDIA_TYPE = "application/vnd.git-lfs+json"


@dataclass
class LfsStandIn:
    token: str = "Basic c2VjcmV0"
    contents: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, bytes] = field(default_factory=dict)
    """What is sent instead of a content."""
    other_host: str = ""
    """Where it says that contents are."""
    refuses_uploads: bool = False
    verified: list[str] = field(default_factory=list)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and authorization of each."""
    url: str = ""

    def add(self, content: bytes) -> str:
        oid = hashlib.sha256(content).hexdigest()
        self.contents[oid] = content
        return oid

    async def start(self) -> web.AppRunner:
        application = web.Application(client_max_size=10**8, middlewares=[self._record])
        application.add_routes(
            [
                web.post("/octo/demo.git/info/lfs/objects/batch", self._batch),
                web.get("/objects/{oid}", self._download),
                web.put("/objects/{oid}", self._upload),
                web.post("/verify", self._verify),
            ]
        )
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return runner

    @web.middleware
    async def _record(self, request: web.Request, handler: Any) -> web.StreamResponse:
        authorization = request.headers.get("Authorization", "")
        self.requests.append((request.method, request.path, authorization))
        if authorization != self.token:
            return web.json_response({"message": "no"}, status=401)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _batch(self, request: web.Request) -> web.Response:
        assert request.headers["Accept"] == MEDIA_TYPE
        asked = await request.json()
        found = [self._object(asked["operation"], one) for one in asked["objects"]]
        return web.json_response({"transfer": "basic", "objects": found}, content_type=MEDIA_TYPE)

    def _object(self, operation: str, one: dict[str, Any]) -> dict[str, Any]:
        place = {"href": f"{self.other_host or self.url}/objects/{one['oid']}"}
        if operation == "download":
            if one["oid"] in self.contents or one["oid"] in self.answers:
                return {**one, "actions": {"download": place}}
            return {**one, "error": {"code": 404, "message": "no such object"}}
        if self.refuses_uploads:
            return {**one, "error": {"code": 403, "message": "over quota"}}
        if one["oid"] in self.contents:
            return one
        return {**one, "actions": {"upload": place, "verify": {"href": f"{self.url}/verify"}}}

    async def _download(self, request: web.Request) -> web.Response:
        oid = request.match_info["oid"]
        return web.Response(body=self.answers.get(oid) or self.contents[oid])

    async def _upload(self, request: web.Request) -> web.Response:
        self.contents[request.match_info["oid"]] = await request.read()
        return web.Response()

    async def _verify(self, request: web.Request) -> web.Response:
        asked = await request.json()
        content = self.contents.get(asked["oid"], b"")
        self.verified.append(asked["oid"])
        return web.Response(status=200 if len(content) == asked["size"] else 404)
