#!/usr/bin/env python3
"""Compiles the example methods of CONTRIBUTING.md, so that the instructions cannot rot.

    contributing_compiles.py ROOT GENERATED_INCLUDE_DIR COMPILER
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main(root, generated, compiler):
    text = (Path(root) / "CONTRIBUTING.md").read_text()
    files = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.DOTALL)
    sources = [name for name, _ in files if name.endswith(".cpp")]
    if len(files) != 8 or len(sources) != 4:
        sys.exit(f"CONTRIBUTING.md should show four files of a method for each of two kinds, two of them .cpp; found {[name for name, _ in files]}")
    with tempfile.TemporaryDirectory() as folder:
        for name, body in files:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body)
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-fsyntax-only"]
        places = [f"-I{folder}/src", f"-I{root}/src", f"-I{root}/include", f"-I{generated}"]
        for source in sources:
            if subprocess.run([compiler, *flags, *places, f"{folder}/{source}"]).returncode != 0:
                sys.exit(f"the {source} of CONTRIBUTING.md does not compile")


if __name__ == "__main__":
    main(*sys.argv[1:])
