"""Replays, savings and advice as a user sees them."""
import csv
import fcntl
import json
import os
import random
import struct
import unittest
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path

from program import PROGRAM, ProgramTest

HAS_PNG = (Path(PROGRAM).resolve().parent / "libwisecrowd_png.so").exists()


class Select(ProgramTest):
    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def crowd(self):
        return self.simulate("hammer_spammer", tasks=80, workers=12, answers_per_task=6, seed=3)

    def replay(self, *more, out="replayed"):
        return self.run_program("select", "--replay", self.crowd(), "--gold", "crowd/gold.csv", "--seeds", 3, "--out", out,
                                *more)

    def test_replay_writes_curves_that_fit_together(self):
        done = self.replay("--policies", "random,entropy/random,expected_information")
        files = ["curves.csv", *["curves.png"] * HAS_PNG, "curves.svg", "savings.csv", "seeds.csv", "summary.json"]
        self.assertEqual(self.names("replayed"), files)
        summary = json.loads((self.folder / "replayed/summary.json").read_text())
        self.assertEqual(summary["all_answers"], 480)
        self.assertEqual(summary["seeds"], 3)
        self.assertEqual([entry["policy"] for entry in summary["policies"]],
                         ["random", "entropy/random", "expected_information"])
        curves, seeds = self.rows("replayed/curves.csv"), self.rows("replayed/seeds.csv")
        for policy in ("random", "entropy/random", "expected_information"):
            points = [row for row in curves if row["policy"] == policy]
            self.assertEqual(float(points[-1]["answers"]), 480)
            self.assertEqual(float(points[-1]["cost"]), 480)
            self.assertAlmostEqual(float(points[-1]["accuracy"]), summary["accuracy_of_all_answers"], places=5)
            for point in points:
                own = [float(row["accuracy"]) for row in seeds
                       if row["policy"] == policy and row["answers"] == point["answers"]]
                self.assertEqual(len(own), 3)
                self.assertAlmostEqual(sum(own) / 3, float(point["accuracy"]), places=5)
                self.assertLessEqual(float(point["low"]), float(point["accuracy"]) + 1e-6)
        saved = {(row["policy"], row["slack"]): row for row in self.rows("replayed/savings.csv")}
        self.assertEqual(float(saved["random", "0"]["saved"]), 0)
        self.assertEqual(len(saved), 6)
        strict = saved["expected_information", "0"]
        self.assertLessEqual(float(strict["saved_low"]), float(strict["saved_high"]))
        self.assertIn("fewer answers than with random", done.stdout)
        self.assertIn("all answers", done.stdout)
        picture = ElementTree.parse(self.folder / "replayed/curves.svg").getroot()
        self.assertTrue(picture.tag.endswith("svg"))
        self.assertEqual(sum(element.get("stroke-width") == "2" for element in picture.iter()), 3)

    def test_same_seed_same_files(self):
        self.replay("--threads", 1, out="one")
        self.replay("--threads", 3, out="three")
        for name in ("curves.csv", "seeds.csv", "savings.csv", "curves.svg", *["curves.png"] * HAS_PNG):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "three" / name).read_bytes(), name)

    @unittest.skipUnless(HAS_PNG, "built without cairo")
    def test_the_picture_in_pixels(self):
        done = self.replay("--policies", "random,entropy/random")
        self.assertIn("curves.svg, curves.png, summary.json", " ".join(done.stdout.split()))
        page = ElementTree.parse(self.folder / "replayed/curves.svg").getroot()
        png = (self.folder / "replayed/curves.png").read_bytes()
        self.assertEqual(png[:16], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        width, height, bits, kind = struct.unpack(">IIBB", png[16:26])
        self.assertEqual((width, height, bits, kind), (2 * int(page.get("width")), 2 * int(page.get("height")), 8, 2))
        data, at = b"", 8
        while at < len(png):
            size, name = struct.unpack(">I4s", png[at:at + 8])
            self.assertEqual(zlib.crc32(png[at + 4:at + 8 + size]), struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0])
            data += png[at + 8:at + 8 + size] * (name == b"IDAT")
            at += 12 + size
        self.assertEqual(name, b"IEND")
        self.assertEqual(len(zlib.decompress(data)), height * (1 + 3 * width))

    def test_without_the_plugin_it_says_so(self):
        os.environ["WISECROWD_PNG_PLUGIN"] = str(self.folder / "none.so")
        self.addCleanup(os.environ.pop, "WISECROWD_PNG_PLUGIN")
        done = self.replay("--policies", "random")
        self.assertNotIn("curves.png,", done.stdout)
        self.assertIn("No curves.png: the plugin that draws PNG pictures cannot be loaded", " ".join(done.stdout.split()))
        self.assertEqual(self.names("replayed"), ["curves.csv", "curves.svg", "savings.csv", "seeds.csv", "summary.json"])
        summary = json.loads((self.folder / "replayed/summary.json").read_text())
        self.assertIn("none.so", summary["no_png"])
        written = json.loads(self.replay("--policies", "random", "--json").stdout)["written"]
        self.assertNotIn("curves.png", written["files"])
        self.assertEqual(written["no_png"], summary["no_png"])

    def test_any_file_name(self):
        """The title is the path that was read: whatever a file may be called."""
        answers = (self.folder / self.crowd()).read_bytes()
        for name in (b"<&\"'>.csv", "שלום-数据-😀.csv".encode(), b"\xff\xc3.csv", b"a\nb\t.csv", b"x" * 250):
            with self.subTest(name):
                (self.folder / os.fsdecode(name)).write_bytes(answers)
                done = self.run_program("select", "--replay", os.fsdecode(name), "--gold", "crowd/gold.csv", "--seeds", 1,
                                        "--answers-per-round", 240, "--policies", "random", "--json", "--out", "named")
                self.assertEqual("curves.png" in json.loads(done.stdout)["written"]["files"], HAS_PNG)
                ElementTree.parse(self.folder / "named/curves.svg")

    def test_stop_rule_and_offers(self):
        done = self.replay("--policies", "random,expected_information", "--set", "expected_information.delta=0.05")
        self.assertIn("stopped by its own rule in 3 of 3 repetitions", done.stdout)
        workers = sorted({row["worker"] for row in self.rows("crowd/answers.csv")})
        self.write("offers.csv", "worker,capacity,cost\n" + "".join(f"{name},4,2.5\n" for name in workers))
        self.replay("--policies", "random", "--workers", "offers.csv", out="limited")
        last = self.rows("limited/curves.csv")[-1]
        self.assertEqual((float(last["answers"]), float(last["cost"])), (48, 120))

    def test_simulated_world(self):
        done = self.run_program("select", "--simulate", "hammer_spammer", "--tasks", 60, "--crowd", 15, "--seeds", 2,
                                "--set", "hammer_spammer.gamma=0.4", "--first-answers", 1, "--most-answers", 300, "--json",
                                "--out", "drawn")
        summary = json.loads(done.stdout)
        self.assertEqual(summary["replay"]["simulated"], "hammer_spammer")
        self.assertEqual(summary["all_answers"], 300)
        heights = {entry["policy"]: entry["mean_height"] for entry in summary["policies"]}
        self.assertGreater(heights["expected_information"], heights["random"])

    def test_advice(self):
        # Eight good workers, one who always says yes, one who swaps the classes.
        lines = ["task,worker,label"]
        for task in range(120):
            truth = task % 2
            for worker in range(8):
                wrong = (task * 7 + worker * 5) % 11 == 0
                lines.append(f"t{task},good{worker},{'yes' if truth != wrong else 'no'}")
            lines.append(f"t{task},sayer,yes")
            lines.append(f"t{task},swapper,{'no' if truth else 'yes'}")
        lines += ["lonely,good0,yes", "split,good0,yes", "split,good1,no"]
        self.write("labels.csv", "\n".join(lines) + "\n")
        done = self.run_program("select", "--advise", "labels.csv", "--out", "advice")
        workers = {row["worker"]: row for row in self.rows("advice/workers.csv")}
        self.assertEqual(workers["sayer"]["advice"], "stop")
        self.assertEqual(workers["swapper"]["advice"], "recode")
        self.assertEqual({workers[f"good{n}"]["advice"] for n in range(8)}, {"keep"})
        for row in workers.values():
            self.assertLessEqual(float(row["accuracy_low"]), float(row["accuracy_high"]))
        tasks = self.rows("advice/tasks.csv")
        self.assertEqual({tasks[0]["task"], tasks[1]["task"]}, {"split", "lonely"})
        gains = [float(row["expected_gain"]) for row in tasks]
        self.assertEqual(gains, sorted(gains, reverse=True))
        self.assertIn("keep 8, retrain 0, recode 1, stop asking 1", done.stdout)
        # Nobody is proposed who has answered already.
        said = {tuple(line.split(",")[:2]) for line in lines[1:]}
        for row in tasks:
            self.assertNotIn((row["task"], row["ask"]), said)

    def test_copies_are_told_of(self):
        # Half of the crowd repeats one worker who is right in 73 % of the tasks.
        draw = random.Random(4)
        lines = ["task,worker,label"]
        for task in range(300):
            said = [(task % 2 == 0) == (draw.random() < 0.73) for _ in range(16)]
            said = [said[0]] * 14 + said
            lines += [f"t{task},w{worker:02},{'yes' if answer else 'no'}" for worker, answer in enumerate(said)]
        self.write("labels.csv", "\n".join(lines) + "\n")
        # The default counts them once; other methods cannot, and say so.
        for method, code, said in (
            ("automatic", "dependent_workers", "15 workers answer as one and contradict the rest on "),
            ("majority_vote", "copied_workers", "15 workers answer as one: w00, w01, "),
        ):
            done = self.run_program("aggregate", "labels.csv", "--method", method, "--out", "result")
            text = " ".join((done.stdout + done.stderr).split())
            self.assertIn(said, text)
            doubtful = "not to be relied on, because some workers answer as one"
            (self.assertIn if method == "majority_vote" else self.assertNotIn)(doubtful, text)
            warnings = json.loads((self.folder / "result/run.json").read_text())["warnings"]
            self.assertEqual([w["code"] for w in warnings].count(code), 1)
        done = self.run_program("select", "--advise", "labels.csv", "--out", "advice")
        self.assertIn("15 workers answer as one", " ".join((done.stdout + done.stderr).split()))
        self.assertRegex(done.stdout, r"w09 +check .*with 14 others it contradicts *\n")
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 100)
        workers = {row["worker"]: row for row in self.rows("advice/workers.csv")}
        for n in range(15):
            self.assertNotEqual(workers[f"w{n:02}"]["advice"], "keep")
            self.assertTrue(workers[f"w{n:02}"]["reason"].startswith("with 14 others it contradicts"))
        self.assertIn("copied_workers", [w["code"] for w in json.loads((self.folder / "advice/summary.json").read_text())["warnings"]])

    def test_choices_from_a_state(self):
        labels = self.crowd()
        self.run_program("state", "init", "crowd.db", labels, "--quiet")
        done = self.run_program("select", "crowd.db", "--budget", 20)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual(len(rows), 20)
        said = {(row["task"], row["worker"]) for row in self.rows(labels)}
        self.assertFalse(said & {(row["task"], row["worker"]) for row in rows})
        self.assertEqual(len({row["task"] for row in rows}), 20)  # one pair per task and batch
        # Prices, capacities, and somebody whom the state does not know.
        self.write("offers.csv", "worker,cost,capacity,available\nworker_000001,2,1,yes\nnew,1,3,\nworker_000002,0.5,,no\n")
        self.run_program("select", "crowd.db", "-b", 100, "-w", "offers.csv", "--out", "chosen.csv")
        chosen = self.rows("chosen.csv")
        self.assertEqual(sorted(row["worker"] for row in chosen), ["new", "new", "new", "worker_000001"])
        self.assertEqual(sum(float(row["cost"]) for row in chosen), 5)

    def test_a_loop_with_features_learns_as_it_asks(self):
        labels = self.simulate("lftc", tasks=150, workers=15, test_tasks=20, seed=2)
        features = ("-f", "crowd/features.npy", "-t", "crowd/tasks.csv")
        quick = ("--hidden", 8, "--set", "epochs=4", "--set", "first_epochs=4", "--set", "round_epochs=2")
        self.run_program("state", "init", "crowd.db", labels)
        for words, part in (
            (("crowd.db", "-b", 5, "-p", "dalc"), "needs --features"),
            ((labels, "-b", 5, "-p", "dalc", *features), "needs a state"),
            (("crowd.db", "-b", 5, "-p", "entropy", *features), "choose dalc, bald or predictive_entropy"),
        ):
            self.assertIn(part, self.run_program("select", *words, code=64).stderr)
        self.assertNotIn("crowd.db.loop", self.names())
        for policy in ("dalc", "bald", "predictive_entropy"):
            done = self.run_program("select", "crowd.db", "-b", 5, "-p", policy, "--loop", f"{policy}.loop", *features, *quick)
            rows = list(csv.DictReader(done.stdout.splitlines()))
            self.assertEqual(len({row["task"] for row in rows}), 5)
            self.assertEqual(list(rows[0]), ["task", "worker", "uncertainty", "reliability", "cost"])
        # Two of five are answered; the others wait, and their tasks are left alone.
        self.run_program("select", "crowd.db", "-b", 5, "-p", "dalc", *features, *quick, "--out", "asked.csv")
        asked = self.rows("asked.csv")
        self.write("more.csv", "task,worker,label\n" + "".join(f"{row['task']},{row['worker']},1\n" for row in asked[:2]))
        self.run_program("state", "add", "crowd.db", "more.csv")
        self.write("offers.csv", "worker,cost,response\nsomebody new,2,0.5\n")
        done = self.run_program("select", "crowd.db", "-b", 5, "-p", "dalc", *features, "-w", "offers.csv", "--json")
        found = json.loads(done.stdout)
        self.assertEqual((found["new_answers"], found["waiting"], found["trained_now"]), (2, 3, True))
        self.assertEqual([question["worker"] for question in found["questions"]], ["somebody new"] * 2)
        self.assertFalse({question["task"] for question in found["questions"]} & {row["task"] for row in asked[2:]})
        # Two at a time would overwrite what the other has learned: the second one is refused, and nothing changes.
        before = (self.folder / "crowd.db.loop").read_bytes()
        with open(self.folder / "crowd.db.loop.lock", "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            done = self.run_program("select", "crowd.db", "-b", 5, "-p", "dalc", *features, code=74)
        self.assertIn("crowd.db.loop' is in use by another program: try again when it is done", done.stderr)
        self.assertEqual((self.folder / "crowd.db.loop").read_bytes(), before)
        self.run_program("select", "crowd.db", "-b", 5, "-p", "dalc", *features)  # what a dead program left is no lock
        self.assertNotIn("crowd.db.loop.lock", self.names())
        # A loop goes on as it began, and a file that is none is refused and left alone.
        done = self.run_program("select", "crowd.db", "-b", 5, "-p", "bald", *features, code=64)
        self.assertIn("began with policy=dalc", done.stderr)
        self.write("none.loop", "garbage")
        done = self.run_program("select", "crowd.db", "-b", 5, "-p", "dalc", "--loop", "none.loop", *features, code=65)
        self.assertIn("none.loop", done.stderr)
        self.assertEqual((self.folder / "none.loop").read_text(), "garbage")

    def test_the_loop_is_replayed_and_drawn(self):
        answers = self.simulate("lftc", tasks=120, workers=12, test_tasks=40, seed=2)
        words = ("dalc-loop", answers, "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "-g", "crowd/gold.csv", "--seeds", 2,
                 "--hidden", 8, "--set", "first_answers=20", "--set", "round_answers=60", "--set", "first_epochs=4", "--set",
                 "round_epochs=2", "--set", "epochs=4")
        done = self.run_program(*words, "--out", "loop")
        self.assertIn("Written to loop", done.stdout)
        self.assertEqual(set(self.names("loop")), {"curves.csv", "curves.svg", "savings.csv", "seeds.csv", "summary.json", *["curves.png"] * HAS_PNG})
        curves = self.rows("loop/curves.csv")
        seeds = self.rows("loop/seeds.csv")
        for row in curves:
            own = [float(one["accuracy"]) for one in seeds if (one["policy"], one["answers"]) == (row["policy"], row["answers"])]
            self.assertEqual(len(own), 2)
            self.assertAlmostEqual(float(row["accuracy"]), sum(own) / 2)
            self.assertLessEqual(float(row["low"]), float(row["accuracy"]))
            self.assertGreaterEqual(float(row["high"]), float(row["accuracy"]))
        texts = [element.text for element in ElementTree.parse(self.folder / "loop/curves.svg").getroot().iter() if element.text]
        for text in ("rd", "ac", "ad", "dalc", "all answers", "crowd/answers.csv, 2 repetitions"):
            self.assertIn(text, texts)
        self.run_program(*words, "--threads", 1, "--out", "again")
        for name in ("curves.csv", "seeds.csv", "savings.csv", "curves.svg"):
            self.assertEqual((self.folder / "loop" / name).read_bytes(), (self.folder / "again" / name).read_bytes(), name)
        # One repetition has no interval.
        self.run_program(*words[:9], 1, *words[10:], "--policies", "dalc", "--out", "one", "--quiet")
        self.assertEqual({(row["policy"], row["low"]) for row in self.rows("one/curves.csv")}, {("dalc", "")})
        self.assertIn("there is no policy 'best'", self.run_program(*words, "--policies", "rd,best", code=64).stderr)

    def test_refusals(self):
        labels = self.crowd()
        for words, code, part in (
            ((), 64, "select what?"),
            (("--replay", labels), 64, "--replay needs --gold"),
            (("--replay", labels, "--advise", labels), 64, "do not go together"),
            (("--replay", labels, "--gold", "crowd/gold.csv", "--policies", "entrpy"), 64, "did you mean 'entropy'?"),
            (("--replay", labels, "--gold", "crowd/gold.csv", "--policies", "bald"), 65, "needs features"),
            (("--replay", labels, "--gold", "crowd/gold.csv", "--policies", "random/nobody"), 64, "nobody"),
            (("--replay", labels, "--gold", "crowd/gold.csv", "--policies", "random,random"), 64, "named twice"),
            (("state.db",), 64, "needs --budget"),
            (("nowhere.db", "--budget", 5), 66, "nowhere.db"),
        ):
            done = self.run_program("select", *words, code=code)
            self.assertIn(part, done.stderr, words)
        self.write("offers.csv", "worker,cost\na,free\n")
        done = self.run_program("select", "--replay", labels, "--gold", "crowd/gold.csv", "--workers", "offers.csv", code=65)
        self.assertIn("offers.csv:2: column 'cost': 'free' is not a number above 0", done.stderr)


if __name__ == "__main__":
    unittest.main()
