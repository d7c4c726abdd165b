"""Debian systems made from nothing, without a compiler, to try packages in. Needs root, debootstrap and a Debian mirror."""
import os
import shutil
import subprocess
from pathlib import Path

MIRROR = os.environ.get("WISECROWD_MIRROR", "http://deb.debian.org/debian")
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
PLACE = Path(os.environ.get("WISECROWD_CHROOTS", "build/chroots")).resolve()


def available():
    return os.geteuid() == 0 and bool(shutil.which("debootstrap"))


def chroot(release, *packages):
    """The folder of a Debian of that name; made the first time, and kept."""
    folder = PLACE / release
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(("ca-certificates", *packages)), release, folder, MIRROR],
                       check=True, stdout=subprocess.DEVNULL)
        (folder / "made").touch()
    return folder


def run(folder, *command, **options):
    """Runs a command inside; names resolve, and authorities are trusted, as outside."""
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    if Path(AUTHORITIES).exists():
        shutil.copy(AUTHORITIES, folder / AUTHORITIES.lstrip("/"))
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                   "PIP_CERT": AUTHORITIES, **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}}
    return subprocess.run(["chroot", folder, *map(str, command)], env=environment, **options)
