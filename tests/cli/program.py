"""Runs the program under test in a folder of its own."""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("WISECROWD_PROGRAM") or shutil.which("wisecrowd")
if not PROGRAM:
    sys.exit("set WISECROWD_PROGRAM to the path of the program to test")
IN_SHELL = shlex.quote(PROGRAM)  # a path may have blanks


def environment(**more):
    """Our own, with the program first on the path and nothing that colours or decorates."""
    result = {**os.environ, "PATH": str(Path(PROGRAM).parent) + os.pathsep + os.environ["PATH"], **more}
    result.pop("NO_COLOR", None)
    return {**result, **more}


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wisecrowd-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_program(self, *arguments, input=None, code=0, timeout=120, **options):
        """Runs `wisecrowd ARGUMENTS…`, checks the exit code, returns what it printed."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment(), input=input,
                              capture_output=True, text=True, timeout=timeout, **options)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def write(self, name, text):
        (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    def names(self, folder="."):
        return sorted(entry.name for entry in (self.folder / folder).iterdir())

    def simulate(self, kind="hammer_spammer", out="crowd", **options):
        words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
        self.run_program("simulate", kind, *words, "--out", out, "--quiet")
        return f"{out}/answers.csv"


RESULT_FILES = ["confusion.csv", "labels.csv", "run.json", "workers.csv"]
