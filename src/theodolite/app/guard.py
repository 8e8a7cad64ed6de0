"""Who may talk to the application: pages that it served itself, on this machine.

A page of another site must not reach it through the browser of its user (a foreign ``Origin``),
nor through a name that leads here (DNS rebinding: a foreign ``Host``). Beyond loopback, whoever
comes shows a token.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Served = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Names of this machine for itself.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
COOKIE = "theodolite_token"
#: What a form adds around an uploaded file, bytes.
AROUND = 64 * 1024


@dataclass(frozen=True)
class Rules:
    """What is let in."""

    #: ``host:port`` as browsers write it.
    hosts: frozenset[str]
    #: The largest body of a request, bytes.
    largest: int
    token: str | None = None


def rules_for(host: str, port: int, largest: int, token: str | None) -> Rules:
    """Rules for a server at an address."""
    names = {*LOOPBACK, f"[{host}]" if ":" in host else host}
    hosts = {f"{name}:{port}" for name in names}
    if port == 80:
        hosts |= names
    return Rules(frozenset(hosts), largest + AROUND, token)


class Guard:
    """Stands before all pages, files and sockets."""

    def __init__(self, app: Served, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, send, *refusal)
        elif self._shown_in_address(scope):
            await _take_token(scope, send, str(self.rules.token))
        else:
            await self.app(scope, _bounded(receive, self.rules.largest), send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        rules = self.rules
        hosts, origins = _headers(scope, b"host"), _headers(scope, b"origin")
        if len(hosts) != 1 or (hosts[0] not in rules.hosts and rules.token is None):
            return 403, "this address is not the application's"
        allowed = {f"http://{host}" for host in rules.hosts | {hosts[0]}}
        if any(origin not in allowed for origin in origins):
            return 403, "another site asked for this"
        if "cross-site" in _headers(scope, b"sec-fetch-site"):
            return 403, "another site asked for this"
        if rules.token is not None and not self._knows_token(scope):
            return 401, "the token is missing: open the address that was printed at the start"
        length = _headers(scope, b"content-length")
        if any(not text.isdecimal() or int(text) > rules.largest for text in length):
            return 413, "this is too large"
        return None

    def _knows_token(self, scope: Scope) -> bool:
        shown = [*self._asked(scope), *_cookies(scope)]
        return any(
            hmac.compare_digest(one.encode(), str(self.rules.token).encode()) for one in shown
        )

    def _asked(self, scope: Scope) -> list[str]:
        if self.rules.token is None or scope["type"] != "http":
            return []
        return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])

    def _shown_in_address(self, scope: Scope) -> bool:
        return bool(self._asked(scope))


def _headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _cookies(scope: Scope) -> list[str]:
    pairs = [pair.strip() for text in _headers(scope, b"cookie") for pair in text.split(";")]
    return [pair.removeprefix(f"{COOKIE}=") for pair in pairs if pair.startswith(f"{COOKIE}=")]


async def _refuse(scope: Scope, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"refused: {why}\n".encode()})


async def _take_token(scope: Scope, send: Send, token: str) -> None:
    """Keep the token in a cookie, and it out of the address."""
    headers = [
        (b"location", scope["path"].encode("latin-1", errors="replace") or b"/"),
        (b"set-cookie", f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/".encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _bounded(receive: Receive, largest: int) -> Receive:
    """The same, ended where a body without a stated length grows too large."""
    count = 0

    async def bounded() -> MutableMapping[str, Any]:
        nonlocal count
        message = await receive()
        if message["type"] == "http.request":
            count += len(message.get("body", b""))
            if count > largest:
                return {"type": "http.disconnect"}
        return message

    return bounded
