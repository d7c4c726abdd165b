"""Ctrl-C, termination, kill -9 and full disks: the output folder is whole or absent, and a rerun works."""
import json
import random
import resource
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from program import IN_SHELL, PROGRAM, RESULT_FILES, ProgramTest, environment

ENDLESS = ["--method", "dawid_skene", "--set", "tolerance=0", "--set", "restarts=1000000"]


class Stopping(ProgramTest):
    def start(self, *arguments, **options):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def leftovers(self):
        return [name for name in self.names() if name.startswith(".")]

    def check_whole(self, folder="result"):
        self.assertEqual(self.names(folder), RESULT_FILES)
        record = json.loads((self.folder / folder / "run.json").read_text())
        lines = (self.folder / folder / "labels.csv").read_bytes().count(b"\n")
        self.assertEqual(lines, record["data"]["tasks"] + 1)

    def test_a_signal_while_computing(self):
        labels = self.simulate(tasks=5000)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number):
                running = self.start("aggregate", labels, *ENDLESS, "--out", "result")
                time.sleep(0.4)
                running.send_signal(number)
                stdout, stderr = running.communicate(timeout=20)
                self.assertEqual(running.returncode, code, stderr)
                self.assertEqual(stdout, "")
                self.assertIn("nothing was written", stderr)
                self.assertEqual(self.names(), ["crowd"])

    def learner_crowd(self):
        """A crowd with features; the words that `learn` takes for it."""
        labels = self.simulate("dawid_skene", tasks=2000, workers=30, answers_per_task=3, gaussian_features=2)
        return ["learn", labels, "--features", "crowd/features.npy", "--tasks", "crowd/tasks.csv"]

    def test_a_signal_while_learning(self):
        command = [*self.learner_crowd(), "--method", "ccem", "--set", "epochs=1000000", "--out", "result"]
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            with self.subTest(number):
                running = self.start(*command)
                time.sleep(0.6)
                running.send_signal(number)
                stdout, stderr = running.communicate(timeout=20)
                self.assertEqual(running.returncode, code, stderr)
                self.assertEqual(stdout, "")
                if number != signal.SIGKILL:
                    self.assertIn("nothing was written", stderr)
                self.assertEqual(self.names(), ["crowd"])

    def test_a_signal_while_waiting_for_input(self):
        running = self.start("aggregate", "-", stdin=subprocess.PIPE)
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        time.sleep(1.5)  # patience is a second
        self.assertEqual(running.poll(), 130)
        running.communicate()

    def test_a_second_signal_stops_at_once(self):
        running = self.start("aggregate", "-", "--out", "result", stdin=subprocess.PIPE)
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertEqual(running.poll(), 130)
        running.communicate()
        self.assertEqual(self.names(), [])

    def wait_until_writing(self, running):
        """Until labels.csv grows in the hidden folder."""
        for _ in range(20000):
            for hidden in self.folder.glob(".result.tmp-*/labels.csv"):
                try:
                    if hidden.stat().st_size > 0:
                        return True
                except FileNotFoundError:
                    pass
            if running.poll() is not None:
                return False
            time.sleep(0.0005)
        return False

    def test_signals_while_writing(self):
        labels = self.simulate("one_coin_beta", tasks=300000, classes=8, answers_per_task=1, workers=100)
        command = ["aggregate", labels, "--method", "majority_vote", "--out", "result"]
        caught = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                running = self.start(*command)
                if self.wait_until_writing(running):
                    running.send_signal(number)
                running.communicate(timeout=60)
                if running.returncode == 0:
                    self.check_whole()
                    shutil.rmtree(self.folder / "result")
                    continue
                caught += 1
                self.assertFalse((self.folder / "result").exists(), "a part of a result must never be seen")
                if number == signal.SIGKILL:
                    self.assertEqual(len(self.leftovers()), 1)
                else:
                    self.assertEqual(self.leftovers(), [])
        self.assertGreater(caught, 0, "no signal came while the program was writing")
        self.run_program(*command)
        self.check_whole()
        self.assertEqual(self.leftovers(), [], "the next run removes what a killed one left")

    def test_kill_at_any_moment(self):
        labels = self.simulate(tasks=20000, classes=4, workers=200)
        command = ["aggregate", labels, "--method", "dawid_skene", "--set", "max_iterations=5", "--out", "result"]
        began = time.monotonic()
        self.run_program(*command)
        whole = time.monotonic() - began
        reference = (self.folder / "result/labels.csv").read_bytes()
        random.seed(1)
        for round_ in range(25):
            running = self.start(*command)
            time.sleep(random.uniform(0, 1.2 * whole))
            running.kill() if round_ % 2 else running.send_signal(signal.SIGINT)
            running.communicate(timeout=60)
            # There was a result, so there must be one at every moment: the old or the new, both the same.
            self.check_whole()
            self.assertEqual((self.folder / "result/labels.csv").read_bytes(), reference)
        self.run_program(*command)
        self.assertEqual(self.leftovers(), [])

    def test_writing_that_fails_midway(self):
        labels = self.simulate(tasks=5000)
        done = self.run_program("aggregate", labels, "--method", "majority_vote", "--out", "result", code=74,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertIn("result/labels.csv", done.stderr)
        self.assertEqual(self.names(), ["crowd"])

    def run_on_full_disk(self, *command):
        (self.folder / "disk").mkdir()
        script = f"mount -t tmpfs -o size=64k tmpfs disk && ( {IN_SHELL} {shlex.join(command)} --out disk/result; " \
                 "echo code $?; ls -A disk )"
        done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", script], cwd=self.folder,
                              env=environment(), capture_output=True, text=True, timeout=60)
        if "code" not in done.stdout:
            self.skipTest(f"a small disk cannot be mounted here: {done.stderr.strip()}")
        self.assertIn("the disk is full", done.stderr)
        self.assertEqual(done.stdout.split(), ["code", "74"], "nothing may be left on the disk")

    def test_full_disk(self):
        self.run_on_full_disk("aggregate", self.simulate(tasks=20000))

    def test_full_disk_of_a_learner(self):
        self.run_on_full_disk(*self.learner_crowd(), "--method", "ccem", "--set", "epochs=1")

    def test_a_place_that_may_not_be_written_to(self):
        labels = self.simulate(tasks=50)
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        import os
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        done = self.run_program("aggregate", labels, "--out", "locked/result", code=73)
        self.assertIn("permission denied", done.stderr)

    def test_readers_that_leave_are_no_error(self):
        labels = self.simulate(tasks=200)
        for command in (f"{IN_SHELL} aggregate {labels} --json", f"{IN_SHELL} compare --help", f"{IN_SHELL} methods"):
            done = subprocess.run(["bash", "-c", f"set -o pipefail; {command} | head -c 1"], cwd=self.folder,
                                  env=environment(), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)


if __name__ == "__main__":
    unittest.main()
