#!/usr/bin/env python3
"""Prints which folder includes which, and how often.

    include_graph.py ROOT [--check]

Folders of src/ are the nodes; a public header counts for the layer that it belongs to (PUBLIC_LAYER of check_house.py), and
unit tests are left out, because they may play the app. With --check only offences are printed, and the exit code is 1 if a
folder includes one that it may not, or if folders include one another in a circle.
"""
import argparse
import sys
from collections import Counter
from pathlib import Path

from check_house import INCLUDE, MAY_INCLUDE, PUBLIC_LAYER, may_include

SUFFIXES = {".cpp", ".hpp", ".h", ".inc"}
COMPOSERS = ("apps", "python")  # see public headers of every layer


def files_of(root):
    """(node, file): headers of the public API belong to their layer, files of src/ to their folder."""
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in SUFFIXES and not path.name.endswith("_test.cpp"):
            yield path.relative_to(root / "src").parts[0], path
    for path in sorted((root / "include" / "wisecrowd").glob("*.hpp")):
        yield PUBLIC_LAYER.get(path.name, path.name), path
    for folder in COMPOSERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield folder, path


def node_of(name):
    """Where an included file belongs; None for headers of an app and of libraries."""
    folder, _, rest = name.partition("/")
    if folder == "wisecrowd":
        return PUBLIC_LAYER.get(rest, rest)
    return folder if folder in MAY_INCLUDE else None


def graph_of(root):
    """How many includes lead from one node to another."""
    edges = Counter()
    for node, path in files_of(root):
        for line in path.read_text(encoding="utf-8").splitlines():
            match = INCLUDE.match(line)
            other = node_of(match[2]) if match and match[1] == '"' else None
            if other is not None and other != node:
                edges[node, other] += 1
    return edges


def circle_in(edges):
    """Nodes that include one another in a circle, the first one again at the end; empty if there is none."""
    after = {}
    for node, other in edges:
        after.setdefault(node, []).append(other)
    done, way = set(), []

    def visit(node):
        if node in way:
            return [*way[way.index(node):], node]
        if node in done:
            return []
        way.append(node)
        for other in sorted(after.get(node, [])):
            if found := visit(other):
                return found
        done.add(way.pop())
        return []

    for node in sorted(after):
        if found := visit(node):
            return found
    return []


def offences_in(edges):
    for (node, other), count in sorted(edges.items()):
        if node not in COMPOSERS and node != "everything" and other not in may_include(node):
            yield f"{node} includes {other} ({count} times), and may not: pass a value instead"
    if circle := circle_in(edges):
        yield f"a circle: {' → '.join(circle)}"


def table_of(edges):
    nodes = sorted({node for edge in edges for node in edge}, key=lambda node: (sum(a == node for a, _ in edges), node))
    for node in nodes:
        seen = sorted(((count, other) for (from_, other), count in edges.items() if from_ == node), reverse=True)
        text = ", ".join(f"{other} {count}" for count, other in seen)
        yield f"{node:<10} → {text or 'nothing'}"


def main(arguments):
    parser = argparse.ArgumentParser(description="which folder includes which")
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parents[2])
    parser.add_argument("--check", action="store_true", help="fail if a folder includes one that it may not")
    options = parser.parse_args(arguments)
    edges = graph_of(options.root.resolve())
    if not edges:
        print(f"nothing includes anything under {options.root}: is it a source tree?", file=sys.stderr)
        return 64
    if not options.check:
        print("\n".join(table_of(edges)))
        return 0
    offences = list(offences_in(edges))
    print("\n".join(offences) if offences else f"{len(edges)} pairs of folders, no circle")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
