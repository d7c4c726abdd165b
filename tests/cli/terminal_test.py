"""What a person at a terminal sees: colour, progress, nothing left behind, lines that fit."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata
import unittest

from program import PROGRAM, ProgramTest, environment


def width(text):
    return sum(0 if unicodedata.combining(c) or c == "\u200d" else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def without_bars(shown):
    """A busy machine makes a short run long enough for a bar, which erases its line, colour or not."""
    return re.sub("\r[^\r\n]*\x1b\\[K", "", shown)


class Terminal(ProgramTest):
    def at_terminal(self, *arguments, columns=80, **more):
        """Runs with a terminal for all three streams; returns exit code and everything shown."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal here: {error}")
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        running = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdin=theirs, stdout=theirs,
                                   stderr=theirs, env=environment(**{"TERM": "xterm-256color", **more}), close_fds=True)
        os.close(theirs)
        shown = b""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                block = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not block:
                break
            shown += block
        os.close(ours)
        return running.wait(timeout=10), shown.decode().replace("\r\n", "\n")

    def test_colour_only_where_wanted(self):
        labels = self.simulate(tasks=50)
        code, shown = self.at_terminal("aggregate", labels)
        self.assertEqual(code, 0)
        self.assertIn("\x1b[1m", shown)
        self.assertNotIn("\x1b", without_bars(self.at_terminal("aggregate", labels, NO_COLOR="1")[1]))
        self.assertNotIn("\x1b", self.at_terminal("aggregate", labels, TERM="dumb")[1])
        self.assertNotIn("\x1b", self.run_program("aggregate", labels).stdout)
        code, shown = self.at_terminal("aggregate", "nowhere.csv")
        self.assertEqual(code, 66)
        self.assertIn("\x1b[1;31merror:\x1b[0m", shown)

    def test_progress_is_shown_and_taken_away(self):
        labels = self.simulate(tasks=20000, workers=200, classes=4)
        long = ["aggregate", labels, "--method", "dawid_skene", "--set", "tolerance=0", "--set", "restarts=40"]
        code, shown = self.at_terminal(*long)
        self.assertEqual(code, 0)
        bars = [part for part in shown.split("\r") if part.startswith("iterating")]
        self.assertTrue(bars, "a long run shows a bar")
        self.assertRegex(bars[-1], r"\d+/\d+  objective -\d")
        self.assertRegex(bars[-1], r"/s  .* left")
        for bar in bars:
            self.assertLess(width(bar.split("\x1b")[0].rstrip("\n")), 80)
        self.assertTrue(re.search("\r\x1b\\[K[^\r]*Data", shown), "the bar is gone before the summary")
        self.assertNotIn("iterating", self.at_terminal(*long, "--quiet")[1])
        self.assertEqual(self.run_program(*long).stderr, "", "no bar when piped")

    def test_tables_fit(self):
        odd = ["x" * 200, "漢字" * 60, "tab\tand\x1b[31mred", "é́" * 50, "🧑‍🔬" * 30]
        rows = ["task,worker,label"]
        for task in range(30):
            rows += [f't{task},"{name}","{odd[(task + i) % 3]}"' for i, name in enumerate(odd)]
        self.write("odd.csv", "\n".join(rows) + "\n")
        self.write("gold.csv", "task,label\n" + "\n".join(f't{t},"{odd[t % 3]}"' for t in range(30)) + "\n")
        for columns in (80, 60):
            for command in (["aggregate", "odd.csv"], ["describe", "odd.csv"]):
                code, shown = self.at_terminal(*command, columns=columns, NO_COLOR="1")
                self.assertEqual(code, 0, shown)
                shown = without_bars(shown)
                self.assertNotIn("\x1b", shown, "control characters of names are not passed on")
                for line in shown.splitlines():
                    self.assertLessEqual(width(line), columns, line)
        code, shown = self.at_terminal("compare", "odd.csv", "--gold", "gold.csv", NO_COLOR="1")
        self.assertEqual(code, 0, shown)
        for line in shown.splitlines():
            self.assertLessEqual(width(line), 80, line)


if __name__ == "__main__":
    unittest.main()
