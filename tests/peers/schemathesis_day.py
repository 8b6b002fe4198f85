"""Runs schemathesis over the OpenAPI document of the server at LEAT_URL, every request signed, with
a bucket and a few objects to be found."""

import os
import pathlib
import subprocess
import sys
import urllib.parse

import requests

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sigv4  # pylint: disable=wrong-import-position

URL = os.environ["LEAT_URL"]
KEY = sigv4.Key(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_headers_conformance", "response_schema_conformance")


def are_http(headers) -> bool:
    """Headers without control characters: a head with them is refused before it is known what it
    asks for, and so not as this API refuses."""
    return all(c >= " " and c != "\x7f" for value in (headers or {}).values() for c in str(value))


class Signed(requests.auth.AuthBase):
    """Signs what is about to be sent."""

    def __call__(self, request):
        parts = urllib.parse.urlsplit(request.url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        headers = {name.lower(): value for name, value in request.headers.items()
                   if name.lower().startswith("x-leat-")}
        request.headers.update(sigv4.sign(KEY, request.method, target,
                                          {"host": parts.netloc} | headers, sigv4.UNSIGNED))
        return request


def main() -> int:
    for target, body in (("/box", b""), ("/box/name", b"bytes"), ("/box/a/b", b"x" * 5000)):
        requests.put(URL + target, data=body, auth=Signed(), timeout=60).raise_for_status()
    hooks = pathlib.Path("signed_hooks.py")
    hooks.write_text("""import schemathesis
import schemathesis_day

schemathesis.auth.set_from_requests(schemathesis_day.Signed())


@schemathesis.hook
def filter_headers(context, headers):
    return schemathesis_day.are_http(headers)
""")
    here = pathlib.Path(__file__).resolve().parent
    variables = os.environ | {"SCHEMATHESIS_HOOKS": "signed_hooks",
                              "PYTHONPATH": f"{here}{os.pathsep}{hooks.resolve().parent}"}
    return subprocess.run(
        ["schemathesis", "run", f"{URL}/leat/v1/openapi.json", "--checks", ",".join(CHECKS),
         "--max-examples", "50", "--seed", "1", "--phases", "examples,coverage,fuzzing",
         "--continue-on-failure", "--warnings", "off", "--generation-database", "none"],
        env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
