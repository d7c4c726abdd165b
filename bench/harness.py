"""What the benchmark scripts share: the data sets, running the program with time and memory measured, tables."""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

LOAD_BEFORE = os.getloadavg()[0]
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Size:
    tasks: int
    workers: int
    classes: int
    answers_per_task: int

    @property
    def answers(self):
        return self.tasks * self.answers_per_task


SIZES = {
    "s1": Size(10_000, 100, 2, 5),
    "s2": Size(100_000, 1_000, 4, 5),
    "s3": Size(1_000_000, 10_000, 4, 5),
    "s4": Size(1_000_000, 100_000, 10, 5),
    "b8": Size(10_000_000, 100_000, 2, 10),
}


def stop(message):
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


def parser(description):
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    made.add_argument("--program", type=Path, default=ROOT / "build/release/wisecrowd", help="the program to measure")
    made.add_argument("--cache", type=Path, default=ROOT / "build/bench", help="folder for simulated data and environments")
    made.add_argument("--json", type=Path, help="write the figures here")
    made.add_argument("--markdown", type=Path, help="write the table here")
    made.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of wisecrowd")
    return made


def check_program(program):
    if not program.is_file():
        stop(f"there is no program at {program}: build it with ./run --version, or name it with --program")


@dataclass
class Measured:
    seconds: float
    peak_bytes: int
    output: str
    processor_seconds: float


def run(command, **options):
    """Runs a command; wall time, peak resident memory and processor time of that process alone, and its standard output."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err, **options)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            text = err.read().decode(errors="replace") or out.read().decode(errors="replace")
            stop(f"failed with {child.returncode}: {' '.join(map(str, command))}\n{text}")
        return Measured(seconds, usage.ru_maxrss * 1024, out.read().decode(errors="replace"), usage.ru_utime + usage.ru_stime)


def dataset(name, arguments):
    """The folder of a simulated data set (answers.csv, gold.csv, …), made once and kept."""
    size = SIZES[name]
    folder = arguments.cache / "data" / name
    recipe = {"kind": "dawid_skene diagonal_dominant 0.5", "seed": 1, **vars(size)}
    note = folder.with_suffix(".recipe.json")
    if note.is_file() and json.loads(note.read_text()) == recipe and (folder / "answers.csv").is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    progress(f"simulating {name}: {size.answers:,} answers")
    run([arguments.program, "simulate", "dawid_skene", "--tasks", size.tasks, "--workers", size.workers, "--classes",
         size.classes, "--answers-per-task", size.answers_per_task, "--set", "tables=diagonal_dominant", "--set", "gamma=0.5",
         "--seed", 1, "--out", folder, "--quiet"])
    note.write_text(json.dumps(recipe))
    return folder


def aggregate(arguments, labels, out, settings, method="dawid_skene", extra=()):
    """Runs `wisecrowd aggregate`; returns what was measured and the run record."""
    command = [arguments.program, "aggregate", labels, "--method", method, "--threads", arguments.threads, "--out", out,
               "--quiet", *extra]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    measured = run(command)
    return measured, json.loads((Path(out) / "run.json").read_text())


def best_of(times, action):
    """Smallest time of several runs: the one that other processes disturbed least."""
    results = [action() for _ in range(times)]
    return min(results, key=lambda result: result[0].seconds)


def progress(text):
    print(text, file=sys.stderr, flush=True)


def machine():
    model = "unknown CPU"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}


def table(headers, rows):
    """A Markdown table; numbers to the right."""
    right = [all(isinstance(row[i], (int, float)) or str(row[i])[:1].isdigit() for row in rows) for i in range(len(headers))]
    lines = ["| " + " | ".join(headers) + " |", "|" + "|".join("--:" if r else "---" for r in right) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def page_parser(description):
    """Of scripts that write a page of words, which the program knows, and figures, which need data."""
    made = parser(description)
    made.add_argument("--keep-figures", action="store_true", help="write what the program says of itself anew, and keep the figures of the page")
    made.add_argument("--check", action="store_true", help="write nothing; exit with 1 where --keep-figures would change the page")
    return made


def renew_words(page, words, figures_begin, check):
    """Puts `words` in the place of what stands before the line `figures_begin`. Returns the exit code."""
    text = page.read_text(encoding="utf-8")
    if f"\n{figures_begin}" not in text:
        stop(f"{page} has no line that begins with {figures_begin!r}: write it anew without --keep-figures")
    renewed = words + text[text.index(f"\n{figures_begin}") + 1:]
    if check and renewed != text:
        print(f"{page.relative_to(ROOT)} is not current; run scripts/refresh")
        return 1
    if renewed != text:
        page.write_text(renewed, encoding="utf-8")
        print(f"written: {page}")
    return 0


def seconds_text(seconds):
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def bytes_text(count):
    return f"{count / 1e6:.0f} MB" if count < 1e9 else f"{count / 1e9:.2f} GB"


def deliver(arguments, figures, text):
    """Prints the table and writes both forms where asked."""
    print(text)
    figures["machine"] = machine()
    figures["load_before"] = LOAD_BEFORE
    if LOAD_BEFORE > 0.5:
        progress(f"\nother programs were running (load {LOAD_BEFORE:.1f} at the start): do not trust these times")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    if arguments.markdown:
        arguments.markdown.write_text(text + "\n")
