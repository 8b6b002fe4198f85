#!/usr/bin/env python3
"""House rules that no compiler checks, over every file of the repository.

A rule is a function from the files to findings; RULES lists them. What each protects is said
where it is defined.
"""

import os
import re
from typing import Iterable

from source_tree import ROOT, SOURCE_SUFFIXES, Finding, SourceFile, code_only, read_tree, report

Findings = Iterable[Finding]

MAX_LINES = 1000

# The engine lives in other people's processes: only these may speak to the terminal.
MAY_PRINT = ("src/leat/cli/", "src/leat/base/check.cc", "src/leat/base/log.cc",
             "src/leat/base/progress.cc")
PRINTS = re.compile(r"\bstd::(?:cout|cerr|clog)\b|\bfmt::print\s*\("
                    r"|(?<![\w.>])(?:std::)?(?:[fdv]|vf|vd)?printf\s*\("
                    r"|(?<![\w.>])(?:std::)?(?:f?puts|perror|putchar)\s*\(")
IOSTREAM = re.compile(r"\s*#\s*include\s+<iostream>")

# A path of one developer's machine works on no other.
MACHINE_PATH = re.compile(r"(?<![\w.)}])/(?:work|root|farm)/")

SOURCE_NAME = re.compile(r"[\w./+-]+\.cc\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])', re.MULTILINE)
MARKDOWN_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def sources(files: list[SourceFile]) -> list[SourceFile]:
    return [file for file in files if file.suffix() in SOURCE_SUFFIXES]


def matching_lines(file: SourceFile, text: str, pattern: re.Pattern, message: str) -> Findings:
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern.search(line):
            yield Finding(file.path, number, message)


def only_doors_print(files: list[SourceFile]) -> Findings:
    for file in sources(files):
        if not file.path.startswith("src/leat/") or file.path.startswith(MAY_PRINT):
            continue
        yield from matching_lines(file, file.text, IOSTREAM, "nothing below cli uses <iostream>")
        if not file.path.endswith("_test.cc"):
            yield from matching_lines(file, code_only(file.text), PRINTS,
                                      "nothing below cli prints: return an Error, or log")


def files_fit_in_a_head(files: list[SourceFile]) -> Findings:
    for file in files:
        lines = file.text.count("\n")
        if lines > MAX_LINES and file.suffix() in SOURCE_SUFFIXES + (".py", ".sh", ".md", ".cmake"):
            yield Finding(file.path, MAX_LINES, f"{lines} lines; split files over {MAX_LINES}")


def no_machine_paths(files: list[SourceFile]) -> Findings:
    for file in files:
        yield from matching_lines(file, file.text, MACHINE_PATH,
                                  "a path that exists on one machine only")


def headers_introduce_themselves(files: list[SourceFile]) -> Findings:
    for file in files:
        if file.suffix() != ".h":
            continue
        if not file.text.startswith("//"):
            yield Finding(file.path, 1, "a header opens with a comment: what, why, invariants")
        if not re.search(r"^#pragma once$", file.text, re.MULTILINE):
            yield Finding(file.path, 1, "no #pragma once")


def include_name(header: str) -> str:
    """How a header is included: from src/ by its path, elsewhere by its name alone."""
    return header.removeprefix("src/") if header.startswith("src/") else os.path.basename(header)


def own_header_comes_first(files: list[SourceFile]) -> Findings:
    """So the ordinary build shows that the header needs no other before it."""
    paths = {file.path for file in files}
    for file in sources(files):
        header = file.path.removesuffix(".cc") + ".h"
        if header not in paths or file.suffix() != ".cc":
            continue
        first = INCLUDE.search(file.text)
        own = include_name(header)
        if first is None or first[1] != f'"{own}"':
            line = file.text.count("\n", 0, first.start(1)) + 1 if first else 1
            yield Finding(file.path, line, f"the first include is {own}")


def no_orphans(files: list[SourceFile]) -> Findings:
    """Every .cc is built by a CMakeLists.txt of its folder or above; every .h is included."""
    built, included = set(), set()
    for file in files:
        if os.path.basename(file.path) == "CMakeLists.txt":
            built |= {os.path.normpath(os.path.join(os.path.dirname(file.path), name))
                      for name in SOURCE_NAME.findall(file.text)}
        if file.suffix() in SOURCE_SUFFIXES:
            included |= {include.strip('"<>') for include in INCLUDE.findall(file.text)}
    for file in sources(files):
        if file.suffix() == ".cc" and file.path not in built:
            yield Finding(file.path, 1, "no CMakeLists.txt builds it")
        if file.suffix() == ".h" and include_name(file.path) not in included:
            yield Finding(file.path, 1, "nobody includes it")


def links_lead_somewhere(files: list[SourceFile]) -> Findings:
    for file in files:
        if file.suffix() != ".md":
            continue
        for number, line in file.lines():
            for target in MARKDOWN_LINK.findall(line):
                path = os.path.join(ROOT, os.path.dirname(file.path), target)
                if "://" not in target and not target.startswith("mailto:") \
                        and not os.path.exists(path):
                    yield Finding(file.path, number, f"a link to {target}, which does not exist")


RULES = (only_doors_print, files_fit_in_a_head, no_machine_paths, headers_introduce_themselves,
         own_header_comes_first, no_orphans, links_lead_somewhere)


def main() -> None:
    files = read_tree()
    report(finding for rule in RULES for finding in rule(files))


if __name__ == "__main__":
    main()
