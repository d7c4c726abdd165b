"""A state: what goes in comes out, nothing that was acknowledged is lost, whatever happens."""
import csv
import gzip
import json
import os
import random
import resource
import sqlite3
import subprocess
import time
import unittest

from program import IN_SHELL, PROGRAM, RESULT_FILES, ProgramTest, environment


class StateTest(ProgramTest):
    def add(self, *arguments, **options):
        return json.loads(self.run_program("state", "add", "s", *arguments, "--json", **options).stdout)

    def summary(self, state="s"):
        return json.loads(self.run_program("state", "show", state, "--json").stdout)

    def rows(self, rows, name="more.csv"):
        return self.write(name, "task,worker,label\n" + "".join(f"{t},{w},{l}\n" for t, w, l in rows))

    def table(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def query(self, sql, state="s"):
        connection = sqlite3.connect(self.folder / state)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


class Commands(StateTest):
    def test_export_is_a_result_of_the_same_model(self):
        labels = self.simulate("dawid_skene", tasks=300, workers=20)
        self.run_program("state", "init", "s", labels)
        self.run_program("state", "export", "s", "--out", "exported")
        # Four answers, 70 % of them right, for two classes.
        self.run_program("aggregate", labels, "-m", "dawid_skene", "--set", "pseudo_count=1.2", "--set",
                         "diagonal_pseudo_count=1.6", "--set", "class_pseudo_count=1", "--out", "fitted")
        self.assertEqual(self.names("exported"), RESULT_FILES)
        # Probabilities are tempered as the default's are; what is known of workers is the fit's own.
        known = [[[row[name] for name in ("worker", "answers", "accuracy")] for row in self.table(folder + "/workers.csv")]
                 for folder in ("exported", "fitted")]
        self.assertEqual(known[0], known[1])
        exported, fitted = self.table("exported/labels.csv"), self.table("fitted/labels.csv")
        self.assertEqual([row["task"] for row in exported], [row["task"] for row in fitted])
        differ = [row["task"] for row, other in zip(exported, fitted) if row["label"] != other["label"]]
        self.assertLess(len(differ), 0.03 * len(fitted))
        self.assertEqual(json.loads((self.folder / "exported/run.json").read_text())["data"]["inputs"], {"state": "s"})

    def test_state_and_report_expect_the_same_share_of_right_labels(self):
        labels = self.simulate("one_coin_beta", tasks=600, workers=30, classes=3, answers_per_task=5)
        self.run_program("aggregate", labels, "--out", "result", "--report", "result.json", "--quiet")
        self.run_program("state", "init", "s", labels)
        self.run_program("report", "s", "--out", "state.json")
        shares = []
        for name in ("result.json", "state.json"):
            headlines = json.loads((self.folder / name).read_text())["headlines"]
            shares.append(next(entry for entry in headlines if entry["id"] == "accuracy"))
        for one, other in (shares, reversed(shares)):
            self.assertGreaterEqual(one["value"], other["low"])
            self.assertLessEqual(one["value"], other["high"])

    def test_answers_of_every_kind_of_file(self):
        self.run_program("state", "init", "s")
        added = self.add(self.rows([("t1", "ann", "cat"), ("t1", "bob", "dog")]), "--refit", "never")["added"]
        self.assertEqual((added["answers"], added["new_tasks"], added["new_workers"], added["new_classes"]),
                         (2, 1, 2, ["cat", "dog"]))
        self.write("a.jsonl.gz", gzip.compress(b'{"task": "t2", "worker": "ann", "label": "cat"}\n'))
        self.write("wide.csv", "task,ann,bob\nt3,cat,\n")
        both = self.add("a.jsonl.gz", self.rows([("t2", "bob", "cat")], "b.csv"))
        self.assertEqual((both["added"]["answers"], both["added"]["new_tasks"]), (2, 1))
        self.assertEqual(self.add("wide.csv", "--wide")["added"]["answers"], 1)
        self.assertEqual(self.add("-", input="item,annotator,value\nt1,eve,cat\n")["added"]["new_workers"], 1)
        self.assertEqual(self.summary()["answers"], 6)
        shown = json.loads(self.run_program("state", "show", "s", "--task", "t1", "--json").stdout)
        self.assertEqual([(a["worker"], a["label"]) for a in shown["answers"]],
                         [("ann", "cat"), ("bob", "dog"), ("eve", "cat")])
        self.assertEqual(shown["label"], "cat")
        worker = json.loads(self.run_program("state", "show", "s", "--worker", "ann", "--json").stdout)
        self.assertEqual(worker["answers"], 3)
        self.assertIn("knows no task 'x'", self.run_program("state", "show", "s", "--task", "x", code=65).stderr)
        self.assertIn("no damage", self.run_program("state", "check", "s").stdout)
        self.assertEqual(self.names(), ["a.jsonl.gz", "b.csv", "more.csv", "s", "wide.csv"], "no log is left behind")

    def test_what_is_refused_changes_nothing(self):
        labels = self.rows([("t1", "ann", "cat"), ("t2", "ann", "dog")], "first.csv")
        self.run_program("state", "init", "s", labels, "--classes", "cat,dog", "--duplicates", "reject")
        before = (self.folder / "s").read_bytes()
        bad = self.run_program("state", "add", "s", self.rows([("t3", "bob", "cat"), ("t3", "eve", "")]), code=65)
        self.assertIn("more.csv:3", bad.stderr)
        bad = self.run_program("state", "add", "s", self.rows([("t3", "bob", "cat"), ("t3", "eve", "eel")]), code=65)
        self.assertIn("'eel'", bad.stderr)
        bad = self.run_program("state", "add", "s", self.rows([("t3", "bob", "cat"), ("t1", "ann", "dog")]), code=65)
        self.assertIn("worker 'ann' has answered task 't1' before", bad.stderr)
        good = self.rows([("t3", "bob", "cat")], "good.csv")
        self.run_program("state", "add", "s", good, "missing.csv", code=66)
        self.assertEqual((self.folder / "s").read_bytes(), before)
        self.assertIn("is there already", self.run_program("state", "init", "s", labels, code=73).stderr)

    def test_it_fits_itself_while_it_is_small(self):
        labels = self.simulate("dawid_skene", tasks=200, workers=10)
        lines = (self.folder / labels).read_text().splitlines()
        random.Random(1).shuffle(lines[1:])
        for i, part in enumerate((lines[1:500], lines[500:510], lines[510:])):
            self.write(f"part{i}.csv", "\n".join([lines[0], *part]) + "\n")
        self.run_program("state", "init", "s", "part0.csv")
        few = self.add("part1.csv")
        self.assertFalse(few["refitted"])
        self.assertEqual(few["summary"]["staleness"]["answers_since"], 10)
        many = self.add("part2.csv")
        self.assertTrue(many["refitted"])
        self.assertEqual(many["summary"]["staleness"]["answers_since"], 0)
        self.run_program("state", "init", "whole", labels)
        self.assertEqual(dict(self.query("SELECT task, label FROM labels")),
                         dict(self.query("SELECT task, label FROM labels", "whole")))

    def test_people_can_look_into_it(self):
        self.run_program("state", "init", "s", self.rows([('"t,1"', "ann", "cat"), ('"t,1"', "bob", "cat"), ("u", "bob", "dog")]))
        self.assertEqual(self.query("SELECT task, label, answers FROM labels ORDER BY task"), [("t,1", "cat", 2), ("u", "dog", 1)])
        self.assertEqual(self.query("SELECT worker, answers FROM workers ORDER BY worker"), [("ann", 1), ("bob", 2)])
        self.assertEqual(self.query("SELECT * FROM answers WHERE task = 'u'"), [("u", "bob", "dog")])
        self.assertEqual(self.query("PRAGMA journal_mode"), [("wal",)])

    def test_text_fits_the_screen(self):
        long = "a very long name, longer than any terminal is wide, " * 4
        self.run_program("state", "init", "s", self.rows([(f'"{long}{i}"', f'"{long}w"', f'"class {long}"') for i in range(9)]))
        for more in ([], ["--task", long + "1"], ["--worker", long + "w"]):
            for line in self.run_program("state", "show", "s", *more).stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)


class Safety(StateTest):
    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def batch(self, name, size):
        """Answers of a worker of their own to tasks that are there."""
        chance = random.Random(name)
        return self.rows([(f"task_{t:08d}", name, chance.randrange(2)) for t in chance.sample(range(2000), size)], f"{name}.csv")

    def stored(self):
        return dict(self.query("SELECT worker, count(*) FROM answers GROUP BY worker"))

    def test_two_hundred_kills(self):
        size = 300
        labels = self.simulate("dawid_skene", tasks=2000, workers=40)
        self.run_program("state", "init", "s", labels)
        usual = min(self.time_of(f"warm{i}", size) for i in range(3))
        random.seed(7)
        acknowledged, kills = {f"warm{i}" for i in range(3)}, 0
        for i in range(1000):
            if kills == 200:
                break
            name = f"k{i}"
            running = self.start("state", "add", "s", self.batch(name, size), "--refit", "never")
            time.sleep(random.uniform(0, 1.5 * usual))
            running.kill()
            running.communicate()
            if running.returncode == 0:
                acknowledged.add(name)
            else:
                kills += 1
            if i % 25 == 0:
                self.check_stored(acknowledged, size)
        self.assertEqual(kills, 200)
        self.check_stored(acknowledged, size)
        self.assertIn("no damage", self.run_program("state", "check", "s").stdout)
        self.run_program("state", "add", "s", self.batch("after", size))

    def time_of(self, name, size):
        file, began = self.batch(name, size), time.monotonic()
        self.run_program("state", "add", "s", file, "--refit", "never")
        return time.monotonic() - began

    def check_stored(self, acknowledged, size):
        stored = self.stored()
        for name, count in stored.items():
            if not name.startswith("worker_"):
                self.assertEqual(count, size, f"a part of {name} is there")
        self.assertEqual(acknowledged - set(stored), set(), "acknowledged and lost")

    def test_several_writers_at_once(self):
        labels = self.simulate("dawid_skene", tasks=2000, workers=40)
        self.run_program("state", "init", "s", labels)
        names = [f"w{i}" for i in range(12)]
        running = [self.start("state", "add", "s", self.batch(name, 100)) for name in names]
        running.append(self.start("state", "refit", "s"))
        for process in running:
            _, errors = process.communicate(timeout=120)
            self.assertEqual((process.returncode, errors), (0, ""))
        stored = self.stored()
        self.assertEqual([stored[name] for name in names], [100] * 12)
        self.assertIn("no damage", self.run_program("state", "check", "s").stdout)

    def test_a_kill_while_it_is_made(self):
        labels = self.simulate("dawid_skene", tasks=20000, workers=40)
        for _ in range(5):
            running = self.start("state", "init", "s", labels)
            while running.poll() is None and not list(self.folder.glob(".s.tmp-*")):
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.05))
            running.kill()
            running.communicate()
            if running.returncode != 0:
                self.assertFalse((self.folder / "s").exists())
            else:
                (self.folder / "s").unlink()
        self.run_program("state", "init", "s", labels)
        self.assertEqual(self.names(), ["crowd", "s"], "what killed ones left is removed")

    def test_writing_that_fails(self):
        labels = self.simulate("dawid_skene", tasks=2000, workers=40)
        self.run_program("state", "init", "s", labels)
        size = (self.folder / "s").stat().st_size
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        failed = self.run_program("state", "add", "s", self.batch("x", 500), code=74, preexec_fn=limit)
        self.assertIn("cannot", failed.stderr)
        self.assertIn("Nothing was changed", failed.stderr)
        self.run_program("state", "init", "t", labels, code=73, preexec_fn=limit)
        self.assertNotIn("t", self.names())
        self.assertEqual(self.summary()["answers"], 10000)
        self.assertEqual((self.folder / "s").stat().st_size, size)
        self.assertIn("no damage", self.run_program("state", "check", "s").stdout)

    def test_full_disk(self):
        labels = self.simulate("dawid_skene", tasks=2000, workers=40)
        self.run_program("state", "init", "s", labels)
        room = (self.folder / "s").stat().st_size // 1024 + 60
        (self.folder / "disk").mkdir()
        script = f"mount -t tmpfs -o size={room}k tmpfs disk && cp s disk/s && ( {IN_SHELL} state add disk/s {self.batch('x', 1500)}; " \
                 f"echo code $?; {IN_SHELL} state check disk/s; {IN_SHELL} state show disk/s )"
        done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", script], cwd=self.folder,
                              env=environment(), capture_output=True, text=True, timeout=60)
        if "code" not in done.stdout:
            self.skipTest(f"a small disk cannot be mounted here: {done.stderr.strip()}")
        self.assertIn("code 74", done.stdout)
        self.assertIn("no room left", done.stderr)
        self.assertIn("no damage", done.stdout)
        self.assertIn("10,000 answers", done.stdout)

    def test_damage_is_said(self):
        self.run_program("state", "init", "s", self.simulate("dawid_skene", tasks=500, workers=20))
        good = (self.folder / "s").read_bytes()
        more = self.batch("x", 5)
        flipped = bytearray(good)
        for place in range(200, len(flipped), 53):
            flipped[place] ^= 0x55
        for damage, words in ((b"garbage " * 500, "is no state"), (good[: len(good) // 2], "damaged"),
                              (bytes(flipped), "damaged"), (b"", "an empty file")):
            self.write("s", damage)
            for command in (["show", "s"], ["add", "s", more], ["check", "s"], ["refit", "s"]):
                failed = self.run_program("state", *command, code=65)
                self.assertIn(words, failed.stderr)
                self.assertIn("state init", failed.stderr)
        self.write("s", good)
        connection = sqlite3.connect(self.folder / "s")
        connection.execute("UPDATE worker SET counts = zeroblob(32) WHERE id = 3")
        connection.commit()
        connection.close()
        self.assertIn("is not the sum of its answers", self.run_program("state", "check", "s", code=65).stderr)
        self.run_program("state", "refit", "s")
        self.assertIn("no damage", self.run_program("state", "check", "s").stdout)

    def test_a_newer_layout(self):
        self.run_program("state", "init", "s")
        self.query("PRAGMA user_version = 99")
        self.assertIn("update wisecrowd", self.run_program("state", "show", "s", code=65).stderr)

    def test_a_state_that_may_only_be_read(self):
        self.run_program("state", "init", "s", self.simulate("dawid_skene", tasks=100, workers=10))
        more = self.batch("x", 5)
        (self.folder / "s").chmod(0o444)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        as_nobody = {}
        if os.geteuid() == 0:  # root may write everywhere
            if subprocess.run(["true"], preexec_fn=lambda: os.setuid(65534)).returncode != 0 or not self.nobody_may_run():
                self.skipTest("cannot run the program as another user")
            as_nobody = {"preexec_fn": lambda: os.setuid(65534)}
        self.assertIn("500 answers", self.run_program("state", "show", "s", **as_nobody).stdout)
        refused = self.run_program("state", "add", "s", more, code=74, **as_nobody)
        self.assertIn("read-only", refused.stderr)

    def nobody_may_run(self):
        try:
            return subprocess.run([PROGRAM, "--version"], preexec_fn=lambda: os.setuid(65534), capture_output=True).returncode == 0
        except PermissionError:
            return False


if __name__ == "__main__":
    unittest.main()
