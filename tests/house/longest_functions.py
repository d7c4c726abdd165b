#!/usr/bin/env python3
"""Prints the longest functions of a source tree: lines, file, line, name.

    longest_functions.py ROOT [--most N] [--check]

A function is counted from the first line of its declaration to its closing brace, tests like everything else. A lambda is
part of the function that it stands in. Macros are not looked into. With --check only offences are printed, and the exit code
is 1 if a function has MOST_LINES lines or more.
"""
import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

from check_house import without_comments_and_strings

MOST_LINES = 80  # a function stays under it
FOLDERS = ("src", "apps", "include", "python/bindings")
SUFFIXES = {".cpp", ".hpp", ".h", ".inc"}

CONTROL = re.compile(r"(if|for|while|switch|do|else|try|catch|return|case|default)\b")
SCOPE = re.compile(r"((inline|typedef|static)\s+)*(namespace|class|struct|union|enum|extern)\b")
TEMPLATE = re.compile(r"(template\s*<.*?>\s*(requires\b[^;{]*?\s)?)+(?=\w)", re.DOTALL)
SIGNATURE_ENDS = re.compile(r"\)\s*(const|noexcept|override|final|->.*)*\s*$", re.DOTALL)
ATTRIBUTES = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", re.DOTALL)


class Function(NamedTuple):
    lines: int
    file: str
    line: int
    name: str


def without_preprocessor(code):
    """Directives and what continues them become empty lines: a macro may hold half a brace."""
    kept, continues = [], False
    for line in code.split("\n"):
        directive = continues or line.lstrip().startswith("#")
        continues = directive and line.endswith("\\")
        kept.append("" if directive else line)
    return "\n".join(kept)


def is_function(head):
    """Whether these words before a brace, outside of any function, begin one."""
    head = TEMPLATE.sub("", ATTRIBUTES.sub(" ", head).strip())
    if "(" not in head or CONTROL.match(head) or head.endswith(("=", ",")):
        return False
    return not SCOPE.match(head) or SIGNATURE_ENDS.search(head) is not None


def initialises(head):
    """Whether a brace after these words is a member's value in a constructor's list: "X(int a) : a_" and then "{a}"."""
    match = re.search(r"\)\s*(noexcept\s*)?:(?!:)(.*)$", head, re.DOTALL)
    return match is not None and re.search(r"[\w>]\s*$", match[2]) is not None


def name_of(head):
    """The word before the first parenthesis that stands outside of angle brackets."""
    head, depth = ATTRIBUTES.sub(" ", head), 0
    for place, letter in enumerate(head):
        before = head[:place].rstrip()
        if letter == "<" and not before.endswith("operator"):
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif letter == "(" and depth == 0:
            if before.endswith("operator"):
                return before.split()[-1] + "()"
            match = re.search(r"([~\w:]+(<[^()]*>)?(::[~\w]+)*|[\w:]*operator\s*\S+)$", before)
            if match and match[0] not in ("requires", "noexcept", "decltype", "explicit"):
                return match[0]
    return head.partition("(")[0].split()[-1]


def functions_of(text, file):
    """The functions of one file, as a reader that matches braces sees them."""
    code = without_preprocessor(without_comments_and_strings(text))
    scopes = []  # what is open: (is it a function, is it a value, its head, its first line)
    inside = False  # of a function
    head, head_line = "", 1  # the words since the last statement or scope, outside of functions
    line, parentheses = 1, 0
    for letter in code:
        line += letter == "\n"
        if letter == "{":
            is_value = not inside and (parentheses > 0 or initialises(head))
            starts = not inside and not is_value and is_function(head)
            scopes.append((starts, is_value, head, head_line))
            inside = inside or starts
        elif letter == "}" and scopes:
            ends, is_value, its_head, its_line = scopes.pop()
            if ends:
                inside = False
                yield Function(line - its_line + 1, file, its_line, name_of(its_head))
        else:
            is_value = True
        if inside:
            continue
        parentheses += (letter in "([") - (letter in ")]")
        if letter in "{};" and parentheses == 0 and not (letter != ";" and is_value):
            head = ""
        elif head or letter not in ' \n\t"':  # '""' is what became of a comment
            head, head_line = head + letter, head_line if head else line


def functions_in(root):
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                found.extend(functions_of(path.read_text(encoding="utf-8"), str(path.relative_to(root))))
    return sorted(found, key=lambda function: (-function.lines, function.file, function.line))


def main(arguments):
    parser = argparse.ArgumentParser(description="the longest functions of a source tree")
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parents[2])
    parser.add_argument("--most", type=int, default=20, help="how many are listed")
    parser.add_argument("--check", action="store_true", help=f"fail if one has {MOST_LINES} lines or more")
    options = parser.parse_args(arguments)
    found = functions_in(options.root.resolve())
    if not found:
        print(f"no function under {options.root}: is it a source tree?", file=sys.stderr)
        return 64
    if options.check:
        long = [function for function in found if function.lines >= MOST_LINES]
        for function in long:
            print(f"{function.file}:{function.line}: {function.name} has {function.lines} lines; split it by idea (under {MOST_LINES})")
        if not long:
            print(f"{len(found)} functions, the longest of {found[0].lines} lines")
        return 1 if long else 0
    for function in found[: options.most]:
        print(f"{function.lines:5}  {function.file}:{function.line}  {function.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
