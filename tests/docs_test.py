#!/usr/bin/env python3
"""docs_test.py BIN_DIRECTORY [DOCUMENT…]: the commands in the documents work as written.

Every fenced block that is marked `sh` in README.md and docs/*.md is run. The blocks of one
document run in order in one `bash -euo pipefail`, in a fresh directory that is also HOME, with
BIN_DIRECTORY first in PATH, and what Debian installed next. A block marked `sh notest` is not run: it installs, never ends, or
needs another machine. Sample output belongs in a `console` or unmarked block.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIME_LIMIT_S = 300
FENCE = re.compile(r"(?P<indent>\s*)(?P<ticks>`{3,})(?P<info>[^`]*)$")
# Names for the same thing, under which a block would escape the test.
ALIASES = ("bash", "shell", "zsh")


class DocumentError(Exception):
    """A document that cannot be tested as it is."""


class Block(NamedTuple):
    line: int  # of the first command
    text: str


def extract_blocks(text: str) -> list[Block]:
    """The blocks to run, in order. Raises DocumentError with the line of what is wrong."""
    blocks = []
    opening = None
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.match(line)
        if opening is None:
            if fence:
                opening, start, body = fence, number, []
            continue
        closes = fence and not fence["info"].strip() and len(fence["ticks"]) >= len(opening["ticks"])
        if not closes:
            body.append(line.removeprefix(opening["indent"]))
            continue
        info = opening["info"].split()
        if info and info[0] in ALIASES:
            raise DocumentError(f"{start}: mark the block `sh` or `sh notest`, not `{info[0]}`")
        if info == ["sh"]:
            blocks.append(Block(start + 1, "\n".join(body) + "\n"))
        elif info[:1] == ["sh"] and info != ["sh", "notest"]:
            raise DocumentError(f"{start}: a block is `sh` or `sh notest`, not `{' '.join(info)}`")
        opening = None
    if opening is not None:
        raise DocumentError(f"{start}: the block is not closed")
    return blocks


def run_blocks(blocks: list[Block], bin_directory: str) -> tuple[int, str] | None:
    """None if all succeed; otherwise the line of the block that failed, and what it printed."""
    mark = "@@docs_test@@ "
    script = "".join(f"echo '{mark}{block.line}'\n{block.text}" for block in blocks)
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryFile("w+") as output:
        # Settings of S3 clients would come from HOME or from here.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("AWS_", "RCLONE_", "XDG_"))}
        environment |= {"HOME": directory, "PATH": os.pathsep.join(
            [bin_directory, "/usr/bin", os.environ["PATH"]])}
        # The output goes to a file, not a pipe, so that a server left running cannot hold it open;
        # the session of its own is for ending such a server.
        shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=directory,
                                 env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = shell.wait(TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # nothing was left running
        shell.wait()
        output.seek(0)
        printed = output.read()
    if status == 0:
        return None
    line, _, rest = printed.rpartition(mark)[2].partition("\n")
    reason = f"took over {TIME_LIMIT_S} s" if status is None else f"exit status {status}"
    return int(line), f"{rest}{reason}"


def check_document(path: pathlib.Path, bin_directory: str) -> str | None:
    """None, or what is wrong as "document:line: …"."""
    name = os.path.relpath(path, ROOT)
    try:
        blocks = extract_blocks(path.read_text(encoding="utf-8"))
    except DocumentError as error:
        return f"{name}:{error}"
    failure = run_blocks(blocks, bin_directory) if blocks else None
    if failure is None:
        return None
    return f"{name}:{failure[0]}: the block failed\n{failure[1]}"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(f"usage: {os.path.basename(__file__)} BIN_DIRECTORY [DOCUMENT…]")
    bin_directory = os.path.abspath(sys.argv[1])
    documents = [pathlib.Path(argument) for argument in sys.argv[2:]]
    if not documents:
        documents = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
                     if path.exists()]
    problems = [check_document(document, bin_directory) for document in documents]
    for problem in problems:
        if problem:
            print(problem)
    sys.exit(1 if any(problems) else 0)


if __name__ == "__main__":
    main()
