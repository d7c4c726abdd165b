#!/usr/bin/env python3
"""Compiles the examples of CONTRIBUTING.md and looks for the files that it names, so that the page cannot rot.
follow_contributing.py, which is slow, does everything that it says.

    contributing_compiles.py ROOT GENERATED_INCLUDE_DIR COMPILER
"""
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from contributing import named_paths, steps_of  # noqa: E402

# A method for categories, one for numbers, a learner.
ROOMS = 3


def main(root, generated, compiler):
    text = (Path(root) / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files = [step for step in steps_of(text) if step.kind == "file"]
    sources = [step.path for step in files if step.path.endswith(".cpp")]
    if len(files) != 4 * ROOMS or len(sources) != 2 * ROOMS:
        sys.exit(f"CONTRIBUTING.md should show four files for each of {ROOMS} rooms, two of them .cpp; found {[step.path for step in files]}")
    paths = named_paths(text)
    missing = [path for path in paths if not (Path(root) / path).exists()]
    if missing or len(paths) < 10:
        sys.exit(f"CONTRIBUTING.md names {len(paths)} files and folders; these are not there: {missing}")
    with tempfile.TemporaryDirectory() as folder:
        for step in files:
            path = Path(folder) / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.body, encoding="utf-8")
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-fsyntax-only"]
        places = [f"-I{folder}/src", f"-I{root}/src", f"-I{root}/tests", f"-I{root}/include", f"-I{generated}"]
        for source in sources:
            if subprocess.run([compiler, *flags, *places, f"{folder}/{source}"]).returncode != 0:
                sys.exit(f"the {source} of CONTRIBUTING.md does not compile")


if __name__ == "__main__":
    main(*sys.argv[1:])
