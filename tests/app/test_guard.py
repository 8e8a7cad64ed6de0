"""Who is let in: hosts, origins, tokens and sizes."""

from __future__ import annotations

import pytest

from tests.app.conftest import run_alone
from theodolite.app.guard import AROUND, COOKIE, Guard, rules_for
from theodolite.app.server import check_address, free_port
from theodolite.errors import InputError

TOKEN = "abcdefgh12345678"


async def _inner(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            await send({"type": "http.response.start", "status": 499, "headers": []})
            return
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def ask(headers, *, kind="http", query=b"", token=None, body=(b"",), host="127.0.0.1"):
    """Status of an answer, its headers, and whether a socket was closed."""
    sent = []
    guard = Guard(_inner, rules_for(host, 8420, 1000, token))
    scope = {"type": kind, "path": "/x", "query_string": query}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in headers]
    parts = [
        {"type": "http.request", "body": part, "more_body": n + 1 < len(body)}
        for n, part in enumerate(body)
    ]

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    run_alone(guard(scope, receive, send))
    return sent[0]


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:8420", "[::1]:8420"])
def test_this_machine_is_let_in(host):
    assert ask([("host", host)])["status"] == 200
    assert ask([("host", host), ("origin", f"http://{host}")])["status"] == 200
    assert ask([("host", host)], kind="websocket")["type"] == "websocket.accept"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("host", "evil.example")],
        [("host", "evil.example:8420")],
        [("host", "127.0.0.1:80")],
        [("host", "127.0.0.1.evil.example:8420")],
        [("host", "127.0.0.1:8420"), ("host", "evil.example")],
        [("host", "127.0.0.1:8420"), ("origin", "http://evil.example")],
        [("host", "127.0.0.1:8420"), ("origin", "https://127.0.0.1:8420")],
        [("host", "127.0.0.1:8420"), ("origin", "http://127.0.0.1:9999")],
        [("host", "127.0.0.1:8420"), ("origin", "null")],
    ],
)
def test_others_are_not(headers):
    assert ask(headers)["status"] == 403
    assert ask(headers, kind="websocket")["type"] == "websocket.close"


def test_large_bodies_are_refused():
    host = ("host", "127.0.0.1:8420")
    assert ask([host, ("content-length", str(1000 + AROUND))])["status"] == 200
    assert ask([host, ("content-length", str(1001 + AROUND))])["status"] == 413
    assert ask([host, ("content-length", "many")])["status"] == 413
    # Without a stated length it is counted.
    assert ask([host], body=(b"x" * AROUND, b"x" * 900))["status"] == 200
    assert ask([host], body=(b"x" * AROUND, b"x" * 1900))["status"] == 499


def test_beyond_this_machine_a_token_is_needed():
    host = ("host", "robot-cell:8420")
    assert ask([host], token=TOKEN, host="0.0.0.0")["status"] == 401
    assert ask([host], token=TOKEN, query=b"token=wrong", host="0.0.0.0")["status"] == 401
    assert ask([host], kind="websocket", token=TOKEN, host="0.0.0.0")["type"] == "websocket.close"
    shown = ask([host], token=TOKEN, query=f"token={TOKEN}".encode(), host="0.0.0.0")
    assert shown["status"] == 303
    cookie = dict(shown["headers"])[b"set-cookie"].decode()
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    kept = [host, ("cookie", f"{COOKIE}={TOKEN}")]
    assert ask(kept, token=TOKEN, host="0.0.0.0")["status"] == 200
    assert ask(kept, kind="websocket", token=TOKEN, host="0.0.0.0")["type"] == "websocket.accept"
    assert ask([*kept, ("origin", "http://evil")], token=TOKEN, host="0.0.0.0")["status"] == 403


@pytest.mark.parametrize(
    ("host", "token"), [("0.0.0.0", None), ("10.0.0.4", "short"), ("::", None)]
)
def test_others_are_reached_only_on_purpose(host, token):
    with pytest.raises(InputError):
        check_address(host, token)
    check_address(host, TOKEN)
    with pytest.raises(InputError, match="other characters"):
        check_address(host, TOKEN + "; Path=/x")


def test_ports():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(InputError, match=str(number)):
            free_port("127.0.0.1", number)
    assert free_port("127.0.0.1", None) >= 8420
