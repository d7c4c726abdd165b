"""Help that is true: its examples run, it fits 80 columns, completion knows every option."""
import json
import re
import shutil
import subprocess
import unittest

from program import IN_SHELL, PROGRAM, ProgramTest, environment

COMMANDS = ["aggregate", "learn", "predict", "describe", "evaluate", "fairness", "report", "compare", "state", "simulate", "methods", "demo", "completion"]


class Help(ProgramTest):
    def shell(self, script, **options):
        return subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment(), capture_output=True, text=True,
                              timeout=120, **options)

    def test_version(self):  # that it takes no time is startup_test.py's
        self.assertRegex(self.run_program("--version").stdout, r"^wisecrowd \d+\.\d+\.\d+\n$")

    def test_general_help_names_every_command(self):
        for asked in ([], ["--help"], ["-h"], ["help"]):
            text = self.run_program(*asked).stdout
            for command in COMMANDS:
                self.assertRegex(text, rf"(?m)^  {command} ")

    def test_help_of_every_command(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = self.run_program(command, "--help").stdout
                self.assertEqual(text, self.run_program("help", command).stdout)
                self.assertTrue(text.startswith(f"wisecrowd {command}: "))
                self.assertIn("\nExamples\n", text)
                for line in text.split("\nExamples\n")[0].splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_examples_run_as_printed(self):
        for command in COMMANDS:
            examples = self.run_program(command, "--help").stdout.split("\nExamples\n")[1]
            lines = [line.strip() for line in examples.splitlines() if line.strip()]
            self.assertTrue(any(f"wisecrowd {command}" in line for line in lines))
            for entry in self.folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            for line in lines:
                with self.subTest(line):
                    done = self.shell(f"set -o pipefail; {line}")
                    if "built without the report's page" in done.stderr:
                        continue
                    said = [text for text in done.stderr.splitlines() if not text.startswith("wisecrowd: warning: ")]
                    self.assertEqual((done.returncode, said), (0, []))

    def test_methods_and_kinds_are_listed(self):
        methods = json.loads(self.run_program("methods", "--json").stdout)["methods"]
        for method in methods:
            text = self.run_program("methods", method["name"]).stdout
            for parameter in method["parameters"]:
                self.assertIn(f"  {parameter['name']}=", text)
            self.assertTrue(method["summary"] and method["when_to_use"] and method["reference"])
            self.assertIn(method["name"], self.run_program("aggregate", "--help").stdout)
        self.assertEqual(sum(method["is_default"] for method in methods), 1)
        kinds = re.findall(r"(?m)^  ([a-z_]+) ", self.run_program("simulate", "--help").stdout.split("Kinds of crowds")[1].split("  See ")[0])
        self.assertIn("hammer_spammer", kinds)
        for kind in kinds:
            self.assertIn(f"Parameters of {kind}", self.run_program("simulate", kind, "--help").stdout)

    def complete(self, *words):
        """What bash offers after these words."""
        listed = " ".join(f"'{word}'" for word in words)
        done = self.shell(f"source <({IN_SHELL} completion bash); COMP_WORDS=({listed}); "
                          f"COMP_CWORD={len(words) - 1}; _wisecrowd 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completion(self):
        self.assertEqual(self.complete("wisecrowd", "agg"), ["aggregate"])
        self.assertEqual(self.complete("wisecrowd", "aggregate", "--meth"), ["--method"])
        self.assertEqual(self.complete("wisecrowd", "aggregate", "--method", "dawid"), ["dawid_skene"])
        self.assertEqual(self.complete("wisecrowd", "simulate", "hammer"), ["hammer_spammer"])
        self.assertEqual(self.complete("wisecrowd", "state", "ex"), ["export"])
        self.assertEqual(self.complete("wisecrowd", "state", "export", "ex"), [])
        self.assertEqual(self.complete("wisecrowd", "aggregate", "x", "--duplicates", "re"), ["reject", "repeat"])
        self.write("answers.csv", "")
        self.assertEqual(self.complete("wisecrowd", "aggregate", "ans"), ["answers.csv"])
        for command in COMMANDS:
            offered = self.complete("wisecrowd", command, "-")
            for option in re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", self.run_program(command, "--help").stdout):
                self.assertIn(option, offered)

    def test_other_shells_accept_their_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.run_program("completion", shell).stdout
            for command in COMMANDS:
                self.assertIn(command, script)
            if shutil.which(shell):
                flag = "--no-execute" if shell == "fish" else "-n"
                self.write("script", script)
                self.assertEqual(self.shell(f"{shell} {flag} script").returncode, 0)

    def test_demo(self):
        done = self.run_program("demo")
        self.assertEqual(self.names("wisecrowd-demo"), ["crowd", "result"])
        self.assertRegex(done.stdout, r"Counting votes gets \d\d\.\d % of\s+the tasks right")
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        # What it shows can be typed, and gives what the demo wrote.
        before = (self.folder / "wisecrowd-demo/result/labels.csv").read_bytes()
        shown = re.findall(r"(?m)^\$ ((?:.*\\\n)*.*)$", done.stdout)
        typed = [line for line in shown if "YOUR" not in line]
        self.assertEqual(len(typed), 4)
        for line in typed:
            self.assertEqual(self.shell(line).returncode, 0, line)
        self.assertEqual((self.folder / "wisecrowd-demo/result/labels.csv").read_bytes(), before)
        self.run_program("demo")  # again, over the old one


if __name__ == "__main__":
    unittest.main()
