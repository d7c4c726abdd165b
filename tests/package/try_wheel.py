#!/usr/bin/env python3
"""Installs wheels where they were not built, takes the times, and runs the package's tests: try_wheel.py WHEEL... [--python PYTHON]...

Virtual environments of the Pythons named, and as root with debootstrap Debian 12 and 13 without a compiler, where a wheel for their
Python is given. The bars: installing without its dependencies takes 10 s, importing 0.3 s beyond pandas.
"""
import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import chroots  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
INSTALL_BAR, IMPORT_BAR = 10, 0.3  # seconds
DEBIANS = ("bookworm", "trixie")
NEEDS_PROGRAM = re.compile(r"WISECROWD_PROGRAM")


def tag_of(python, run):
    said = run([python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True)
    return said.stdout.strip()


def seconds_to_import(python, run, module):
    """The median of five, in processes of their own."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return statistics.median(float(run([python, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))


def attempt(name, python, run, wheel, tests):
    """True when everything holds. `run` runs a command there; `wheel` and `tests` are paths as seen from there."""
    run([python, "-m", "pip", "install", "--quiet", "numpy", "pandas"], check=True)
    begin = time.monotonic()
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], check=True)
    installed = time.monotonic() - begin
    pandas, ours = seconds_to_import(python, run, "pandas"), seconds_to_import(python, run, "wisecrowd")
    passed, failed = [], []
    for module in sorted((ROOT / "tests/python").glob("*_test.py")):
        if NEEDS_PROGRAM.search(module.read_text()):
            continue
        done = run([python, "-B", f"{tests}/{module.name}"], capture_output=True, text=True)
        (passed if done.returncode == 0 else failed).append(module.stem)
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-3000:])
    good = installed <= INSTALL_BAR and ours - pandas <= IMPORT_BAR and not failed
    print(f"{name}: installed in {installed:.1f} s, import {ours:.2f} s ({ours - pandas:+.2f} beyond pandas), "
          f"{len(passed)} test files pass, failed: {', '.join(failed) or 'none'}")
    return good


def in_environment(python, wheels):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = f"{folder}/bin/python"
        wheel = wheels.get(tag_of(inside, subprocess.run))
        return wheel is None or attempt(f"{python}", inside, subprocess.run, wheel, ROOT / "tests/python")


def in_debian(release, wheels):
    folder = chroots.chroot(release, "python3", "python3-venv")

    def run(command, **options):
        return chroots.run(folder, *command, **options)

    assert run(["sh", "-c", "command -v gcc || command -v cc || command -v clang"], stdout=subprocess.DEVNULL).returncode != 0
    wheel = wheels.get(tag_of("/usr/bin/python3", run))
    if wheel is None:
        print(f"{release}: no wheel for its Python")
        return True
    place = folder / "root/try"
    shutil.rmtree(place, ignore_errors=True)
    for part in ("tests", "include", "python", "scripts"):  # some tests compare with the sources
        shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(wheel, place)
    run(["/usr/bin/python3", "-m", "venv", "--clear", "/root/try/venv"], check=True)
    return attempt(f"Debian {release}", "/root/try/venv/bin/python", run, f"/root/try/{wheel.name}", "/root/try/tests/python")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("wheels", nargs="+", type=Path)
    options.add_argument("--python", action="append", default=[])
    options.add_argument("--debian", action="append", default=[], choices=DEBIANS)
    arguments = options.parse_args()
    wheels = {wheel.name.split("-")[2]: wheel.resolve() for wheel in arguments.wheels}
    good = [in_environment(python, wheels) for python in arguments.python or ([] if arguments.debian else [sys.executable])]
    if arguments.debian and not chroots.available():
        sys.exit("Debian systems need root and debootstrap")
    good += [in_debian(release, wheels) for release in arguments.debian]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
