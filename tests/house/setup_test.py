"""scripts/setup.sh: which packages a level needs, what a command waits for, and what is said of progress."""
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bash(script, *arguments, text=""):
    """Runs a script with the functions of setup.sh at hand; what it printed, and what it said on standard error."""
    return subprocess.run(["bash", "-c", f'set -euo pipefail; root=$1; shift; source "$root/scripts/setup.sh"; {script}', "bash",
                           str(ROOT), *arguments], input=text, capture_output=True, text=True, timeout=60)


def levels():
    table = {}
    for line in (ROOT / "scripts/packages.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            package, level = line.split()[:2]
            table[package.rstrip("*")] = level
    return table


class Levels(unittest.TestCase):
    def test_the_program_does_not_wait_for_the_libraries_of_plugins_or_for_npm(self):
        self.assertEqual({levels()[name] for name in ("libtorch-dev", "libopenblas0-openmp", "libcairo2-dev", "libssl-dev")}, {"plugin"})
        self.assertEqual(levels()["npm"], "page")
        self.assertEqual(set(levels().values()), {"run", "page", "plugin", "test", "dev"})

    def test_missing_packages_are_those_of_the_levels(self):
        script = 'dpkg-query() { :; }; command() { return 1; }; missing_packages "$@"'
        for wanted in (["run"], ["run", "page"], ["run", "page", "plugin"], ["run", "page", "plugin", "test"]):
            found = bash(script, *wanted).stdout.split()
            self.assertEqual(sorted(found), sorted(name for name, level in levels().items() if level in wanted))


class WhatACommandNeeds(unittest.TestCase):
    def assert_level(self, level, *commands):
        for arguments in commands:
            self.assertEqual(bash('level_of "$@"', *arguments).stdout, level + "\n", arguments)

    def test_commands_that_may_load_a_plugin_get_them(self):
        self.assert_level("plugin", ["learn", "a.csv"], ["predict", "model"], ["compare", "a.csv"], ["select", "s.state"],
                          ["learn", "a.csv", "--report", "r.html"], ["new"])

    def test_commands_that_may_write_a_report_get_the_page(self):
        self.assert_level("page", [], ["demo"], ["report", "result"], ["aggregate", "a.csv", "--report", "r.html"],
                          ["aggregate", "--report=r.html", "a.csv"])

    def test_others_do_not_wait(self):
        self.assert_level("run", ["--version"], ["aggregate", "a.csv"], ["learn", "--help"], ["report", "--help"],
                          ["state", "show", "s.state"])


class Progress(unittest.TestCase):
    def said(self, *lines):
        return bash("show_progress", text="".join(line + "\n" for line in lines)).stderr.splitlines()

    def test_nothing_to_do_is_silent(self):
        self.assertEqual(self.said("ninja: no work to do.", "[0/1 0.010] Re-checking globbed directories..."), [])

    def test_a_line_now_and_then_says_how_long_it_will_take(self):
        lines = [f"[{step}/100 {step * 4}.{step:03}] Building CXX object a/{step}.cpp.o" for step in range(1, 101)]
        said = self.said(*lines)
        self.assertEqual(said[0], "wisecrowd: building (log: build/release/build.log)")
        self.assertEqual(said[1], "wisecrowd: building, step 8 of 100, about 6 min left")
        self.assertEqual(said[-1], "wisecrowd: building, step 96 of 100, less than a minute left")
        self.assertEqual(len(said), 1 + 12)


if __name__ == "__main__":
    unittest.main()
