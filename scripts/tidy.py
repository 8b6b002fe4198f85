#!/usr/bin/env python3
"""tidy.py [FILE…]: runs clang-tidy by .clang-tidy over the given files, by default over all that
users run. Tests are left to the compilers and sanitizers: with GoogleTest's headers and macros they
would take most of the time and give most of the noise.

A file that passed is not looked at again until its text, with all that it includes, or the rules
change: the hashes of what passed are kept in $XDG_CACHE_HOME/leat/tidy (~/.cache). JOBS files at once.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATABASE = ROOT / "build/release/compile_commands.json"
OWN_DATABASE = ROOT / "build/tidy/compile_commands.json"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "leat/tidy"
WHAT_USERS_RUN = ["*.cc", ":!*_test.cc", ":!*/testing/*"]


def output_of(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def arguments_of(command: str) -> list[str]:
    """Those that clang understands: without the launcher, the output and GCC's precompiled header."""
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if word.endswith("c++")) + 1:]
    if "-include" in words and words[words.index("-include") + 1].endswith("cmake_pch.hxx"):
        at = words.index("-include")
        del words[at:at + 2]
    del words[words.index("-o"):words.index("-c") + 1]
    return ["clang++-14", "-Wno-unknown-warning-option", "-Wno-invalid-pch", *words]


def write_own_database() -> dict[str, list[str]]:
    """The commands by file. A benchmark without its libraries has none."""
    if not DATABASE.exists():
        subprocess.run(["cmake", "--preset", "release", "--log-level=WARNING"], cwd=ROOT, check=True)
    entries = json.loads(DATABASE.read_text())
    for entry in entries:
        entry["arguments"] = arguments_of(entry.pop("command"))
    OWN_DATABASE.parent.mkdir(parents=True, exist_ok=True)
    OWN_DATABASE.write_text(json.dumps(entries))
    return {entry["file"]: entry["arguments"] for entry in entries}


def tidy(file: pathlib.Path, arguments: list[str], rules: bytes) -> str:
    """What clang-tidy has against the file, or nothing."""
    # With comments, as they may hold NOLINT, and without the place of this clone.
    text = subprocess.run([*arguments, "-E", "-P", "-C", f"-fmacro-prefix-map={ROOT}="],
                          cwd=ROOT / "build/release", capture_output=True)
    passed = CACHE / hashlib.sha256(rules + text.stdout).hexdigest()
    if text.returncode == 0 and passed.exists():
        return ""
    done = subprocess.run(["clang-tidy-14", "--quiet", "-p", OWN_DATABASE.parent, file],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return done.stdout
    passed.touch()
    return ""


def main() -> int:
    commands = write_own_database()
    names = sys.argv[1:] or output_of("git", "ls-files", "--cached", "--others", "--exclude-standard",
                                      *WHAT_USERS_RUN).split()
    files = [file for name in names if str(file := ROOT / name) in commands]
    rules = (ROOT / ".clang-tidy").read_bytes() + output_of("clang-tidy-14", "--version").encode()
    CACHE.mkdir(parents=True, exist_ok=True)
    jobs = int(os.environ.get("JOBS") or output_of("scripts/parallelism.sh"))
    failed = False
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for complaint in pool.map(lambda file: tidy(file, commands[str(file)], rules), files):
            sys.stdout.write(complaint)
            failed = failed or bool(complaint)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
