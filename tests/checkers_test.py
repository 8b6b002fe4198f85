#!/usr/bin/env python3
"""The checkers of the repository find what they are for, and only that."""

import pathlib
import tempfile
import unittest

import docs_test
import include_edges_test
import tidy_test
from source_tree import SourceFile, code_only


def source(path: str, text: str = "") -> SourceFile:
    return SourceFile(path, text)


class CodeOnly(unittest.TestCase):
    def test_drops_comments_and_literals_and_keeps_line_numbers(self):
        text = 'a; // b\n"c\\"d"; /* e\nf */ g; R"x(h\n)" )x"; \'"\'; i;'
        self.assertEqual(code_only(text), "a; \n; \n g; \n; ; i;")

    def test_digit_separators_are_not_literals(self):
        self.assertEqual(code_only("x = 1'000'000; y"), "x = 1'000'000; y")


class IncludeEdges(unittest.TestCase):
    def messages(self, path, text):
        return [(finding.line, finding.message)
                for finding in include_edges_test.check(source(path, text))]

    def test_down_and_sideways_within_a_folder_are_fine(self):
        self.assertEqual(self.messages(
            "src/leat/local/a.cc", '#include "leat/local/a.h"\n#include "leat/base/b.h"\n'), [])
        self.assertEqual(self.messages(
            "src/leat/drivers/all.cc", '#include "leat/drivers/posix/posix_store.h"\n'), [])

    def test_up_is_found_with_its_line(self):
        self.assertEqual(self.messages("src/leat/base/a.h", '\n#include "leat/store/b.h"\n'),
                         [(2, "base may not include store (leat/store/b.h)")])

    def test_a_driver_knows_no_other(self):
        self.assertEqual(len(self.messages(
            "src/leat/drivers/s3/a.cc", '#include "leat/drivers/http/b.h"\n')), 1)

    def test_a_folder_without_a_row_and_a_relative_include_are_found(self):
        self.assertEqual(len(self.messages("src/leat/novel/a.cc", "")), 1)
        self.assertEqual(len(self.messages("src/leat/base/a.cc", '#include "b.h"\n')), 1)

    def test_the_table_has_no_cycle(self):
        done = set()

        def visit(row, above):
            self.assertNotIn(row, above)
            if row not in done:
                for below in include_edges_test.ALLOWED[row]:
                    visit(below, above + [row])
                done.add(row)

        for row in include_edges_test.ALLOWED:
            visit(row, [])


class Tidy(unittest.TestCase):
    def lines(self, rule, *files):
        return [(finding.path, finding.line) for finding in rule(list(files))]

    def test_printing_is_found_in_the_engine_only(self):
        text = 'a();\nstd::printf("x");\nsnprintf(b, 1, "printf(");  // printf(\nputs("x");\n'
        path = "src/leat/store/a.cc"
        self.assertEqual(self.lines(tidy_test.only_doors_print, source(path, text)),
                         [(path, 2), (path, 4)])
        self.assertEqual(
            self.lines(tidy_test.only_doors_print, source("src/leat/cli/a.cc", text)), [])

    def test_long_files(self):
        self.assertEqual(len(self.lines(tidy_test.files_fit_in_a_head,
                                        source("a.cc", "\n" * 1001), source("b.cc", "\n" * 1000),
                                        source("LICENSE", "\n" * 2000))), 1)

    def test_machine_paths(self):
        machine = "/ro" + "ot/x"
        files = [source("a.md", f"see {machine}\n"), source("b.md", f"https://host{machine}\n")]
        self.assertEqual(self.lines(tidy_test.no_machine_paths, *files), [("a.md", 1)])

    def test_headers(self):
        self.assertEqual(len(self.lines(tidy_test.headers_introduce_themselves,
                                        source("a.h", "int a;\n"))), 2)
        self.assertEqual(self.lines(tidy_test.headers_introduce_themselves,
                                    source("a.h", "// A.\n#pragma once\n")), [])

    def test_own_header_first(self):
        header = source("src/leat/base/a.h")
        good = source("src/leat/base/a.cc", '\n#include "leat/base/a.h"\n#include <b>\n')
        bad = source("src/leat/base/a.cc", '\n#include <b>\n#include "leat/base/a.h"\n')
        self.assertEqual(self.lines(tidy_test.own_header_comes_first, header, good), [])
        self.assertEqual(self.lines(tidy_test.own_header_comes_first, header, bad),
                         [("src/leat/base/a.cc", 2)])

    def test_orphans(self):
        files = [source("src/leat/base/CMakeLists.txt", "leat_library(x SOURCES a.cc b/c.cc)"),
                 source("src/leat/base/a.cc", '#include "leat/base/a.h"'),
                 source("src/leat/base/a.h"), source("src/leat/base/b/c.cc"),
                 source("src/leat/base/lost.cc"), source("src/leat/base/lost.h")]
        self.assertEqual(self.lines(tidy_test.no_orphans, *files),
                         [("src/leat/base/lost.cc", 1), ("src/leat/base/lost.h", 1)])

    def test_links(self):
        text = "[a](no-such-file.md) [b](https://example.com/x) [c](#here) [d](tests/tidy_test.py)"
        self.assertEqual(self.lines(tidy_test.links_lead_somewhere, source("a.md", text)),
                         [("a.md", 1)])


class Documents(unittest.TestCase):
    def run_document(self, text):
        with tempfile.TemporaryDirectory() as directory:
            document = pathlib.Path(directory) / "a.md"
            document.write_text(text, encoding="utf-8")
            return docs_test.check_document(document, directory)

    def test_extracts_sh_blocks_only(self):
        text = ("```sh\na\n```\n```console\n$ b\n```\n```sh notest\nc\n```\n"
                "- item\n  ```sh\n  d\n    e\n  ```\n````\n```sh\nf\n```\n````\n")
        self.assertEqual(docs_test.extract_blocks(text),
                         [docs_test.Block(2, "a\n"), docs_test.Block(12, "d\n  e\n")])

    def test_refuses_what_would_escape_the_test(self):
        for text in ("```bash\na\n```\n", "```sh skip\na\n```\n", "```sh\na\n"):
            with self.assertRaises(docs_test.DocumentError):
                docs_test.extract_blocks(text)

    def test_blocks_of_a_document_share_a_shell(self):
        self.assertIsNone(self.run_document(
            '```sh\nx=1; touch a\n```\n```sh\ntest $x = 1; test -e "$HOME/a"\n```\n'))

    def test_a_failure_names_its_block_and_shows_its_output(self):
        problem = self.run_document(
            "```sh\necho first\n```\n\n```sh\necho second; false | true\n```\n")
        self.assertIn("a.md:6: the block failed\nsecond\n", problem)
        self.assertNotIn("first", problem)

    def test_a_server_left_running_does_not_hold_the_test(self):
        self.assertIsNone(self.run_document("```sh\nsleep 600 &\n```\n"))


if __name__ == "__main__":
    unittest.main()
