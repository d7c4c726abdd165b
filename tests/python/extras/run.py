"""Runs a test module by the interpreter that scripts/python_extras sets up.

    run.py ENVIRONMENT MODULE

Exits with 77 (skipped) when it was not set up.
"""
import os
import sys
from pathlib import Path

environment, module = Path(sys.argv[1]), sys.argv[2]
python = environment / "bin/python"
if not python.exists():
    print(f"skipped: there is no {environment}; scripts/python_extras sets it up")
    sys.exit(77)
os.execv(python, [str(python), "-B", module])
