"""What the tests of the repository itself share: its files, and how a finding is told."""

import pathlib
import re
import subprocess
import sys
from typing import Iterable, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE_SUFFIXES = (".h", ".cc")


class Finding(NamedTuple):
    path: str
    line: int
    message: str


class SourceFile(NamedTuple):
    """A file of the repository; `path` is relative to its root, with '/' between components."""

    path: str
    text: str

    def lines(self) -> Iterable[tuple[int, str]]:
        return enumerate(self.text.splitlines(), start=1)

    def suffix(self) -> str:
        return pathlib.PurePosixPath(self.path).suffix


def _paths() -> list[str]:
    """Tracked files, and new ones that git does not ignore; all files where git cannot tell."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        return sorted(set(listing.stdout.split("\0")) - {""})
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")
                  if path.is_file() and path.relative_to(ROOT).parts[0] not in ("build", ".git"))


def read_tree() -> list[SourceFile]:
    """The text files of the repository. What is not UTF-8, such as a fuzzer's seed, is left out."""
    files = []
    for path in _paths():
        try:
            files.append(SourceFile(path, (ROOT / path).read_text(encoding="utf-8")))
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
    return files


_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | '(?:\\.|[^'\\\n])'
    """, re.VERBOSE | re.DOTALL)


def code_only(text: str) -> str:
    """`text` without C++ comments and literals; every line keeps its number."""
    return _COMMENT_OR_LITERAL.sub(lambda match: "\n" * match.group().count("\n"), text)


def report(findings: Iterable[Finding]) -> None:
    """Prints the findings and ends the program: 1 if there are any."""
    findings = sorted(findings)
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.message}")
    if findings:
        print(f"{len(findings)} findings")
    sys.exit(1 if findings else 0)
