"""Reads CONTRIBUTING.md as a list of steps, so that tests can do what it says.

A comment before a fenced block says what the block is:

    <!-- file: PATH -->              it is the whole file PATH
    <!-- add to PATH -->             it is added at the end of PATH
    <!-- add to PATH after TEXT -->  it is put behind TEXT, which PATH has once
    <!-- run -->                     commands, one after the other
"""
import re
from dataclasses import dataclass

MARKED = re.compile(r"<!-- (file: |add to |run)(.*?) -->\n```(\w*)\n(.*?)```", re.DOTALL)
PATH = re.compile(r"`((?:apps|bench|docs|include|python|scripts|src|tests)/[\w./-]+)`")


@dataclass
class Step:
    kind: str  # file, add or run
    path: str
    after: str
    body: str

    def __str__(self):
        return {"file": f"the file {self.path}", "add": f"what is added to {self.path}", "run": self.body}[self.kind]


def steps_of(text):
    """The steps in order; commands one by one, with continued lines joined."""
    steps = []
    for kind, rest, _, body in MARKED.findall(text):
        if kind == "run":
            steps += [Step("run", "", "", line.strip()) for line in body.replace("\\\n", " ").splitlines() if line.strip()]
        else:
            path, _, after = rest.partition(" after ")
            steps.append(Step("file" if kind == "file: " else "add", path, after, body))
    return steps


def named_paths(text):
    """Files and folders that the page speaks of, but for those that it makes."""
    made = [step.path for step in steps_of(text) if step.kind == "file"]
    return [path for path in PATH.findall(text) if not any(name.startswith(path) for name in made) or path.count("/") < 3]
