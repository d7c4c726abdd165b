"""Commands about answers alone start at once: libtorch, with half a second and hundreds of libraries, stays outside, and
so does cairo with its own."""
import re
import resource
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, environment


class Startup(ProgramTest):
    def loaded(self, *arguments):
        """Names of the libraries that a run of the program opens, at its start or later."""
        log = self.folder / "loader"
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              env=environment(LD_DEBUG="files", LD_DEBUG_OUTPUT=str(log)), timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "".join(path.read_text() for path in self.folder.glob("loader.*"))
        for path in self.folder.glob("loader.*"):
            path.unlink()
        self.assertIn("libstdc++", text)  # or this test sees nothing
        return text

    def test_answers_alone_do_not_load_libtorch_or_cairo(self):
        labels = self.simulate(tasks=50, workers=5)
        for arguments in (["--version"], ["methods"], ["aggregate", labels, "--out", "result", "--quiet"]):
            with self.subTest(arguments):
                libraries = self.loaded(*arguments)
                for name in ("torch", "openblas", "libgomp", "cairo", "fontconfig", "libX11"):
                    self.assertNotIn(name, libraries)

    def test_commands_with_a_report_wait_for_its_page(self):
        # ./run builds the page for commands that may write one: setup.sh must know each of them.
        setup = Path(__file__).resolve().parents[2] / "scripts/setup.sh"
        usage = self.run_program("--help").stdout
        commands = re.findall(r"^  ([a-z-]+)  +\S", usage[usage.index("Commands"):usage.index("Options")], re.M)
        writers = [name for name in commands if re.search(r"^ +--report ", self.run_program(name, "--help").stdout, re.M)]
        self.assertIn("aggregate", writers)
        for name in writers:
            done = subprocess.run(["bash", "-c", 'root=; source "$1"; level_of "$2" x --report y.html', "bash", setup, name],
                                  capture_output=True, text=True, check=True, timeout=60)
            self.assertIn(done.stdout, ("page\n", "plugin\n"), name)

    def test_the_version_takes_no_time(self):
        def processor_time():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([PROGRAM, "--version"], stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        if "libasan" in self.loaded("--version"):
            self.skipTest("a sanitizer takes its own time to start")
        self.assertLess(min(processor_time() for _ in range(10)), 0.010)


if __name__ == "__main__":
    unittest.main()
