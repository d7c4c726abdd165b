#!/usr/bin/env python3
"""Fairness by group, from the command line: files, numbers, odd inputs, refusals."""
import csv
import gzip
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

COMPAS = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "fairness/compas/race"


class FairnessTest(ProgramTest):
    def rows(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def fairness(self, *more, code=0, answers="crowd/answers.csv", tasks="crowd/tasks.csv", group="group"):
        return self.run_program("fairness", answers, "--tasks", tasks, "--group", group, *more, code=code)

    def crowd(self, *settings, **options):
        words = [word for setting in settings for word in ("--set", setting)]
        words += [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        self.run_program("simulate", "group_bias", *words, "--out", "crowd", "--quiet")


class Everyday(FairnessTest):
    def test_planted_workers_are_found_and_files_agree(self):
        self.crowd("bias=0.6", tasks=1000, workers=20)
        done = self.fairness("--gold", "crowd/gold.csv", "--out", "fair")
        self.assertEqual(self.names("fair"), ["gaps.csv", "groups.csv", "labels.csv", "run.json", "workers.csv"])
        biased = {row["worker"] for row in self.rows("fair/workers.csv") if row["biased"] == "yes"}
        planted = {row["worker"] for row in self.rows("crowd/workers.csv") if row["kind"] == "biased"}
        self.assertEqual(biased, planted)
        for row in self.rows("fair/workers.csv"):
            self.assertEqual((row["group"], row["reference"], row["positive"]), ("group_2", "group_1", "1"))
            self.assertLessEqual(float(row["false_positive_low"]), float(row["false_positive_gap"]))
        gaps = {(row["labels"], row["measure"]): row for row in self.rows("fair/gaps.csv")}
        answers = gaps["answers", "false_positive_rate"]
        self.assertEqual((answers["highest"], answers["truth"]), ("group_2", "gold"))
        self.assertGreater(float(answers["low"]), 0.05)
        record = json.loads((self.folder / "fair/run.json").read_text())
        self.assertEqual(record["workers"]["biased"], len(planted))
        self.assertEqual(record["kind"], "fairness")
        self.assertIn("treat groups more differently than chance explains", done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout)
        # A second time to the same place, by one thread: the same bytes.
        before = {name: (self.folder / "fair" / name).read_bytes() for name in self.names("fair") if name.endswith(".csv")}
        self.fairness("--gold", "crowd/gold.csv", "--out", "fair", "--threads", 1)
        for name, content in before.items():
            self.assertEqual((self.folder / "fair" / name).read_bytes(), content, name)

    def test_the_rates_are_those_of_the_labels(self):
        self.crowd(tasks=400)
        self.fairness("--out", "fair", "-m", "majority_vote")
        labels = self.rows("fair/labels.csv")
        self.run_program("aggregate", "crowd/answers.csv", "-m", "majority_vote", "--out", "plain", "--quiet")
        self.assertEqual({row["task"]: row["label"] for row in labels}, {row["task"]: row["label"] for row in self.rows("plain/labels.csv")})
        for row in self.rows("fair/groups.csv"):
            if (row["labels"], row["measure"]) != ("labels", "demographic_parity"):
                continue
            of_group = [label for label in labels if label["group"] == row["group"]]
            self.assertEqual(int(row["tasks"]), len(of_group))
            self.assertAlmostEqual(float(row["rate"]), sum(label["label"] == "1" for label in of_group) / len(of_group), places=5)

    def test_without_gold_it_says_what_cannot_be_known(self):
        self.crowd(tasks=300)
        done = self.fairness("--json")
        self.assertIn("a bias that all share cannot be known", done.stderr)
        record = json.loads(done.stdout)
        self.assertIn("common_bias_unknown", {warning["code"] for warning in record["warnings"]})
        self.assertEqual({gap["truth"] for gap in record["gaps"]}, {"", "posterior"})
        self.assertIn("a bias that all workers share cannot be known", " ".join(self.run_program("fairness", "--help").stdout.split()))

    def test_labels_keep_the_gap(self):
        self.crowd("class_gap=0.4", tasks=800)
        for gap in ("demographic_parity", "equal_opportunity"):
            self.fairness("--limit-gap", "0.03", "--gap", gap, "--out", "fair")
            row = next(row for row in self.rows("fair/gaps.csv") if (row["labels"], row["measure"]) == ("limited", gap))
            self.assertLessEqual(float(row["gap"]), 0.03 + 1e-6)
            record = json.loads((self.folder / "fair/run.json").read_text())["limited"]
            self.assertLessEqual(record["expected_error_before"], record["expected_error"])
            changed = sum(row["label"] != row["label_before"] for row in self.rows("fair/labels.csv"))
            self.assertEqual(changed, record["changed"])
        self.fairness("--limit-gap", "1", "--out", "fair")
        self.assertTrue(all(row["label"] == row["label_before"] for row in self.rows("fair/labels.csv")))

    def test_assignment(self):
        self.crowd(tasks=200, workers=20)
        done = self.fairness("--assign", 2, "--assign-gap", "0.02", "--gold", "crowd/gold.csv", "--out", "fair")
        assigned = self.rows("fair/assignment.csv")
        self.assertEqual(len(assigned), 400)
        self.assertEqual(len({(row["task"], row["worker"]) for row in assigned}), 400)
        self.assertIn("of single answers, not of labels", " ".join(done.stdout.split()))
        # Tasks that nobody has answered are those to be assigned.
        tasks = (self.folder / "crowd/tasks.csv").read_text() + "new_1,group_1\nnew_2,group_2\n"
        self.write("more.csv", tasks)
        self.fairness("--assign", 3, "--out", "fair", tasks="more.csv")
        self.assertEqual({row["task"] for row in self.rows("fair/assignment.csv")}, {"new_1", "new_2"})
        # What cannot be had is said, and nothing is handed out.
        done = self.fairness("--assign", 19, "--capacity", 3, "--out", "fair")
        self.assertIn("3,800 answers are needed".replace(",", ""), " ".join(done.stdout.split()))
        self.assertNotIn("assignment.csv", self.names("fair"))

    def test_training_effect(self):
        self.run_program("simulate", "group_bias", "--tasks", 300, "--gaussian-features", "1.5", "--out", "crowd", "--quiet")
        done = self.fairness("--gold", "crowd/gold.csv", "--features", "crowd/features.csv", code=66)
        self.assertIn("features.csv", done.stderr)
        rows = [f"{row['task']},{index % 7},{index % 3}" for index, row in enumerate(self.rows("crowd/tasks.csv"))]
        self.write("features.csv", "task,x,y\n" + "\n".join(rows) + "\n")
        record = json.loads(self.fairness("--gold", "crowd/gold.csv", "--features", "features.csv", "--json").stdout)["training"]
        self.assertEqual(record["tasks"], 300)
        self.assertTrue(0 <= record["accuracy_by_labels"] <= 1 and 0 <= record["parity_by_truth"] <= 1)


    def test_the_report_has_a_section(self):
        self.crowd("bias=0.6", tasks=400, workers=20)
        self.fairness("--gold", "crowd/gold.csv", "--out", "fair", "--report", "one.json")
        self.run_program("aggregate", "crowd/answers.csv", "--out", "result", "--quiet")
        self.run_program("report", "result", "--fairness", "fair", "--compare", "none", "--out", "two.json")
        one, two = (json.loads((self.folder / name).read_text())["fairness"] for name in ("one.json", "two.json"))
        self.assertEqual(one, two)
        self.assertEqual([group["name"] for group in one["groups"]], ["group_1", "group_2"])
        self.assertIn("cannot be chance", one["words"])
        self.assertEqual(one["gaps"][1]["measure"], "equal_opportunity")
        self.assertEqual(len(one["gaps"][0]["rates"]), 2)
        done = self.run_program("report", "result", "--fairness", "result", code=65)
        self.assertIn("is no record of fairness", done.stderr)
        done = self.run_program("report", "fair", code=65)
        self.assertIn("give this one with --fairness", done.stderr)


class OddInputs(FairnessTest):
    ANSWERS = "task,worker,label\n" + "".join(f"t{task},w{worker},{(task + worker) % 3 // 2}\n" for task in range(30) for worker in range(3))

    def test_formats_blanks_and_tasks_without_rows(self):
        self.write("answers.csv", self.ANSWERS)
        groups = ["a", "b", "", " ", "a "]
        csv_text = "task,extra,p_x,site\n" + "".join(f"t{task},1,no number,{groups[task % 5]}\n" for task in range(28))
        self.write("tasks.csv", csv_text)
        self.write("tasks.tsv", csv_text.replace(",", "\t"))
        with gzip.open(self.folder / "tasks.csv.gz", "wt") as file:
            file.write(csv_text)
        self.write("tasks.jsonl", "".join(json.dumps({"task": f"t{task}", "site": groups[task % 5] or None}) + "\n" for task in range(28)))
        seen = []
        for tasks in ("tasks.csv", "tasks.tsv", "tasks.csv.gz", "tasks.jsonl"):
            done = self.fairness("--json", answers="answers.csv", tasks=tasks, group="site")
            record = json.loads(done.stdout)
            seen.append((record["groups"], record["tasks_without_group"]))
        self.assertEqual(seen, [seen[0]] * 4)
        self.assertEqual([(group["group"], group["tasks"]) for group in seen[0][0]], [("a", 11), ("b", 6)])
        self.assertEqual(seen[0][1], 13)  # eleven blank, two without a row
        self.assertIn("13 answered tasks have no group", done.stderr)

    def test_one_group_one_task_and_three_classes(self):
        self.write("answers.csv", self.ANSWERS.replace(",1\n", ",yes\n").replace("t3,w0,0", "t3,w0,maybe").replace("t4,w1,0", "t4,w1,maybe"))
        self.write("one.csv", "task,g\n" + "".join(f"t{task},same\n" for task in range(30)))
        done = self.fairness(answers="answers.csv", tasks="one.csv", group="g")
        self.assertIn("there is no gap to measure", done.stderr)
        self.write("single.csv", "task,g\n" + "".join(f"t{task},{'b' if task == 3 else 'a'}\n" for task in range(30)))
        done = self.fairness("--out", "fair", answers="answers.csv", tasks="single.csv", group="g")
        self.assertIn("fewer than 20 tasks", done.stderr)
        self.assertEqual({row["positive"] for row in self.rows("fair/gaps.csv")}, {"0", "maybe", "yes"})
        for row in self.rows("fair/gaps.csv"):
            if row["measure"] == "demographic_parity" and row["labels"] == "labels":
                self.assertEqual(float(row["low"]), 0)  # one task proves nothing
        self.fairness("--positive", "yes", "--limit-gap", "0.1", answers="answers.csv", tasks="single.csv", group="g")
        done = self.fairness("--limit-gap", "0.1", answers="answers.csv", tasks="single.csv", group="g", code=64)
        self.assertIn("--limit-gap needs --positive: there are 3 classes", done.stderr)

    def test_two_tasks_are_enough_not_to_fail(self):
        self.write("answers.csv", "task,worker,label\na,w,0\nb,w,1\n")
        self.write("tasks.csv", "task,g\na,x\nb,y\n")
        for more in ([], ["--limit-gap", "0"], ["--assign", 1], ["--kappa", "auto"], ["--kappa", "inf"], ["--limit-gap", "0", "--randomise"]):
            self.fairness(*more, answers="answers.csv", tasks="tasks.csv", group="g")

    def test_names_of_groups_never_reach_the_terminal_raw(self):
        self.write("answers.csv", self.ANSWERS)
        self.write("tasks.csv", "task,g\n" + "".join(f"t{task},{'=1+1' if task % 2 else chr(27) + '[31mred'}\n" for task in range(30)))
        done = self.fairness("--out", "fair", "--safe-csv", answers="answers.csv", tasks="tasks.csv", group="g")
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertIn("'=1+1", {row["group"] for row in self.rows("fair/labels.csv")})

    def test_swapping_group_names_swaps_outputs(self):
        self.crowd(tasks=300)
        text = (self.folder / "crowd/tasks.csv").read_text()
        self.write("swapped.csv", text.replace("group_1", "x").replace("group_2", "group_1").replace("x\n", "group_2\n"))
        one = json.loads(self.fairness("--json").stdout)
        other = json.loads(self.fairness("--json", tasks="swapped.csv").stdout)
        swap = {"group_1": "group_2", "group_2": "group_1", "": ""}
        for a, b in zip(one["gaps"], other["gaps"]):
            self.assertAlmostEqual(a["gap"]["value"], b["gap"]["value"], places=9)
            self.assertEqual(a["highest"], swap[b["highest"]])
        self.assertEqual(one["workers"]["biased"], other["workers"]["biased"])


class Refusals(FairnessTest):
    def test_what_is_wrong_is_named_with_its_remedy(self):
        self.crowd(tasks=50)
        self.write("tasks.csv", "task,g\ntask_00000001,a\ntask_00000001,b\n")
        self.write("other.csv", "task,g\nx,a\ny,b\n")
        self.write("blank.csv", "task,g\ntask_00000001,\n")
        self.write("many.csv", "task,g\n" + "".join(f"task_{task:08d},{task}\n" for task in range(1, 51)) + "".join(f"t{task},{task}\n" for task in range(51, 300)))
        for more, tasks, group, code, words in (
            ([], "crowd/tasks.csv", "race", 65, "no column 'race' for the group. Found: 'task', 'group'"),
            ([], "tasks.csv", "g", 65, "contradicts line 2"),
            ([], "other.csv", "g", 65, "are the tasks spelled alike"),
            ([], "blank.csv", "g", 65, "is blank in all of its 1 rows"),
            ([], "many.csv", "g", 65, "more than 200"),
            ([], "crowd/tasks.csv", "task", 65, "cannot be both the task and the group"),
            ([], "nowhere.csv", "g", 66, "nowhere.csv"),
            (["--positive", "2"], "crowd/tasks.csv", "group", 64, "--positive: there is no class '2'"),
            (["--reference", "group_3"], "crowd/tasks.csv", "group", 64, "there is no group 'group_3'"),
            (["--kappa", "much"], "crowd/tasks.csv", "group", 64, "--kappa cannot be 'much'"),
            (["--limit-gap", "2"], "crowd/tasks.csv", "group", 64, "--limit-gap cannot be '2'"),
            (["--limit-gap", "0.1", "--gap", "accuracy"], "crowd/tasks.csv", "group", 64, "--gap cannot be 'accuracy'"),
            (["--randomise"], "crowd/tasks.csv", "group", 64, "--randomise needs --limit-gap"),
            (["--assign-gap", "0.1"], "crowd/tasks.csv", "group", 64, "--assign-gap needs --assign"),
            (["--features", "x.npy"], "crowd/tasks.csv", "group", 64, "--features needs --gold"),
        ):
            done = self.fairness(*more, tasks=tasks, group=group, code=code)
            self.assertIn(words, done.stderr)
        done = self.run_program("fairness", "-", "--tasks", "-", "--group", "g", input="", code=64)
        self.assertIn("only one of ANSWERS, --tasks", done.stderr)
        self.assertIn("fairness needs --tasks", self.run_program("fairness", "crowd/answers.csv", "--group", "g", code=64).stderr)


@unittest.skipUnless(COMPAS.is_dir(), "the real data are not at hand (WISECROWD_DATA)")
class Compas(FairnessTest):
    def test_black_defendants_are_wrongly_called_more_often(self):
        self.fairness("--gold", f"{COMPAS}/gold.csv", "--out", "fair", answers=f"{COMPAS}/labels.csv", tasks=f"{COMPAS}/tasks.csv", group="race")
        rates = {row["group"]: row for row in self.rows("fair/groups.csv") if (row["labels"], row["measure"]) == ("answers", "false_positive_rate")}
        self.assertGreater(float(rates["black"]["low"]), float(rates["white"]["high"]))


if __name__ == "__main__":
    unittest.main()
