"""Reports as a user makes them: at once, later from the folder, of odd names, of moved and changed answers."""
import csv
import json
import re
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, environment

HOSTILE = ["<script>alert(1)</script>", "</script><!--", '"quotes" \'n\' `ticks`', "🦉", "שלום \u202e evil", "x" * 10_000,
           "new\nline", "a,b", "&amp;"]


def without_times(document):
    """The same without what no two runs share."""
    document = json.loads(json.dumps(document))
    document["run"].pop("seconds")
    document["run"].pop("timings")
    document["run"].pop("command")
    for row in document.get("comparison", {}).get("rows", []):
        row.pop("seconds", None)
    return document


class Report(ProgramTest):
    def json_of(self, name):
        return json.loads((self.folder / name).read_text())

    def aggregated(self, *more, out="result"):
        labels = self.simulate("dawid_skene", tasks=300, workers=15, classes=3, seed=5)
        self.run_program("aggregate", labels, "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out", out,
                         "--report", "now.json", *more)
        return out

    def test_now_and_later_are_the_same(self):
        self.aggregated()
        self.run_program("report", "result", "--out", "later.json")
        self.assertEqual(without_times(self.json_of("now.json")), without_times(self.json_of("later.json")))
        printed = json.loads(self.run_program("report", "result", "--json").stdout)
        self.assertEqual(without_times(printed), without_times(self.json_of("now.json")))

    def test_later_is_the_same_with_blanks_other_methods_and_seeds(self):
        for method, *more in (("majority_vote", "--abstain-below", 0.7), ("wawa", "--seed", 9), ("glad",),
                              ("dawid_skene", "--init", "majority_vote", "--finish", "ibcc")):
            self.aggregated("--method", method, *more)
            self.run_program("report", "result", "--out", "later.json", "--threads", 1)
            self.assertEqual(without_times(self.json_of("now.json")), without_times(self.json_of("later.json")), method)

    def test_later_is_the_same_with_the_tie_rule_of_the_last_method(self):
        """Two answers per task: many ties, which fractional scoring shares."""
        labels = self.simulate("hammer_spammer", tasks=200, workers=8, answers_per_task=2, seed=3)
        for more in (["-m", "majority_vote", "--set", "ties=fractional"],
                     ["-m", "majority_vote", "--finish", "em", "--set", "finish.ties=fractional"],
                     ["-m", "majority_vote", "--set", "ties=fractional", "--finish", "em"]):
            self.run_program("aggregate", labels, "--gold", "crowd/gold.csv", "--gold-for", "evaluation", "--out", "result",
                             "--report", "now.json", *more)
            self.run_program("report", "result", "--out", "later.json")
            self.assertEqual(without_times(self.json_of("now.json")), without_times(self.json_of("later.json")), more)
            rule = "fractional" if more[-1].endswith("fractional") else "lowest"
            self.assertEqual(self.json_of("result/run.json")["tie_rule"], rule)

    def test_what_it_says(self):
        self.aggregated()
        document = self.json_of("now.json")
        run = self.json_of("result/run.json")
        self.assertEqual(document["counts"]["tasks"], 300)
        self.assertAlmostEqual(document["gold"]["accuracy"], run["evaluation"]["accuracy"]["value"], places=3)
        self.assertIn("right", document["verdict"])
        with open(self.folder / "result/workers.csv", newline="") as file:
            workers = {row["worker"]: row for row in csv.DictReader(file)}
        table = document["workers"]
        for name, accuracy, answers in zip(table["name"], table["accuracy"], table["answers"]):
            self.assertAlmostEqual(accuracy, float(workers[name]["accuracy"]), places=3)
            self.assertEqual(answers, int(workers[name]["answers"]))
        page = (Path(__file__).resolve().parents[2] / "docs/REPORT.md").read_text()
        for key in [*document, *document["workers"], *document["tasks"], *document["run"], *document["agreement"]]:
            self.assertIn(f"`{key}", page)
        methods = [row["method"] for row in document["comparison"]["rows"]]
        self.assertIn("majority_vote", methods)
        self.assertEqual([row["this"] for row in document["comparison"]["rows"]].count(True), 1)

    def test_numbers(self):
        """At once and later, of one dimension and of several; what is on the page is what is in the files and in the manual."""
        manual = (Path(__file__).resolve().parents[2] / "docs/REPORT.md").read_text()
        for dimensions, columns in ((1, "value"), (2, "value_1,value_2")):
            self.run_program("simulate", "gaussian_numbers", "--tasks", 200, "--workers", 12, "--dimensions", dimensions, "--seed", 4,
                             "--out", "crowd", "--quiet")
            self.run_program("aggregate", "crowd/answers.csv", "--answers", "numbers", "--columns", f"task,worker,{columns}", "--gold",
                             "crowd/gold.csv", "--gold-for", "evaluation", "--out", "result", "--report", "now.json", "--quiet")
            self.run_program("report", "result", "--out", "later.json")
            now = self.json_of("now.json")
            self.assertEqual(without_times(now), without_times(self.json_of("later.json")))
            run = self.json_of("result/run.json")
            for d in range(dimensions):
                self.assertAlmostEqual(now["gold"]["dimensions"][d]["absolute_error"]["value"],
                                       run["evaluation"]["dimensions"][d]["absolute_error"]["value"], places=3)
            with open(self.folder / "result/estimates.csv", newline="") as file:
                rows = {row["task"]: list(row.values())[1:] for row in csv.DictReader(file)}
            for name, estimate, deviation in zip(*(now["tasks"][key] for key in ("name", "estimate", "deviation"))):
                self.assertEqual(estimate + deviation, [float(value) for value in rows[name][:2 * dimensions]])
            for key in [*now, *now["workers"], *now["tasks"], *now["run"], *now["counts"], *now["gold"], *now["dimensions"][0]]:
                self.assertIn(f"`{key}", manual)
        self.assertEqual(json.loads(self.run_program("report", "result", "--json").stdout)["answers_kind"], "numbers")

    def test_numbers_gold_later_and_flags_of_categories(self):
        self.write("a.csv", "task,worker,value\n" + "".join(f"t{t},w{w},{t * 10 + w}\n" for t in range(9) for w in range(4)))
        self.write("gold.csv", "task,truth\n" + "".join(f"t{t},{t * 10 + 1}\n" for t in range(9)))
        self.run_program("aggregate", "a.csv", "--answers", "numbers", "--out", "result", "--quiet")
        self.run_program("report", "result", "--out", "plain.json")
        self.assertNotIn("gold", self.json_of("plain.json"))
        self.run_program("report", "result", "--gold", "gold.csv", "--compare", "none", "--out", "scored.json")
        self.assertAlmostEqual(self.json_of("scored.json")["gold"]["dimensions"][0]["absolute_error"]["value"], 0.5)
        self.write("compared.json", '{"by": "gold", "methods": []}')
        for flags in (["--compare", "compared.json"], ["--replay", "result"]):
            done = self.run_program_anyhow("report", "result", *flags, "--out", "refused.json")
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse((self.folder / "refused.json").exists())
        # Nothing half done: the report is refused before the work.
        self.write("taken.html", "mine")
        self.run_program("aggregate", "a.csv", "--answers", "numbers", "--out", "second", "--report", "taken.html", code=73)
        self.assertFalse((self.folder / "second").exists())
        self.write("a.csv", "task,worker,value\nt1,w1,5\n")
        self.assertIn("not those", self.run_program("report", "result", code=65).stderr)

    def test_learning(self):
        self.run_program("simulate", "dawid_skene", "--tasks", 200, "--gaussian-features", 1.5, "--test-tasks", 100, "--out",
                         "crowd", "--quiet")
        self.run_program("learn", "crowd/answers.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "-g",
                         "crowd/gold.csv", "-m", "two_stage", "--set", "epochs=5", "--out", "result", "--report", "now.json")
        self.run_program("report", "result", "--out", "later.json")
        now = self.json_of("now.json")
        self.assertEqual(without_times(now), without_times(self.json_of("later.json")))
        self.assertEqual(now["kind"], "learn")
        self.assertEqual({score["part"] for score in now["learning"]["scores"]}, {"answered_tasks", "test_rows"})
        self.assertEqual(now["learning"]["rows"]["test"], 100)
        self.assertTrue(now["learning"]["curves"])
        self.assertTrue(now["gold"]["tasks"])

    def test_learning_from_gold(self):
        self.run_program("simulate", "dawid_skene", "--tasks", 200, "--gaussian-features", 1.5, "--test-tasks", 50, "--out",
                         "crowd", "--quiet")
        # Some tasks lose their answers, so that they are known by gold alone.
        lines = (self.folder / "crowd/answers.csv").read_text().splitlines(keepends=True)
        gone = {line.split(",")[0] for line in lines[1:40]}
        self.write("fewer.csv", "".join(line for line in lines if line.split(",")[0] not in gone))
        self.run_program("learn", "fewer.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "-g", "crowd/gold.csv",
                         "--gold-for", "inference", "-m", "raykar", "--out", "result", "--report",
                         "now.json")
        self.run_program("report", "result", "--out", "later.json")
        self.assertEqual(without_times(self.json_of("now.json")), without_times(self.json_of("later.json")))

    def test_hostile_names(self):
        with open(self.folder / "odd.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["task", "worker", "label"])
            for t, task in enumerate(HOSTILE):
                for w, worker in enumerate(HOSTILE):
                    writer.writerow([task, worker, HOSTILE[(t + w // 7) % len(HOSTILE)]])
        self.run_program("aggregate", "odd.csv", "--out", "result", "--report", "now.json", "-m", "dawid_skene")
        self.run_program("report", "result", "--out", "later.json")
        now = self.json_of("now.json")
        self.assertEqual(without_times(now), without_times(self.json_of("later.json")))
        for name in HOSTILE:
            if len(name) < 200:
                self.assertIn(name, now["workers"]["name"])
        self.assertTrue(any(name.endswith("(10,000 characters)") for name in now["workers"]["name"]))

    def test_page(self):
        self.write("odd.csv", "task,worker,label\n" + "".join(
            f"t{t},w{w},</script><script>alert({(t + w // 4) % 2})</script>\n" for t in range(5) for w in range(5)))
        done = self.run_program_anyhow("aggregate", "odd.csv", "--report", "page.html")
        if done.returncode:
            self.assertIn("built without the report's page", done.stderr)
            self.assertEqual(self.names(), ["odd.csv"])
            self.skipTest("this program was built without the page")
        page = (self.folder / "page.html").read_text()
        self.assertNotIn("<script>alert", page)
        data = re.search('<script type="application/json" id="wisecrowd-data">(.*?)</script>', page, re.DOTALL).group(1)
        self.assertEqual(json.loads(data)["counts"]["answers"], 25)
        self.assertNotIn("WISECROWD-TITLE", page)
        self.assertLess(len(page), 3_000_000)

    def run_program_anyhow(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=environment(), capture_output=True, text=True,
                              timeout=120)

    def test_moved_and_changed_answers(self):
        self.aggregated()
        (self.folder / "crowd").rename(self.folder / "elsewhere")
        done = self.run_program("report", "result", "--out", "later.json", code=66)
        self.assertIn("--answers", done.stderr)
        done = self.run_program("report", "result", "--out", "later.json", "--answers", "elsewhere/answers.csv", code=66)
        self.assertIn("--gold", done.stderr)
        self.run_program("report", "result", "--out", "later.json", "--answers", "elsewhere/answers.csv", "--gold",
                         "elsewhere/gold.csv")
        lines = (self.folder / "elsewhere/answers.csv").read_text().splitlines(keepends=True)
        self.write("elsewhere/answers.csv", "".join(lines[:-1]))
        done = self.run_program("report", "result", "--out", "again.json", "--answers", "elsewhere/answers.csv", "--gold",
                                "elsewhere/gold.csv", code=65)
        self.assertIn("not those", done.stderr)
        self.assertFalse((self.folder / "again.json").exists())

    def test_from_another_folder(self):
        self.aggregated()
        (self.folder / "far").mkdir()
        done = subprocess.run([PROGRAM, "report", "../result", "--out", "later.json"], cwd=self.folder / "far",
                              env=environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_other_columns_are_remembered(self):
        labels = self.simulate("dawid_skene", tasks=50, workers=6, classes=2, seed=5)
        text = (self.folder / labels).read_text()
        self.write("odd.tsv", text.replace("task,worker,label", "question,who,said").replace(",", "\t"))
        self.run_program("aggregate", "odd.tsv", "--columns", "question,who,said", "--duplicates", "reject", "--out", "result")
        self.run_program("report", "result", "--out", "later.json")
        self.assertEqual(self.json_of("later.json")["counts"]["tasks"], 50)

    def test_gold_that_came_later(self):
        labels = self.simulate("dawid_skene", tasks=100, workers=8, classes=2, seed=5)
        self.run_program("aggregate", labels, "--out", "result", "--report", "now.json")
        self.assertNotIn("gold", self.json_of("now.json"))
        self.run_program("report", "result", "--gold", "crowd/gold.csv", "--out", "later.json")
        later = self.json_of("later.json")
        self.assertEqual(later["gold"]["tasks"], 100)
        scored = json.loads(self.run_program("evaluate", "result/labels.csv", "crowd/gold.csv", "--json").stdout)
        self.assertAlmostEqual(later["gold"]["accuracy"], scored["accuracy"]["value"], places=3)
        self.assertEqual(later["comparison"]["by"], "gold")

    def test_savings_and_comparison_of_other_commands(self):
        self.aggregated()
        self.run_program("select", "--replay", "crowd/answers.csv", "--gold", "crowd/gold.csv", "--seeds", 2, "--out", "replay")
        compared = self.run_program("compare", "crowd/answers.csv", "--gold", "crowd/gold.csv", "-m",
                                    "majority_vote,automatic", "--json").stdout
        self.write("compared.json", compared)
        self.run_program("report", "result", "--replay", "replay", "--compare", "compared.json", "--title", "Ours", "--out",
                         "all.json")
        document = self.json_of("all.json")
        self.assertEqual(document["title"], "Ours")
        self.assertEqual([row["method"] for row in document["comparison"]["rows"]], ["majority_vote", "automatic"])
        self.assertEqual(document["comparison"]["by"], "gold")
        policies = [policy["name"] for policy in document["savings"]["policies"]]
        self.assertEqual(policies[0], "random")
        self.assertIn("answers", document["savings"]["words"])
        held = self.run_program("compare", "crowd/answers.csv", "-m", "majority_vote,automatic", "--json").stdout
        self.write("held.json", held)
        self.run_program("report", "result", "--compare", "held.json", "--out", "held_out.json")
        self.assertEqual(self.json_of("held_out.json")["comparison"]["by"], "held-out")
        self.run_program("report", "result", "--compare", "none", "--out", "none.json")
        self.assertNotIn("comparison", self.json_of("none.json"))

    def test_refusals(self):
        # Before the work, not after it.
        self.write("labels.csv", "task,worker,label\nt,w,a\nt,v,b\n")
        done = self.run_program("aggregate", "labels.csv", "--out", "early", "--report", "no/where.html", code=73)
        self.assertIn("no folder", done.stderr)
        self.assertFalse((self.folder / "early").exists())
        self.assertIn("run.json", self.run_program("report", "nowhere", "--json", code=66).stderr)
        self.aggregated()
        self.assertIn("summary.json", self.run_program("report", "result", "--replay", "result", "--json", code=66).stderr)
        self.write("odd.json", "[]")
        self.run_program("report", "result", "--compare", "odd.json", "--json", code=65)
        self.write("result/run.json", "{")
        self.assertIn("cannot be understood", self.run_program("report", "result", "--json", code=65).stderr)


if __name__ == "__main__":
    unittest.main()
