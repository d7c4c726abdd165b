"""Outputs never destroy inputs or files of others; untrusted text reaches no terminal raw."""
import os
import pty
import sqlite3
import stat
import subprocess
import unittest

from program import PROGRAM, ProgramTest, environment


class OutputsThatAreInputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.simulate(tasks=30, workers=8)
        self.run_program("aggregate", "crowd/answers.csv", "--out", "result", "--quiet")
        self.run_program("state", "init", "s.state", "crowd/answers.csv", "--quiet")

    def snapshot(self):
        return {str(path): path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()}

    def refused(self, *arguments, code=64, says="which would be lost", input=None):
        before = self.snapshot()
        done = self.run_program(*arguments, code=code, input=input)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.snapshot(), before, "nothing may change")

    def test_the_same_file(self):
        answers = "crowd/answers.csv"
        self.refused("select", "s.state", "--budget", 5, "--out", "s.state")
        self.refused("select", answers, "--budget", 5, "--out", answers)
        self.refused("aggregate", answers, "--report", answers)
        self.refused("aggregate", answers, "--gold", "crowd/gold.csv", "--report", "crowd/gold.csv")
        self.refused("report", "result", "--out", "result/labels.csv", says="is a part of 'result' (DIR)")
        self.refused("report", "result", "--out", answers, "--force")
        self.refused("report", "result", "--answers", answers, "--out", "crowd/../crowd/answers.csv", "--force")
        self.write("one.txt", "w1\n")
        self.refused("aggregate", answers, "--exclude-workers", "one.txt", "--report", "one.txt", "--force")
        self.write("f.csv", "task,x\ntask_000001,1\n")
        self.refused("learn", answers, "--features", "f.csv", "--report", "f.csv")
        self.refused("predict", "result", "--features", "f.csv", "--out", "f.csv")
        self.refused("predict", "result", "--features", "f.csv", "--out", "result/run.json", says="is a part of")

    def test_links(self):
        answers = self.folder / "crowd/answers.csv"
        os.symlink(answers, self.folder / "soft.csv")
        os.link(answers, self.folder / "hard.csv")
        for link in ("soft.csv", "hard.csv"):
            self.refused("aggregate", "crowd/answers.csv", "--report", link, "--force")
            self.refused("aggregate", link, "--report", "crowd/answers.csv", "--force")
        with open(answers) as file:
            done = subprocess.run([PROGRAM, "aggregate", "-", "--report", "crowd/answers.csv", "--force"], stdin=file,
                                  cwd=self.folder, env=environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 64)
        self.assertIn("standard input", done.stderr)

    def test_folders_that_hold_inputs(self):
        self.refused("simulate", "one_coin_beta", "--gold", "crowd/gold.csv", "--out", "crowd", says="it holds 'crowd/gold.csv'")
        self.refused("evaluate", "result/labels.csv", "crowd/gold.csv", "--no", code=64, says="no option")
        (self.folder / "result/inner").mkdir()
        os.rename(self.folder / "s.state", self.folder / "result/inner/s.state")
        self.refused("state", "export", "result/inner/s.state", "--out", "result", says="it holds 'result/inner/s.state'")

    def test_files_of_others(self):
        for arguments in (("aggregate", "crowd/answers.csv", "--report", "thesis.html"),
                          ("report", "result", "--out", "thesis.html"),
                          ("select", "s.state", "--budget", 5, "--out", "notes.csv")):
            self.write("thesis.html", "<!doctype html><title>years of work</title>")
            self.write("notes.csv", "task,label\nmine,1\n")
            self.refused(*arguments, code=73, says="wisecrowd did not write it")
            self.run_program(*arguments, "--force")
            self.run_program(*arguments)  # now it is ours
        self.refused("report", "result", "--out", "s.state", "--force", code=73, says="it is a database")
        sqlite3.connect(self.folder / "s.state").execute("select count(*) from answers").fetchone()
        self.write("empty.html", "")
        self.run_program("report", "result", "--out", "empty.html")
        self.run_program("report", "result", "--out", "data.json")
        self.run_program("report", "result", "--out", "data.json")
        self.run_program("report", "result", "--out", "result/report.html")
        self.run_program("report", "result", "--out", "result/report.html")

    def test_empty_paths(self):
        for arguments in (("aggregate", "crowd/answers.csv", "--out", ""), ("aggregate", "crowd/answers.csv", "--report", ""),
                          ("aggregate", "crowd/answers.csv", "--gold", ""), ("aggregate", ""), ("report", "result", "--out", ""),
                          ("select", "s.state", "--budget", 5, "--out", ""), ("select", "s.state", "--budget", 5, "--workers", ""),
                          ("predict", "result", "-f", ""), ("state", "export", "s.state", "--out", ""),
                          ("simulate", "one_coin_beta", "--out", ""), ("demo", "--out", "")):
            with self.subTest(arguments):
                self.refused(*arguments, says="cannot be empty")

    def test_permissions_stay(self):
        self.run_program("report", "result", "--out", "secret.html")
        os.chmod(self.folder / "secret.html", 0o600)
        os.chmod(self.folder / "result", 0o700)
        self.run_program("report", "result", "--out", "secret.html")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "secret.html").st_mode), 0o600)
        self.run_program("aggregate", "crowd/answers.csv", "--out", "result", "--quiet")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "result").st_mode), 0o700)


class TextOfStrangers(ProgramTest):
    def at_terminal(self, *arguments):
        """What a person sees: standard output and error are a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment(NO_COLOR="1"),
                                   stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, close_fds=True)
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:
                break
            if not block:
                break
            shown += block
        process.wait()
        os.close(ours)
        return shown.decode()

    ODD = ["w\x1b[2Jx", "w\u009b2Jy", "w\u202ez", "w\x7f", "=cmd|'/c calc'!A1"]

    def crowd(self):
        rows = [f'task{t},"{name}",{(t + i) % 2}' for t in range(12) for i, name in enumerate(self.ODD) if (t + i) % 5]
        return self.write("odd.csv", "task,worker,label\n" + "\n".join(rows) + "\n")

    def check(self, shown):
        for bad in "\x1b\u009b\u202e\x7f":
            self.assertNotIn(bad, shown)

    def test_names_on_a_terminal(self):
        self.crowd()
        self.run_program("state", "init", "s.state", "odd.csv", "--quiet")
        for arguments in (("select", "s.state", "--budget", 4), ("select", "odd.csv", "--budget", 4),
                          ("select", "s.state", "--budget", 4, "--json"), ("aggregate", "odd.csv", "-m", "dawid_skene"),
                          ("describe", "odd.csv"), ("describe", "odd.csv", "--json"),
                          ("aggregate", "odd.csv", "-m", "dawid_skene", "--json"),
                          ("select", "--advise", "odd.csv"), ("state", "show", "s.state")):
            with self.subTest(arguments):
                shown = self.at_terminal(*arguments)
                self.assertGreater(len(shown), 20)
                self.check(shown)
        self.assertIn("\x1b[2J", self.run_program("select", "odd.csv", "--budget", 40).stdout, "data for programs are raw")

    def test_safe_csv(self):
        rows = [f'=t{t},"{name}",{("=yes", "-1")[(t * i) % 2]}' for t in range(6) for i, name in enumerate(self.ODD) if (t + i) % 5]
        self.write("formulas.csv", "task,worker,label\n" + "\n".join(rows) + "\n")
        self.write("gold.csv", "task,label\n=t0,=yes\n=t1,-1\n")
        self.run_program("aggregate", "formulas.csv", "-m", "dawid_skene", "--out", "raw", "--quiet")
        self.run_program("aggregate", "formulas.csv", "-m", "dawid_skene", "--gold", "gold.csv", "--out", "safe", "--quiet", "--safe-csv")
        cells = [cell for name in ("labels.csv", "workers.csv", "confusion.csv")
                 for line in (self.folder / "safe" / name).read_text().splitlines() for cell in line.split(",")]
        self.assertTrue(any(cell.startswith("'=") for cell in cells))
        self.assertEqual([cell for cell in cells if cell.startswith(("=", "@", '"='))], [])
        self.assertIn("-1", cells, "numbers stay")
        self.assertIn("\n=t0,", (self.folder / "raw/labels.csv").read_text())
        self.run_program("report", "safe", "--out", "safe.html")
        self.run_program("evaluate", "safe/labels.csv", "gold.csv", "--safe-csv")
        self.assertIn("'=t", self.run_program("select", "formulas.csv", "--budget", 1, "--safe-csv").stdout)

    def test_paths_in_messages(self):
        for name in ("gone\x1b[2J.csv", "gone\u009b.csv", "gone\u202e.csv"):
            for command in ("aggregate", "describe", "select"):
                extra = ("--budget", 4) if command == "select" else ()
                shown = self.run_program(command, name, *extra, code=66).stderr
                self.check(shown)
                self.assertIn("gone", shown)
        odd = "bad\x1b[2J.csv"
        self.write(odd, "task,worker,label\nt,w\n")
        self.check(self.run_program("aggregate", odd, code=65).stderr)
        self.write(odd, "task,worker,label\nt,w,a\nt,v,b\n")
        shown = self.run_program("aggregate", odd, "--out", "here").stdout
        self.check(shown)
        self.check(self.run_program("describe", odd).stdout)
        self.check(self.run_program("describe", odd, "--json").stdout)


if __name__ == "__main__":
    unittest.main()
