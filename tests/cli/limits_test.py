"""Little memory, no threads, classes beyond counting: work goes on, or an error says why. Never a crash."""
import resource
import subprocess
import unittest

from program import PROGRAM, ProgramTest


def address_space(megabytes):
    """For a child process: as `ulimit -v` does."""
    limit = megabytes << 20
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Limits(ProgramTest):
    def run_within(self, megabytes, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, preexec_fn=address_space(megabytes))

    def test_less_and_less_memory(self):
        labels = self.simulate(tasks=50, workers=5)
        codes = set()
        for megabytes in (20, 30, 45, 70, 100, 150, 4000):
            done = self.run_within(megabytes, "aggregate", labels, "--method", "majority_vote", "--threads", 8)
            codes.add(done.returncode)
            self.assertIn(done.returncode, (0, 71, 127), f"{megabytes} MB: {done.stderr}")  # 127: not even loaded
        self.assertIn(0, codes)

    def test_a_need_that_cannot_be_met_is_told_before_the_fit(self):
        rows = ["task,worker,label"]
        rows += [f"{t},w{(t + a * 7) % 300},{(t * 31 + a // 2) % 400}" for t in range(400) for a in range(4)]
        self.write("wide.csv", "\n".join(rows) + "\n")
        done = self.run_within(1500, "aggregate", "wide.csv", "--method", "gibbs", "--threads", 1)
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertIn("gibbs needs about", done.stderr)
        self.assertIn("choose a method that fits (majority_vote", done.stderr)


if __name__ == "__main__":
    unittest.main()
