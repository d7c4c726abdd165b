"""Learning a classifier: the files that are written, predictions that agree with them, refusals that leave no trace."""
import csv
import json
import resource
import struct
import subprocess
import unittest

from program import PROGRAM, ProgramTest, environment

MODEL_FILES = ["answers.npy", "model.json", "weights.npy", "workers.json"]


class Learn(ProgramTest):
    def table(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def record(self, folder="result"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def crowd(self, **options):
        return self.simulate("dawid_skene", tasks=150, workers=12, gaussian_features=1.5, test_tasks=60, seed=3, **options)

    def learn(self, *more, code=0, **options):
        return self.run_program("learn", "crowd/answers.csv", "--features", "crowd/features.npy", "--tasks",
                                "crowd/tasks.csv", "--set", "epochs=6", *more, code=code, **options)

    def test_results_and_predictions(self):
        self.crowd()
        shown = self.learn("--gold", "crowd/gold.csv", "--out", "result").stdout
        self.assertRegex(shown, r"Score +accuracy \d")
        self.assertIn("60 test rows", " ".join(shown.split()))
        self.assertEqual(self.names("result"), ["confusion.csv", "labels.csv", "model", "run.json", "workers.csv"])
        self.assertEqual(self.names("result/model"), MODEL_FILES)
        rows = self.table("result/labels.csv")
        self.assertEqual(list(rows[0])[:4], ["task", "label", "probability", "source"])
        self.assertEqual(sum(row["source"] == "answers+classifier" for row in rows), 150)
        self.assertEqual(sum(row["source"] == "classifier" for row in rows), 60)
        for row in rows:
            self.assertAlmostEqual(sum(float(row[c]) for c in row if c.startswith("p_")), 1, delta=1e-5)
        record = self.record()
        self.assertEqual(record["data"]["gold"]["used_for"], "evaluation")
        self.assertEqual(len(record["learning_curve"]["objective"]), record["epochs"])
        self.assertTrue(1 <= record["chosen_epoch"] <= record["epochs"] == 6)
        self.assertEqual(record["evaluation"]["test_rows"]["chosen_epoch"]["tasks"], 60)
        self.assertIn("last_epoch", record["evaluation"]["answered_tasks"])
        self.assertEqual(record["features"]["test"], 60)
        self.assertEqual(sorted(record["files"]), sorted(
            ["confusion.csv", "labels.csv", "model/answers.npy", "model/model.json", "model/weights.npy", "model/workers.json", "run.json", "workers.csv"]))
        # What learn says of rows that nobody answered is what predict says.
        for model in ("result", "result/model/"):
            self.run_program("predict", model, "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "--out", "p.csv")
            predicted = {row["task"]: row for row in self.table("p.csv")}
            self.assertEqual(len(predicted), 210)
            for row in rows:
                if row["source"] != "classifier":
                    continue
                for column in row:
                    if column.startswith("p_"):
                        self.assertAlmostEqual(float(row[column]), float(predicted[row["task"]][column]), delta=1e-6)
        piped = self.run_program("predict", "result", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv").stdout
        self.assertEqual(piped, (self.folder / "p.csv").read_text())
        scored = json.loads(self.run_program("evaluate", "result/labels.csv", "crowd/gold.csv", "--json").stdout)
        self.assertEqual(scored["tasks"], 210)

    def test_models_remember_their_workers(self):
        self.crowd()
        everything = (self.folder / "crowd/answers.csv").read_text() + "".join(
            (self.folder / "crowd/answers_test.csv").read_text().splitlines(keepends=True)[1:])
        self.write("all.csv", everything)
        self.run_program("learn", "all.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "--method", "max_mig", "--set", "epochs=6",
                         "--out", "result", "--quiet")
        self.assertIn("skill", self.table("result/workers.csv")[0])
        predict = ["predict", "result", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv"]
        with_answers = list(csv.DictReader(self.run_program(*predict, "--answers", "all.csv").stdout.splitlines()))
        expected = {row["task"]: row for row in self.table("result/labels.csv")}
        self.assertEqual(len(with_answers), 210)
        for row in with_answers:
            for column in row:
                if column.startswith("p_"):
                    self.assertAlmostEqual(float(row[column]), float(expected[row["task"]][column]), delta=2e-6)
        # Rows without answers are the network's.
        some = {row["task"]: row for row in csv.DictReader(self.run_program(*predict, "--answers", "crowd/answers.csv").stdout.splitlines())}
        alone = list(csv.DictReader(self.run_program(*predict).stdout.splitlines()))
        self.assertEqual([row for row in alone if row["task"] >= "task_00000151"], [some[row["task"]] for row in alone if row["task"] >= "task_00000151"])
        pairs = list(csv.DictReader(self.run_program(*predict, "--reliability").stdout.splitlines()))
        workers = {row["worker"] for row in self.table("result/workers.csv")}
        self.assertEqual(len(pairs), 210 * len(workers))
        self.assertTrue(all(0 <= float(row["reliability"]) <= 1 for row in pairs))
        self.run_program(*predict, "--reliability", "--answers", "all.csv", "--out", "whom.csv")
        self.assertEqual(len(self.table("whom.csv")), len(everything.splitlines()) - 1)
        drawn = list(csv.DictReader(self.run_program(*predict, "--draws", 20, "--seed", 3).stdout.splitlines()))
        self.assertEqual(list(drawn[0])[-2:], ["predictive_entropy", "mutual_information"])
        self.assertTrue(any(float(row["mutual_information"]) > 0 for row in drawn))
        self.write("new.csv", "task,worker,label\ntask_00000001,stranger,0\ntask_00000001,worker_000001,0\nnowhere,worker_000001,0\n")
        said = self.run_program(*predict, "--answers", "new.csv").stderr
        self.assertIn("1 of 2 workers are not known to the model, for example 'stranger'", said)
        self.assertIn("1 of 2 tasks have no features, for example 'nowhere'", said)
        self.write("odd.csv", "task,worker,label\ntask_00000001,worker_000001,frog\n")
        self.assertIn("which is no class of the model", self.run_program(*predict, "--answers", "odd.csv", code=65).stderr)
        self.assertIn("--draws looks at the network alone", self.run_program(*predict, "--answers", "all.csv", "--draws", 5, code=64).stderr)
        self.learn("--method", "doctor_net", "--out", "heads", "--quiet")
        said = self.run_program("predict", "heads", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "--reliability", code=65).stderr
        self.assertIn("the model knows nothing of workers: doctor_net learns", said)
        self.learn("--method", "lfc", "--model", "linear", "--out", "firm", "--quiet")
        firm = self.run_program("predict", "firm", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "--draws", 5)
        self.assertIn("all draws are the same", firm.stderr)

    def test_same_seed_same_bits_for_any_threads(self):
        self.crowd()
        for out, threads in (("one", 1), ("two", 2)):
            self.learn("--out", out, "--seed", 5, "--threads", threads)
        for name in ("labels.csv", "workers.csv", "model/weights.npy"):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "two" / name).read_bytes(), name)
        self.learn("--out", "other", "--seed", 6)
        self.assertNotEqual((self.folder / "one/model/weights.npy").read_bytes(),
                            (self.folder / "other/model/weights.npy").read_bytes())

    def test_gold_is_not_learned_from_unless_asked(self):
        self.crowd()
        self.learn("--out", "without")
        self.learn("--gold", "crowd/gold.csv", "--out", "scored")
        self.assertEqual((self.folder / "without/labels.csv").read_bytes(), (self.folder / "scored/labels.csv").read_bytes())
        self.learn("--gold", "crowd/gold.csv", "--gold-for", "inference", "--out", "known")
        record = self.record("known")
        self.assertEqual(record["data"]["gold"]["used_for"], "inference")
        self.assertEqual(list(record["evaluation"]), ["test_rows"])
        self.assertEqual(sum(row["source"] == "gold" for row in self.table("known/labels.csv")), 150)

    def test_text(self):
        good, bad = "wonderful warm funny lovely great".split(), "dull cold awful tedious bad".split()
        texts, answers, gold = ["task,split,text"], ["task,worker,label"], ["task,label"]
        for t in range(120):
            truth = t % 2
            words = [(good if truth else bad)[(t // 2 + i) % 5] for i in range(2)]
            texts.append(f't{t},{"test" if t >= 90 else "train"},"a {words[0]}, {words[1]} film"')
            gold.append(f"t{t},{truth}")
            if t < 90:
                answers += [f"t{t},w{w},{truth if (t + w) % 5 else 1 - truth}" for w in range(3)]
        for name, lines in (("text.csv", texts), ("labels.csv", answers), ("gold.csv", gold)):
            self.write(name, "\n".join(lines) + "\n")
        self.run_program("learn", "labels.csv", "-f", "text.csv", "-g", "gold.csv", "--model", "linear",
                         "--set", "epochs=40", "--set", "learning_rate=0.05", "--out", "result")
        self.assertEqual(self.record()["evaluation"]["test_rows"]["chosen_epoch"]["accuracy"]["value"], 1)
        self.assertEqual(self.names("result/model"), ["answers.npy", "model.json", "rarity.npy", "weights.npy", "words.npy", "workers.json"])
        self.write("new.csv", 'task,text\nn1,"Such a GREAT and funny film!"\nn2,awful and dull\n')
        new = list(csv.DictReader(self.run_program("predict", "result", "-f", "new.csv").stdout.splitlines()))
        self.assertEqual([row["label"] for row in new], ["1", "0"])

    def test_tables_and_tasks_without_features(self):
        rows = ["task,x,y"] + [f"t{t},{t % 2 * 3 + t % 7 / 7},{t % 5}" for t in range(60)]
        answers = ["task,worker,label"] + [f"t{t},w{w},{t % 2}" for t in range(40) for w in range(3)] + ["lone,w0,1"]
        self.write("x.csv", "\n".join(rows) + "\n")
        self.write("labels.csv", "\n".join(answers) + "\n")
        done = self.run_program("learn", "labels.csv", "-f", "x.csv", "--model", "linear", "--set", "epochs=5", "-o", "r")
        self.assertIn("have no features", done.stderr)
        sources = {row["task"]: row["source"] for row in self.table("r/labels.csv")}
        self.assertEqual((sources["lone"], sources["t0"], sources["t59"], len(sources)),
                         ("answers", "answers+classifier", "classifier", 61))

    def test_a_result_is_replaced_only_if_it_is_ours(self):
        self.crowd()
        self.learn("--out", "result")
        self.learn("--out", "result", "--seed", 1)
        self.write("result/model/notes.txt", "mine")
        self.assertIn("'model/notes.txt', which wisecrowd did not write", self.learn("--out", "result", code=73).stderr)

    def test_writing_that_fails_leaves_nothing(self):
        self.crowd()
        before = self.names()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
        self.learn("--out", "result", code=74, preexec_fn=limit)
        self.assertEqual(self.names(), before)

    def test_comparing(self):
        self.crowd()
        compared = json.loads(self.run_program("compare", "crowd/answers.csv", "-f", "crowd/features.npy", "-t",
                                               "crowd/tasks.csv", "-g", "crowd/gold.csv", "-m", "two_stage,ccem",
                                               "--set", "epochs=4", "--json").stdout)
        self.assertEqual({row["learner"] for row in compared["learners"]}, {"two_stage", "ccem"})
        for row in compared["learners"]:
            self.assertLess(row["held_out_log_probability"], 0)
            self.assertEqual(row["test_rows"]["chosen_epoch"]["tasks"], 60)

    def test_former_names_of_parameters(self):
        self.crowd()
        ran = self.learn("--set", "fading=0.25", "--out", "result")
        self.assertIn("fading is now called decoupled_decay", ran.stderr)
        parameters = self.record()["parameters"]
        self.assertEqual(parameters["decoupled_decay"], 0.25)
        self.assertNotIn("fading", parameters)
        self.assertIn("formerly fading", " ".join(self.run_program("methods", "aggnet").stdout.split()))
        ran = self.run_program("compare", "crowd/answers.csv", "--features", "crowd/features.npy", "--tasks", "crowd/tasks.csv",
                               "--methods", "aggnet", "--set", "epochs=2", "--set", "fading=0", "--quiet")
        self.assertIn("fading is now called decoupled_decay", ran.stderr)

    def test_divergence_is_said(self):
        self.crowd()
        learners = [learner["name"] for learner in json.loads(self.run_program("methods", "--json").stdout)["learners"]]
        for learner in learners:
            if learner == "raykar":  # takes no steps
                continue
            with self.subTest(learner):
                command = ["learn", "crowd/answers.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv", "-m", learner,
                           "--set", "epochs=3", "--set", "optimizer=sgd", "--set", "learning_rate=100", "--out", learner]
                done = subprocess.run([PROGRAM, *command], cwd=self.folder, env=environment(), capture_output=True,
                                      text=True, timeout=120)
                if done.returncode != 0:
                    self.assertEqual(done.returncode, 65, done.stderr)
                    self.assertIn("lower learning_rate (it is 100)", done.stderr)
                    self.assertFalse((self.folder / learner).exists())
                    continue
                for name in ("labels.csv", "workers.csv", "confusion.csv", "run.json", "model/model.json"):
                    path = self.folder / learner / name
                    if path.exists():
                        self.assertNotRegex(path.read_text(), r"(?i)\b(nan|inf|infinity)\b", name)
                record = self.record(learner)
                codes = {warning["code"] for warning in record["warnings"]}
                if record["epochs"] < 3:
                    self.assertIn("training_diverged", codes)

    def test_trusting_a_model(self):
        self.crowd()
        self.learn("--out", "result")
        predict = ["predict", "result", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv"]
        self.run_program(*predict)
        path = self.folder / "result/model/model.json"
        good = path.read_text()
        path.write_text(good.replace('"kind": "mlp"', '"kind": "torchscript"'))
        self.write("result/model/network.pt", "a program")
        said = self.run_program(*predict, code=64).stderr
        self.assertIn("TorchScript is a program", said)
        self.assertIn("--trust-model", said)
        self.assertIn("cannot be read as a TorchScript module", self.run_program(*predict, "--trust-model", code=65).stderr)
        path.write_text(good.replace('"kind": "mlp"', '"kind": "../evil/evil.pt"'))
        self.assertIn("a network of the kind '../evil/evil.pt' is not known",
                      self.run_program(*predict, "--trust-model", code=65).stderr)
        path.write_text(good)
        (self.folder / "result/model/weights.npy").unlink()
        (self.folder / "result/model/weights.npy").mkdir()
        self.assertIn("weights.npy: is a folder, not a file", self.run_program(*predict, code=66).stderr)

    def test_a_module_of_ones_own(self):
        self.crowd()
        made = subprocess.run([PROGRAM, "learn", "crowd/answers.csv", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv",
                               "-m", "two_stage", "--set", "epochs=1", "--torchscript", "--out", "first"],
                              cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=120)
        if "libtorch plugin" in made.stderr:
            self.skipTest("the libtorch plugin is not built")
        shown = self.learn("-m", "two_stage", "--model", "first/model/classifier.pt", "--out", "own").stdout
        self.assertIn("wisecrowd predict own --trust-model --features NEW", shown)
        predict = ["predict", "own", "-f", "crowd/features.npy", "-t", "crowd/tasks.csv"]
        self.assertIn("--trust-model", self.run_program(*predict, code=64).stderr)
        self.assertEqual(len(self.run_program(*predict, "--trust-model").stdout.splitlines()), 211)

    def test_methods_lists_learners(self):
        learners = json.loads(self.run_program("methods", "--json").stdout)["learners"]
        self.assertEqual(sum(learner["is_default"] for learner in learners), 1)
        for learner in learners:
            self.assertIn(learner["name"], self.run_program("learn", "--help").stdout)
            text = self.run_program("methods", learner["name"]).stdout
            for parameter in learner["parameters"]:
                self.assertIn(f"  {parameter['name']}=", text)
        self.assertIn("did you mean 'two_stage'", self.run_program("methods", "two_stages", code=64).stderr)

    def test_refusals(self):
        self.crowd()
        self.learn("--out", "result")
        labels, features, tasks = "crowd/answers.csv", "crowd/features.npy", "crowd/tasks.csv"
        array = (self.folder / features).read_bytes()
        self.write("cut.npy", array[:-7])
        self.write("nan.npy", array[:-4] + struct.pack("<f", float("nan")))
        self.write("flat.csv", "task,x\nt,1\n")
        self.write("twice.csv", "task,row\na,0\nb,0\n")
        self.write("few.csv", "task\na\n")
        self.write("words.csv", "task,x\nt1,red\n")
        (self.folder / "empty").mkdir()
        (self.folder / "kept").mkdir()
        self.write("kept/notes.txt", "mine")
        before = self.names()
        learn = ["learn", labels, "-f", features, "-t", tasks]
        for code, command, expected in (
            (64, ["learn", labels], "learn needs --features"),
            (64, ["learn", labels, "-f", features, "-m", "two_stge"], "did you mean 'two_stage'"),
            (64, [*learn, "--model", "mpl"], "there is no model 'mpl', neither by name nor as a file; did you mean 'mlp'?"),
            (66, [*learn, "--model", "net.pt"], "there is no model 'net.pt'"),
            (64, [*learn, "--set", "epoch=3"], "did you mean 'epochs'"),
            (64, [*learn, "--dropout", "1"], "--dropout cannot be '1'"),
            (64, [*learn, "--torchscript"], "--torchscript needs --out"),
            (64, ["learn", labels, "-f", features, "-t", tasks, "--gold-for", "x"], "choose evaluation, inference"),
            (65, ["learn", labels, "-f", features], "give a table task,row,split with --tasks"),
            (65, ["learn", labels, "-f", "cut.npy", "-t", tasks], "it was cut off, copy it again"),
            (65, ["learn", labels, "-f", "nan.npy", "-t", tasks], "value nan: features must be finite numbers"),
            (65, ["learn", labels, "-f", "flat.csv"], "none of its 150 tasks"),
            (65, ["learn", labels, "-f", "words.csv"], "words.csv:2: column 'x': value 'red': is no number"),
            (65, ["learn", labels, "-f", features, "-t", "twice.csv"], "twice.csv:3: column 'row'"),
            (65, ["learn", labels, "-f", features, "-t", "few.csv"], "it names 1 tasks"),
            (65, [*learn, "--classes", "0"], "is not one of the classes 0"),
            (66, ["learn", labels, "-f", "nowhere.npy"], "nowhere.npy: cannot be opened"),
            (64, [*learn, "--out", "crowd"], "it holds 'crowd/answers.csv' (ANSWERS), which would be lost"),
            (73, [*learn, "--out", "kept"], "no run.json of this command"),
            (66, ["predict", "empty", "-f", features], "there is no model.json in it"),
            (66, ["predict", "nowhere", "-f", features], "there is no such folder"),
            (65, ["predict", "result", "-f", "flat.csv"], "the model was trained on an .npy array"),
            (64, ["predict", "result"], "predict needs --features"),
            (73, ["predict", "result", "-f", features, "--out", "empty"], "it is a folder"),
            (73, ["predict", "result", "-f", features, "--out", "no/p.csv"], "there is no folder 'no'"),
            (64, ["compare", labels, "-f", features, "-m", "dawid_skene"], "there is no learner 'dawid_skene'"),
        ):
            with self.subTest(command):
                done = self.run_program(*command, code=code)
                self.assertTrue(done.stderr.startswith("wisecrowd: error: "), done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(self.names(), before)


if __name__ == "__main__":
    unittest.main()
