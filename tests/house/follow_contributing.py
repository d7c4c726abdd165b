#!/usr/bin/env python3
"""Does what CONTRIBUTING.md says, step by step, in a copy of the source tree: the files are written, the lines added, the
commands run. All must succeed. Then each step that changed the tree is undone alone, and a check must notice: a page that
forgets the step would leave newcomers with a red check.

    follow_contributing.py ROOT COPY [-DNAME=VALUE …]

COPY is kept, so that the next run compiles what changed only. Definitions go to its CMake.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from contributing import Step, steps_of  # noqa: E402

SKIPPED = 77
# What a room can turn red beside the tests that name it; the rest of the suite is long and runs elsewhere. It is run once, at
# the end: what is red after one room is red after all.
WHOLE_SUITE = r"./test -R '^(house|docs|python|cli)\.' -E 'installed|example\.|house\.setup'"
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
CHECKS = [
    [PYTHON, "-B", "tests/house/check_house.py", "."],
    ["scripts/refresh", "--check"],
]


def source_files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        return {name for name in listed.stdout.split("\0") if name and (root / name).is_file()}
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and path.relative_to(root).parts[0] != "build"}


def update(root, copy):
    """Makes `copy` the tree at `root`. Files that are the same keep their times, so that nothing is compiled for nothing."""
    wanted = source_files(root)
    for path in [path for path in copy.rglob("*") if path.relative_to(copy).parts[0] != "build"]:
        if path.is_file() and str(path.relative_to(copy)) not in wanted:
            path.unlink()
    for path in sorted(copy.rglob("*"), reverse=True):
        if path.relative_to(copy).parts[0] != "build" and path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name in wanted:
        source, target = root / name, copy / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        target.chmod(source.stat().st_mode & 0o777)


def texts(copy):
    """What stands in the tree, but for what was built."""
    return {path: path.read_bytes() for path in copy.rglob("*") if path.relative_to(copy).parts[0] != "build" and path.is_file()}


def configure(copy, definitions):
    """As ./test does the first time; then with the definitions."""
    command = f'root={str(copy)!r}; source "$root/scripts/setup.sh"; prepare run page plugin test'
    subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True)
    subprocess.run(["cmake", *definitions, copy / "build/release"], check=True, stdout=subprocess.DEVNULL)


def run(command, copy):
    """Exit code of one command of the page."""
    words = command.partition("#")[0].strip()
    for folder in re.findall(r"--out (build/\S+)", words):
        shutil.rmtree(copy / folder, ignore_errors=True)  # of the run before
    print(f"$ {words}", flush=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WISECROWD_")}
    # Newcomers do not have the real data.
    return subprocess.run(["bash", "-c", words], cwd=copy, env={**environment, "WISECROWD_DATA": str(copy / "build/no_data")}).returncode


def follow(step, copy):
    """Does one step; what it changed, as path → (before, after)."""
    before = texts(copy)
    if step.kind == "run":
        code = run(step.body, copy)
        if code not in (0, SKIPPED):
            sys.exit(f"CONTRIBUTING.md, followed literally, fails with {code} at: {step.body}")
    elif step.kind == "file":
        path = copy / step.path
        if path.exists():
            sys.exit(f"CONTRIBUTING.md writes {step.path}, which there is already")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.body, encoding="utf-8")
    else:
        text = (copy / step.path).read_text(encoding="utf-8")
        if step.after and text.count(step.after) != 1:
            sys.exit(f"CONTRIBUTING.md puts something behind {step.after!r}, which {step.path} has {text.count(step.after)} times")
        added = text.replace(step.after, step.after + step.body.removesuffix("\n")) if step.after else text + step.body
        (copy / step.path).write_text(added, encoding="utf-8")
    after = texts(copy)
    return {path: (before.get(path), after.get(path)) for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def put(path, content):
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def red_checks(copy):
    return [check for check in CHECKS if subprocess.run(check, cwd=copy, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode not in (0, SKIPPED)]


def without(step, before, after, now):
    """What a file would hold if the step were forgotten and the others were not; None for no file."""
    if step.kind == "file":
        return None
    if step.kind == "add":
        return now.replace(step.body.removesuffix("\n").encode(), b"")
    fresh = set(after.splitlines()) - set((before or b"").splitlines())
    return b"".join(line for line in now.splitlines(keepends=True) if line.rstrip(b"\n") not in fresh)


def main(root, copy, *definitions):
    root, copy = Path(root).resolve(), Path(copy).resolve()
    copy.mkdir(parents=True, exist_ok=True)
    update(root, copy)
    configure(copy, definitions)
    steps = steps_of((copy / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    if not steps:
        sys.exit("CONTRIBUTING.md has no steps")
    changed = []
    suite = Step("run", "", "", "./test")
    if suite not in steps:
        sys.exit("CONTRIBUTING.md does not say that all tests are to be run")
    for step in [step for step in steps if step != suite] + [Step("run", "", "", WHOLE_SUITE)]:
        changes = follow(step, copy)
        if changes:
            changed.append((step, changes))
    if red := red_checks(copy):
        sys.exit(f"CONTRIBUTING.md, followed literally, ends in a red check: {red}")
    forgettable = []
    for step, changes in changed:
        now = {path: path.read_bytes() for path in changes}
        for path, (before, after) in changes.items():
            put(path, without(step, before, after, now[path]))
        if not red_checks(copy):
            forgettable.append(str(step))
        for path, content in now.items():
            put(path, content)
    if forgettable:
        sys.exit(f"no check notices when these steps of CONTRIBUTING.md are forgotten: {forgettable}")
    print(f"{len(steps)} steps done; each of the {len(changed)} that changed the tree is needed")


if __name__ == "__main__":
    main(*sys.argv[1:])
