#!/usr/bin/env python3
"""run.py NAME [--server ARGUMENTS] REQUIREMENT… -- PROGRAM [ARGUMENT…]: a client from PyPI against
a fresh `leat serve`.

Makes a virtual environment build/peers/NAME with these requirements, whose versions are pinned,
unless it is there already; starts a server with ARGUMENTS; runs PROGRAM by the environment's Python
(or, if it is none of the test's own, from the environment's bin) with LEAT_URL, AWS_ACCESS_KEY_ID
and AWS_SECRET_ACCESS_KEY set, and "{url}" in its arguments replaced; and stops the server. Needs
build/release/bin/leat.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PEERS = pathlib.Path(__file__).resolve().parent
ROOT = PEERS.parent.parent
sys.path.insert(0, str(PEERS.parent))

from server import Server  # pylint: disable=wrong-import-position


def environment(name: str, requirements: list[str], prepare: str) -> pathlib.Path:
    """The directory of a virtual environment that has exactly what is asked for."""
    directory = ROOT / "build/peers" / name
    stamp = directory / "requirements"
    wanted = "\n".join([prepare, *requirements])
    if stamp.exists() and stamp.read_text() == wanted:
        return directory
    shutil.rmtree(directory, ignore_errors=True)
    print(f"making {directory.relative_to(ROOT)} with {' '.join(requirements)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", directory], check=True)
    if prepare:
        subprocess.run([ROOT / prepare, directory], check=True)
    subprocess.run([directory / "bin/pip", "install", "-q", *requirements], check=True)
    stamp.write_text(wanted)
    return directory


def run(command: list[str], directory: pathlib.Path, server: Server, home: str) -> int:
    program, *arguments = [word.replace("{url}", server.url) for word in command]
    if program.endswith(".py"):
        launch = [directory / "bin/python", "-B", PEERS / program]
    else:
        launch = [directory / "bin" / program]
    variables = {
        "HOME": home, "PATH": f"{directory}/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
        "LEAT_URL": server.url, "AWS_ACCESS_KEY_ID": server.key.id,
        "AWS_SECRET_ACCESS_KEY": server.key.secret, "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true"}
    return subprocess.run([*launch, *arguments], env=variables, cwd=home, check=False).returncode


def main() -> None:
    words = sys.argv[1:]
    if "--" not in words:
        sys.exit(__doc__)
    command = words[words.index("--") + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--server", default="", help="arguments of leat serve")
    parser.add_argument("--prepare", default="", help="a program that fills the environment first")
    parser.add_argument("requirements", nargs="*")
    asked = parser.parse_intermixed_args(words[:words.index("--")])
    directory = environment(asked.name, asked.requirements, asked.prepare)
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(str(ROOT / "build/release/bin/leat"), pathlib.Path(scratch),
                        *shlex.split(asked.server))
        try:
            home = pathlib.Path(scratch, "home")
            home.mkdir()
            status = run(command, directory, server, str(home))
        finally:
            stopped = server.stop()
        if stopped != 0:
            sys.exit(f"the server ended with {stopped}: {server.log.read_text()}")
    sys.exit(status)


if __name__ == "__main__":
    main()
