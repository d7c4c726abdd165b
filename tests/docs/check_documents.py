#!/usr/bin/env python3
"""Runs what the documents print: each document in an empty folder of its own, its blocks in order.

    check_documents.py README.md docs/STATE.md …     # exits with 1 and says what differs
    check_documents.py --update README.md            # writes today's outputs into the documents

A fenced block is run by its language:

    console   commands after "$ ", each followed by exactly what it prints
    sh        commands whose output is not shown
    python    code; all blocks of a document share their names
    cpp       code, compiled
    others    not run (text, csv, json, sql, …)

Before a block may stand "<!-- file: NAME -->" (the block is written to that file) or "<!-- not run: WHY -->". Times are not
compared, and neither is the number of blanks between columns; a line "…" stands for any lines. A command that is meant to
fail ends in "# exit code N". Links must lead somewhere, and options in inline code must exist.
"""
import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOWN_LANGUAGES = {"text", "csv", "json", "sql", "html", "markdown", "cmake", "yaml", "toml", "r"}
# Options of other programs that the documents mention.
OTHER_OPTIONS = {"--install", "--component", "--prefix", "--config-settings", "--no-index", "--preset", "--build",
                 "--output-on-failure", "--nproc"}
WITHOUT_PAGE = "built without the report's page"


@dataclass
class Block:
    language: str
    lines: list
    at: int  # index of the opening fence
    note: str = ""  # the comment before it


@dataclass
class Document:
    path: Path
    lines: list
    blocks: list = field(default_factory=list)
    prose: list = field(default_factory=list)  # (line number, text)


def parse(path):
    document = Document(path, path.read_text(encoding="utf-8").split("\n"))
    block = None
    last_text = ""
    for number, line in enumerate(document.lines):
        if block is not None:
            if line.strip() == "```":
                document.blocks.append(block)
                block = None
            else:
                block.lines.append(line)
        elif line.startswith("```"):
            note = re.fullmatch(r"<!-- ((?:file|not run): .+) -->", last_text.strip())
            block = Block(line[3:].strip(), [], number, note.group(1) if note else "")
        else:
            document.prose.append((number + 1, line))
        if line.strip():
            last_text = line
    return document


def comparable(text):
    """Lines without times, without the width of columns, without blank lines at the ends."""
    text = re.sub(r"(?:< )?(?<![\w.])\d[\d.,]*\s?(?:ns|µs|us|ms|s|min)\b", "<time>", text)
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def agrees(expected, printed):
    """Whether the lines are the same, where "…" stands for any number of lines."""
    if "…" not in expected:
        return expected == printed
    cut = expected.index("…")
    head, tail = expected[:cut], expected[cut + 1:]
    if printed[:cut] != head:
        return False
    return any(agrees(tail, printed[start:]) for start in range(cut, len(printed) + 1))


class Python:
    """One interpreter that keeps its names from block to block."""
    DRIVER = """
import json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "the document", "exec"), names)
        sys.stdout.flush()
        print("\\n@done", flush=True)
    except BaseException:
        sys.stdout.flush()
        print("\\n@failed " + json.dumps(traceback.format_exc()), flush=True)
"""

    def __init__(self, folder, environment):
        self.child = subprocess.Popen([sys.executable, "-c", self.DRIVER], cwd=folder, env=environment, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, code):
        self.child.stdin.write(json.dumps(code) + "\n")
        self.child.stdin.flush()
        for line in self.child.stdout:
            if line == "@done\n":
                return ""
            if line.startswith("@failed "):
                return json.loads(line[len("@failed "):])
        return "the interpreter ended"

    def close(self):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.wait()


class Checker:
    def __init__(self, program, update=False):
        self.program = Path(program).resolve()
        self.update = update
        self.problems = []
        self.not_run = []
        self.environment = {**os.environ, "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
        self.helps = {}

    def complain(self, document, line, what):
        self.problems.append(f"{document.path}:{line}: {what}")

    # -- running -------------------------------------------------------------------------------------------------

    def check(self, path):
        document = parse(Path(path))
        with tempfile.TemporaryDirectory(prefix="wisecrowd-docs-") as folder:
            python = None
            for block in document.blocks:
                kind, _, value = block.note.partition(": ")
                if kind == "not run":
                    self.not_run.append(f"{document.path}:{block.at + 1}: {value}")
                elif kind == "file":
                    target = Path(folder, value)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text("\n".join(block.lines) + "\n", encoding="utf-8")
                elif block.language == "console":
                    self.run_console(document, block, folder)
                elif block.language == "sh":
                    self.run_script(document, block, folder)
                elif block.language == "python" and os.environ.get("WISECROWD_NO_PYTHON"):
                    self.not_run.append(f"{document.path}:{block.at + 1}: {os.environ['WISECROWD_NO_PYTHON']}")
                elif block.language == "python":
                    python = python or Python(folder, self.environment)
                    failure = python.run("\n".join(block.lines))
                    if failure:
                        self.complain(document, block.at + 1, "this Python fails\n" + failure)
                elif block.language == "cpp":
                    self.compile(document, block, folder)
                elif block.language not in SHOWN_LANGUAGES:
                    self.complain(document, block.at + 1, f"a block of unknown language '{block.language}'")
                elif any(re.match(r"\s*(\$ |wisecrowd |\./run|\./test)", line) for line in block.lines):
                    self.complain(document, block.at + 1, f"commands in a block of language '{block.language}': use console or sh")
            if python:
                python.close()
        self.check_prose(document)
        if self.update:
            document.path.write_text("\n".join(document.lines), encoding="utf-8")

    def shell(self, command, folder):
        return subprocess.run(["bash", "-c", "set -eo pipefail\n" + command], cwd=folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)

    def run_script(self, document, block, folder):
        done = self.shell("\n".join(block.lines), folder)
        if WITHOUT_PAGE in done.stdout:
            self.not_run.append(f"{document.path}:{block.at + 1}: the program was {WITHOUT_PAGE}")
        elif done.returncode != 0:
            self.complain(document, block.at + 1, f"exit code {done.returncode}\n{done.stdout}")

    def run_console(self, document, block, folder):
        renewed = []
        number = 0
        while number < len(block.lines):
            start = number
            if not block.lines[number].startswith("$ "):
                self.complain(document, block.at + 2 + number, "a console block begins with '$ '")
                return
            while block.lines[number].endswith("\\") and number + 1 < len(block.lines):
                number += 1
            number += 1
            command = "\n".join(block.lines[start:number])[2:]
            output = number
            while number < len(block.lines) and not block.lines[number].startswith("$ "):
                number += 1
            expected = block.lines[output:number]
            printed = self.run_command(document, block.at + 2 + start, command, folder, expected)
            renewed += block.lines[start:output] + (expected if printed is None else printed)
        if self.update and renewed != block.lines:
            at = document.lines.index("\n".join(block.lines[:1]), block.at) if block.lines else block.at + 1
            document.lines[at:at + len(block.lines)] = renewed
            moved = len(renewed) - len(block.lines)
            for later in document.blocks:
                if later.at > block.at:
                    later.at += moved

    def run_command(self, document, line, command, folder, expected):
        """The lines to put in place of the expected ones when updating, None when they hold or cannot be renewed."""
        wanted = re.search(r"# exit code (\d+)", command)
        done = self.shell(command, folder)
        if done.returncode != (int(wanted.group(1)) if wanted else 0):
            self.complain(document, line, f"exit code {done.returncode}: {command}\n{done.stdout}")
            return None
        asked, given = comparable("\n".join(expected)), comparable(done.stdout)
        if agrees(asked, given):
            return None
        if self.update and "…" not in asked:
            blank = [""] if expected and not expected[-1].strip() else []
            return [text.rstrip() for text in done.stdout.rstrip("\n").split("\n")] + blank
        difference = "\n".join(difflib.unified_diff(asked, given, "the document", "the program", lineterm=""))
        self.complain(document, line, f"prints something else: {command}\n{difference}")
        return None

    def compile(self, document, block, folder):
        includes = [text for text in block.lines if text.startswith("#include")]
        body = [text for text in block.lines if not text.startswith("#include")]
        source = Path(folder, "block.cpp")
        source.write_text("\n".join([*includes, "int main() {", *body, "}", ""]), encoding="utf-8")
        paths = [f"-I{ROOT}/include", *(f"-I{path}" for path in os.environ.get("WISECROWD_INCLUDE", "").split(os.pathsep) if path)]
        done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", *paths, str(source)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            self.complain(document, block.at + 1, f"this C++ does not compile\n{done.stdout}")

    # -- prose ---------------------------------------------------------------------------------------------------

    def help_of(self, *command):
        if command not in self.helps:
            done = subprocess.run([str(self.program), *command, "--help"], text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.helps[command] = done.stdout if done.returncode == 0 else ""
        return self.helps[command]

    def commands(self):
        return re.findall(r"(?m)^  ([a-z-]+) ", self.help_of())

    def check_prose(self, document):
        after_blank = True
        for number, line in document.prose:
            if after_blank and re.match(r"    (\$ |wisecrowd |\./)", line):
                self.complain(document, number, "an indented command is not run: put it into a fenced block")
            after_blank = not line.strip()
            self.check_links(document, number, line)
            for code in re.findall(r"`([^`]+)`", line):
                self.check_inline(document, number, code)

    def check_inline(self, document, number, code):
        options = re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", code)
        words = code.split()
        if words[0] == "wisecrowd" and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]+", words[1]):
            if words[1] not in self.commands() and words[1] != "help":
                self.complain(document, number, f"there is no command '{words[1]}': {code}")
                return
            text = self.help_of(words[1])
            if len(words) > 2 and re.fullmatch(r"[a-z]+", words[2]):
                text += self.help_of(words[1], words[2])
        elif code.startswith("--"):
            text = "".join(self.help_of(command) for command in ["", *self.commands()] if command)
        else:
            return
        for option in options:
            if option not in OTHER_OPTIONS and not re.search(rf"{option}(?![\w-])", text):
                self.complain(document, number, f"no such option '{option}': {code}")

    def check_links(self, document, number, line):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (document.path.parent / path).resolve() if path else document.path.resolve()
            if not file.exists():
                self.complain(document, number, f"a link leads nowhere: {target}")
            elif anchor and anchor not in anchors(file):
                self.complain(document, number, f"no such heading: {target}")


def anchors(file):
    """The names that Markdown viewers give to headings."""
    result = set()
    for line in file.read_text(encoding="utf-8").split("\n"):
        if re.match(r"#+ ", line):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("# ").strip().lower())
            result.add(words.replace(" ", "-"))
    return result


def main():
    parser = argparse.ArgumentParser(description="Runs what the documents print.")
    parser.add_argument("--update", action="store_true", help="write today's outputs into the documents")
    parser.add_argument("documents", nargs="+")
    arguments = parser.parse_args()
    program = os.environ.get("WISECROWD_PROGRAM") or str(ROOT / "build/release/wisecrowd")
    checker = Checker(program, arguments.update)
    for document in arguments.documents:
        checker.check(document)
    for entry in checker.not_run:
        print(f"not run: {entry}")
    for problem in checker.problems:
        print(problem)
    print(f"{len(arguments.documents)} documents, {len(checker.problems)} problems")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
