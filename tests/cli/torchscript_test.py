"""A network that is brought from Python is trained, and what was trained goes back to Python."""
import subprocess
import unittest

from program import ProgramTest

PYTHON = "/usr/bin/python3"  # Debian's, for which python3-torch is made

MAKE = """
import torch
from torch import nn
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
torch.jit.script(net).save("net.pt")
torch.jit.script(nn.Linear(3, 5)).save("wide.pt")
"""

# What the exported module says of the rows as they are in the file, beside the labels that learn wrote.
CHECK = """
import csv, sys
import numpy, torch
module = torch.jit.load(sys.argv[1])
rows = torch.from_numpy(numpy.load("crowd/features.npy"))
with torch.no_grad():
    found = torch.softmax(module(rows), 1).double()
where = {row["task"]: int(row["row"]) for row in csv.DictReader(open("crowd/tasks.csv"))}
worst, seen = 0.0, 0
for row in csv.DictReader(open("predicted.csv")):
    told = torch.tensor([float(row[name]) for name in row if name.startswith("p_")], dtype=torch.double)
    worst = max(worst, float((told - found[where[row["task"]]]).abs().max()))
    seen += 1
print(seen, worst)
"""


class TorchScript(ProgramTest):
    def setUp(self):
        super().setUp()
        made = subprocess.run([PYTHON, "-c", MAKE], cwd=self.folder, capture_output=True, text=True, timeout=120)
        if "No module named" in made.stderr:
            self.skipTest("this machine's Python has no torch")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.simulate("dawid_skene", tasks=150, workers=12, gaussian_features=1.5, test_tasks=60, classes=3, seed=3)
        self.files = ["crowd/answers.csv", "--features", "crowd/features.npy", "--tasks", "crowd/tasks.csv"]

    def same_in_python(self, module):
        self.run_program("predict", "result", *self.files[1:], "--trust-model", "--out", "predicted.csv")
        done = subprocess.run([PYTHON, "-c", CHECK, module], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen, worst = done.stdout.split()
        self.assertEqual(int(seen), 210)
        self.assertLess(float(worst), 1e-5)

    def test_there_and_back(self):
        for model in ("net.pt", "mlp", "linear"):
            with self.subTest(model):
                self.run_program("learn", *self.files, "--model", model, "--method", "ccem", "--set", "epochs=5",
                                 "--torchscript", "--out", "result", "--quiet")
                self.same_in_python("result/model/classifier.pt")

    def test_same_seed_same_labels(self):
        for out in ("one", "two"):
            self.run_program("learn", *self.files, "--model", "net.pt", "--method", "aggnet", "--set", "epochs=3",
                             "--seed", 5, "--out", out, "--quiet")
        self.assertEqual((self.folder / "one/labels.csv").read_bytes(), (self.folder / "two/labels.csv").read_bytes())

    def test_a_network_with_other_outputs_is_refused(self):
        done = self.run_program("learn", *self.files, "--model", "wide.pt", "--method", "ccem", "--out", "result", code=65)
        self.assertIn("wide.pt", done.stderr)
        self.assertFalse((self.folder / "result").exists())


if __name__ == "__main__":
    unittest.main()
