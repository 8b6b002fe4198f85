"""AWS Signature Version 4 for S3, from its specification and the standard library alone: the
server is checked against this, not against its own code."""

import hashlib
import hmac
import time
import urllib.parse
from typing import NamedTuple

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
REGION = "us-east-1"


class Key(NamedTuple):
    id: str
    secret: str


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def stamp(seconds: float | None = None) -> str:
    """The time as it is signed, "20130524T000000Z"; now if none is given."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _encode(text: bytes, safe: str = "") -> str:
    return urllib.parse.quote(text, safe=safe + "-_.~")


def _canonical_query(query: str) -> str:
    pairs = []
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        pairs.append(tuple(_encode(urllib.parse.unquote_to_bytes(text)) for text in (name, value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def canonical_request(method: str, target: str, headers: dict[str, str], payload: str) -> str:
    """`target` is "/path?query" as it is sent; `headers` are those to sign, in lower case."""
    path, _, query = target.partition("?")
    lines = "".join(f"{name}:{' '.join(value.split())}\n" for name, value in sorted(headers.items()))
    return "\n".join([method, _encode(urllib.parse.unquote_to_bytes(path), "/"),
                      _canonical_query(query), lines, ";".join(sorted(headers)), payload])


def keyed_text(key: Key, date: str, text: str) -> str:
    """The signature of a text that is already in its form."""
    secret = f"AWS4{key.secret}".encode()
    for part in (date[:8], REGION, "s3", "aws4_request"):
        secret = _hmac(secret, part)
    return _hmac(secret, text).hex()


def signature(key: Key, date: str, canonical: str) -> str:
    scope = f"{date[:8]}/{REGION}/s3/aws4_request"
    return keyed_text(key, date, f"{ALGORITHM}\n{date}\n{scope}\n{sha256(canonical.encode())}")


def sign(key: Key, method: str, target: str, headers: dict[str, str], payload: str,
         date: str | None = None) -> dict[str, str]:
    """`headers`, which have the host, with those that sign them and a body of this `payload`: its
    SHA-256, or a word such as UNSIGNED."""
    date = date or stamp()
    signed = {name.lower(): value for name, value in headers.items()}
    signed |= {"x-amz-date": date, "x-amz-content-sha256": payload}
    made = signature(key, date, canonical_request(method, target, signed, payload))
    signed["authorization"] = (
        f"{ALGORITHM} Credential={key.id}/{date[:8]}/{REGION}/s3/aws4_request, "
        f"SignedHeaders={';'.join(sorted(signed))}, Signature={made}")
    return signed


def presign(key: Key, method: str, host: str, target: str, expires: int = 600,
            date: str | None = None) -> str:
    """The target of a request that needs no more than this, to `host`, for so many seconds."""
    date = date or stamp()
    path, _, query = target.partition("?")
    parameters = urllib.parse.urlencode({
        "X-Amz-Algorithm": ALGORITHM,
        "X-Amz-Credential": f"{key.id}/{date[:8]}/{REGION}/s3/aws4_request",
        "X-Amz-Date": date, "X-Amz-Expires": expires, "X-Amz-SignedHeaders": "host"})
    unsigned = f"{path}?{query}&{parameters}" if query else f"{path}?{parameters}"
    made = signature(key, date, canonical_request(method, unsigned, {"host": host}, UNSIGNED))
    return f"{unsigned}&X-Amz-Signature={made}"
