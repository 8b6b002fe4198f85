#!/usr/bin/env python3
"""headers_test.py COMPILER [FLAG…]: every header of src/leat compiles alone."""

import concurrent.futures
import os
import subprocess
import sys

from source_tree import ROOT, Finding, SourceFile, read_tree, report


def compile_alone(compiler: list[str], file: SourceFile) -> list[Finding]:
    command = compiler + ["-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}", "-x", "c++", "-"]
    result = subprocess.run(command, input=f'#include "{file.path.removeprefix("src/")}"\n',
                            capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return []
    return [Finding(file.path, 1, f"does not compile alone:\n{result.stderr}")]


def main() -> None:
    compiler = sys.argv[1:]
    if not compiler:
        sys.exit(f"usage: {os.path.basename(__file__)} COMPILER [FLAG…]")
    headers = [file for file in read_tree()
               if file.path.startswith("src/leat/") and file.suffix() == ".h"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda header: compile_alone(compiler, header), headers)
        report(finding for findings in results for finding in findings)


if __name__ == "__main__":
    main()
