"""Every line of refusals.txt: exit code, a message on standard error, nothing on standard output, nothing written."""
import shlex
import unittest
from pathlib import Path

from program import ProgramTest


class Refusals(ProgramTest):
    def test_refusals(self):
        self.simulate(tasks=30, workers=10)
        (self.folder / "notes").mkdir()
        self.write("notes/thesis.txt", "years of work")
        self.write("text.csv", "this is\nno table, of answers\n")
        self.write("empty.csv", "")
        self.write("two.csv", "task,label\nelsewhere,0\n")
        self.write("one_task.csv", "task,split\nhere,train\n")
        self.write("pair.csv", "task,label\na,0\nb,1\n")
        self.write("all_test.csv", "task,split\na,test\nb,test\n")
        self.write("splits.csv", "task,split\nhere,dev\n")
        self.write("two.npy", "no array at all")
        before = self.names()
        lines = (Path(__file__).parent / "refusals.txt").read_text().splitlines()
        cases = [line for line in lines if line.strip() and not line.startswith("#")]
        self.assertGreater(len(cases), 50)
        for line in cases:
            with self.subTest(line):
                code, command, expected = (part.strip().replace("{crowd}", "crowd") for part in line.split("|", 2))
                done = self.run_program(*shlex.split(command), code=int(code), input="")
                self.assertTrue(done.stderr.startswith("wisecrowd: error: "), done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(self.names(), before, "a refused command must leave no trace")
        self.assertEqual((self.folder / "notes/thesis.txt").read_text(), "years of work")

    def test_standard_output_that_cannot_be_written(self):
        if not Path("/dev/full").exists():
            self.skipTest("there is no /dev/full here")
        with open("/dev/full", "w") as full:
            import subprocess
            from program import PROGRAM
            done = subprocess.run([PROGRAM, "methods"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 74)
        self.assertIn("cannot write to standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
