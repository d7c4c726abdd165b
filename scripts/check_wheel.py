"""What a wheel must be: check_wheel.py WHEEL... Prints its size; fails where something is missing, or too much is in it."""
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MUST = ["wisecrowd/__init__.py", "wisecrowd/py.typed", "wisecrowd/_engine", "wisecrowd/aggregation/__init__.py"]
PAGE = b"<!doctype html>"  # of the report, inside the engine


def problems(path):
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        names = wheel.namelist()
        yield from (f"{wanted} is missing" for wanted in MUST if not any(name.startswith(wanted) for name in names))
        yield from (f"{name} does not belong into it" for name in names if "torch" in Path(name).name and name.endswith(".so"))
        engine = next((name for name in names if name.startswith("wisecrowd/_engine") and name.endswith(".so")), None)
        if engine is None:
            return
        if PAGE not in wheel.read(engine).lower():
            yield "the report's page is not in the engine"
        needed = subprocess.run(["readelf", "-d", wheel.extract(engine, folder)], capture_output=True, text=True, check=True).stdout
        libraries = re.findall(r"NEEDED\).*\[(.*)\]", needed)
        if any(name.startswith("libstdc++") for name in libraries):
            yield "the engine wants the machine's libstdc++"
    said = subprocess.run(["auditwheel", "show", path], capture_output=True, text=True).stdout
    tags = [tuple(map(int, pair)) for pair in re.findall(r'manylinux_(\d+)_(\d+)_', said)]
    if not tags or min(tags) > (2, 34):
        yield f"it is not for manylinux_2_34 or older: {said}"


def main():
    failed = False
    for path in map(Path, sys.argv[1:]):
        found = list(problems(path))
        failed = failed or bool(found)
        print(f"{path.name}: {path.stat().st_size / 2**20:.1f} MB" + "".join(f"\n  {one}" for one in found))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
