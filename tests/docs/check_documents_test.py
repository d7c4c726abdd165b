"""The checker of documents notices what it should."""
import os
import tempfile
import unittest
from pathlib import Path

from check_documents import Checker, agrees, comparable

PROGRAM = os.environ["WISECROWD_PROGRAM"]


class CheckDocuments(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.md")
            path.write_text(text, encoding="utf-8")
            checker = Checker(PROGRAM)
            checker.check(path)
            return checker.problems

    def test_a_true_page_passes(self):
        self.assertEqual(self.problems(
            "# Page\n\nSee [itself](page.md#page), `--method` and `wisecrowd aggregate --out DIR`.\n\n"
            "<!-- file: in.csv -->\n```csv\na,b\n```\n\n```console\n$ cat in.csv\na,b\n$ false # exit code 1\n```\n\n"
            "```python\nx = 1\n```\n\n```python\nassert x == 1\n```\n"), [])

    def test_offences_are_seen(self):
        for name, text in {
            "another output": "```console\n$ echo one\ntwo\n```\n",
            "silence expected": "```console\n$ echo one\n$ true\n```\n",
            "failing command": "```console\n$ false\n```\n",
            "failing script": "```sh\nfalse\ntrue\n```\n",
            "failing Python": "```python\n1 / 0\n```\n",
            "wrong C++": "```cpp\nint x = ;\n```\n",
            "indented command": "text\n\n    wisecrowd --version\n",
            "command as text": "```text\n$ wisecrowd --version\n```\n",
            "unknown language": "```shel\nls\n```\n",
            "dead link": "[here](nowhere.md)\n",
            "dead anchor": "# One\n\n[here](#two)\n",
            "unknown command": "`wisecrowd agregate X`\n",
            "unknown option": "`wisecrowd aggregate --methodd X`\n",
            "unknown option alone": "`--no-such-option`\n",
        }.items():
            with self.subTest(name):
                self.assertEqual(len(self.problems(text)), 1)

    def test_times_and_widths_do_not_count(self):
        self.assertEqual(comparable("took   51 ms\n"), comparable("took 1.2 s"))
        self.assertNotEqual(comparable("51 tasks"), comparable("52 tasks"))

    def test_left_out_lines(self):
        self.assertTrue(agrees(["a", "…", "d"], ["a", "b", "c", "d"]))
        self.assertFalse(agrees(["a", "…", "d"], ["a", "b", "c"]))
        self.assertFalse(agrees(["a", "…", "d"], ["b", "d"]))


if __name__ == "__main__":
    unittest.main()
