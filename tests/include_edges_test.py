#!/usr/bin/env python3
"""Dependencies point down only: which folder of src/leat may include which.

A folder is `base`, `store`, …; below `drivers` and `doors` each folder stands for itself, and the
files right in `drivers` (drivers/all.h, which knows every driver) are the folder `drivers`.
"""

import re
from typing import Iterable

from source_tree import SOURCE_SUFFIXES, Finding, SourceFile, read_tree, report

# folder -> the folders below it that it may include. "drivers/*" is every single driver.
ALLOWED = {
    "base": [],
    "http": ["base"],
    "store": ["base"],
    "wire": ["base", "http", "store"],
    "shard": ["base", "store"],
    "local": ["base", "store", "shard"],
    "drivers/*": ["base", "http", "store", "wire"],
    "drivers": ["base", "http", "store", "wire", "shard", "local", "drivers/*"],
    "tier": ["base", "store", "shard"],
    "dataset": ["base", "store", "shard", "tier"],
    "cluster": ["base", "store", "shard", "local", "tier"],
    "measure": ["base", "store", "shard", "local", "tier", "dataset", "drivers"],
    "doors/*": ["base", "http", "store", "wire", "shard", "local", "tier", "dataset", "cluster",
                "drivers"],
    "cli": ["base", "http", "store", "wire", "shard", "local", "drivers", "drivers/*", "tier", "dataset",
            "cluster", "measure", "doors/*"],
}

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def folder_of(path: str) -> str:
    """The folder of a path below src/leat: "drivers/posix/posix_store.h" -> "drivers/posix"."""
    parts = path.split("/")
    split = parts[0] in ("drivers", "doors") and len(parts) > 2
    return "/".join(parts[:2]) if split else parts[0]


def row_of(folder: str) -> str:
    return f"{folder.split('/')[0]}/*" if "/" in folder else folder


def may_include(folder: str, target: str) -> bool:
    return folder == target or row_of(target) in ALLOWED[row_of(folder)]


def check(file: SourceFile) -> Iterable[Finding]:
    folder = folder_of(file.path.removeprefix("src/leat/"))
    if row_of(folder) not in ALLOWED:
        yield Finding(file.path, 1, f"folder {folder} has no row in tests/include_edges_test.py")
        return
    for number, line in file.lines():
        include = INCLUDE.match(line)
        if not include:
            continue
        if not include[1].startswith("leat/"):
            yield Finding(file.path, number, 'our headers are included as "leat/…", others as <…>')
            continue
        target = folder_of(include[1].removeprefix("leat/"))
        if not may_include(folder, target):
            yield Finding(file.path, number, f"{folder} may not include {target} ({include[1]})")


def main() -> None:
    report(finding for file in read_tree()
           if file.path.startswith("src/leat/") and file.suffix() in SOURCE_SUFFIXES
           for finding in check(file))


if __name__ == "__main__":
    main()
