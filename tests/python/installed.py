"""Installs the package and uses it from there, with nothing of the build tree in sight.

    installed.py cmake|pip BUILD_DIR SOURCE_DIR

Exits with 77 (skipped) when pip cannot reach PyPI.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

TRIAL = """
import wisecrowd
crowd = wisecrowd.simulate("hammer_spammer", tasks=300, workers=20, seed=1)
labels = wisecrowd.DawidSkene(100).fit_predict(crowd.answers)
assert (labels == crowd.gold).mean() > 0.8
assert len(wisecrowd.methods()) > 40
with wisecrowd.CrowdState.create("crowd.state", crowd.answers) as state:
    assert len(wisecrowd.select(state, 5)) == 5
print(wisecrowd.__file__)
"""


def use(python, **environment):
    """Runs the trial elsewhere; returns where the package was found."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as elsewhere:
        return subprocess.run([python, "-B", "-c", TRIAL], cwd=elsewhere, env={**clean, **environment}, check=True, capture_output=True,
                              text=True).stdout.strip()


def by_cmake(build, work):
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", work / "prefix"], check=True, stdout=subprocess.DEVNULL)
    packages = next((work / "prefix/lib").glob("python3*/site-packages"))
    assert (packages / "wisecrowd/py.typed").is_file() and (packages / "wisecrowd/aggregation/__init__.pyi").is_file()
    found = use(sys.executable, PYTHONPATH=str(packages))
    assert found.startswith(str(packages)), found


def by_pip(source, build, work):
    try:
        urllib.request.urlopen("https://pypi.org/simple/scikit-build-core/", timeout=20).close()
    except (urllib.error.URLError, OSError) as error:
        print(f"skipped: PyPI cannot be reached ({error})")
        return 77
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    python = work / "venv/bin/python"
    made = build.parent / f"{build.name}-pip"  # beside the other, so that a compiler cache may see the same paths
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"--config-settings=build-dir={made}", source], check=True)
    shutil.rmtree(made, ignore_errors=True)
    found = use(python)
    assert found.startswith(str(work / "venv")), found
    return 0


def main():
    how, build, source = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    work = build / "python_installed" / how
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return by_cmake(build, work) if how == "cmake" else by_pip(source, build, work)


if __name__ == "__main__":
    sys.exit(main())
