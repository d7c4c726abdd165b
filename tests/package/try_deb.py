#!/usr/bin/env python3
"""Installs the Debian package of the program into a Debian 12 made from nothing, and uses it: try_deb.py PACKAGE. Needs root and debootstrap."""
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import chroots  # noqa: E402

USE = r"""
set -eu
cd /root/try
wisecrowd --version
wisecrowd simulate hammer_spammer --tasks 200 --workers 20 --seed 1 --out crowd --quiet
wisecrowd aggregate crowd/answers.csv --gold crowd/gold.csv --out result --report report.html --quiet
grep -qi '<!doctype html>' report.html
test -s result/labels.csv
wisecrowd serve --data service --listen 18765 2>log &
service=$!
for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -q '"ready"' log && break; sleep 0.5; done
grep -q '"ready"' log
kill -TERM $service
wait $service
test -s /lib/systemd/system/wisecrowd.service
"""


def main():
    if not chroots.available():
        print("needs root and debootstrap")
        return 77
    package = Path(sys.argv[1]).resolve()
    folder = chroots.chroot("bookworm", "python3", "python3-venv")
    place = folder / "root/try"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    shutil.copy(package, place)
    chroots.run(folder, "apt-get", "update", "-q", check=True, stdout=subprocess.DEVNULL)
    chroots.run(folder, "apt-get", "install", "-q", "-y", "--no-install-recommends", f"/root/try/{package.name}", check=True, stdout=subprocess.DEVNULL)
    done = chroots.run(folder, "sh", "-c", USE)
    chroots.run(folder, "apt-get", "purge", "-q", "-y", "wisecrowd", check=True, stdout=subprocess.DEVNULL)
    left = [path for path in ("usr/bin/wisecrowd", "lib/systemd/system/wisecrowd.service") if (folder / path).exists()]
    print("Debian bookworm: installed, used, " + (f"left behind: {left}" if left else "removed without a trace"))
    return done.returncode or int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
