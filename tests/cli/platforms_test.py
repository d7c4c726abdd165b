"""Files of labelling platforms: samples read as by hand, broken ones refused, results brought back."""
import csv
import gzip
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

CAPTURE = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data")) / "platforms/label_studio_1.23.2_requests.jsonl"
SAMPLES = Path(__file__).resolve().parent.parent / "platforms"
LISTED = [line.partition("(")[2].rstrip(")") for line in (SAMPLES.parent.parent / "src/ingest/platforms/platforms.def").read_text().splitlines()
          if line.startswith("WISECROWD_PLATFORM(")]


def part(name, kind, value, to="text"):
    return {"from_name": name, "to_name": to, "type": kind, "value": value}


def annotation(worker, *parts, **more):
    return {"completed_by": worker, "was_cancelled": False, "ground_truth": False, "result": list(parts), **more}


def task(number, annotations, data=None, predictions=()):
    return {"id": number, "annotations": annotations, "predictions": list(predictions), "data": data or {"text": "t"}}


def choice(label, name="c"):
    return part(name, "choices", {"choices": [label] if isinstance(label, str) else label})


class PlatformTest(ProgramTest):
    def sample(self, platform, name):
        return self.write(name, (SAMPLES / platform / name).read_bytes())

    def export(self, *tasks, name="export.json", **options):
        return self.write(name, json.dumps(tasks, **options))

    def table(self, name):
        with open(self.folder / name, newline="") as file:
            return [tuple(row) for row in csv.reader(file)]

    def convert(self, file, *flags, **options):
        done = self.run_program("convert", file, "--out", "out", *flags, **options)
        return self.table("out/answers.csv") if done.returncode == 0 else done.stderr

    def refused(self, file, *flags, code=65):
        return self.run_program("convert", file, "--out", "out", *flags, code=code).stderr

    def json(self, *arguments):
        return json.loads(self.run_program(*arguments, "--json").stdout)


class Samples(PlatformTest):
    def test_every_platform_is_read_as_by_hand(self):
        for platform in LISTED:
            case = json.loads((SAMPLES / platform / "case.json").read_text())
            with self.subTest(platform):
                name = self.sample(platform, case["file"])
                if case.get("table"):
                    found = self.json("describe", name, *case["flags"])
                    self.assertEqual([found[key] for key in ("answers", "workers", "tasks")], [case[key] for key in ("answers", "workers", "tasks")])
                    continue
                self.run_program("convert", name, *case["flags"], "--out", platform)
                for table in ("answers.csv", "gold.csv", "workers.csv"):
                    expected = SAMPLES / platform / table
                    made = self.folder / platform / table
                    self.assertEqual(made.exists(), expected.exists(), table)
                    if expected.exists():
                        self.assertEqual(made.read_text(), expected.read_text(), table)
                record = json.loads((self.folder / platform / "conversion.json").read_text())
                self.assertEqual(record["left_out"], case["left_out"])
                self.assertEqual((record["platform"], record["answers_kind"]), (platform.replace("_", "-"), case["kind"]))

    def test_commands_read_them_as_they_read_the_tables(self):
        for platform in LISTED:
            case = json.loads((SAMPLES / platform / "case.json").read_text())
            if case.get("table"):
                continue
            with self.subTest(platform):
                name = self.sample(platform, case["file"])
                self.run_program("convert", name, *case["flags"], "--out", "tables", "--quiet")
                kind = [] if case["kind"] == "categories" else ["--answers", case["kind"]]
                done = self.run_program("describe", name, *case["flags"], *kind, "--json")
                plain = self.json("describe", "tables/answers.csv", *kind)
                direct = json.loads(done.stdout)
                self.assertEqual(direct["answers"], plain["answers"])
                self.assertEqual(direct.get("hash"), plain.get("hash"))
                self.assertEqual("by its content" in done.stderr, case["recognised"])

    def test_gold_files_of_their_own(self):
        for platform in LISTED:
            case = json.loads((SAMPLES / platform / "case.json").read_text())
            if "gold" not in case:
                continue
            with self.subTest(platform):
                name, gold = self.sample(platform, case["file"]), self.sample(platform, case["gold"])
                found = self.json("aggregate", name, *case["flags"], "--answers", case["kind"], "--gold", gold, "--gold-for", "evaluation",
                                  "-m", case.get("method", "majority_vote"))
                self.assertEqual(found["data"]["gold"]["tasks"], case["gold_tasks"])

    def test_packed_and_from_a_pipe(self):
        text = (SAMPLES / "label_studio/export.json").read_bytes()
        self.write("export.json.gz", gzip.compress(text))
        expected = (SAMPLES / "label_studio/answers.csv").read_text()
        for source, given in (("export.json.gz", None), ("-", text.decode())):
            self.run_program("convert", source, "--question", "mood", "--out", "out", "--quiet", input=given)
            self.assertEqual((self.folder / "out/answers.csv").read_text(), expected)


class LabelStudio(PlatformTest):
    def test_gold_counts_in_inference_and_is_nobodys_answer(self):
        self.sample("label_studio", "export.json")
        found = self.json("aggregate", "export.json", "--question", "mood", "-m", "dawid_skene")
        self.assertEqual((found["data"]["gold"], found["data"]["workers"]), ({"tasks": 1, "used_for": "inference"}, 4))

    def test_times_order_the_answers(self):
        annotations = [annotation(w, choice("a"), created_at=f"2026-01-0{w}T00:00:00Z") for w in (1, 2)]
        self.export(task(1, annotations), task(2, annotations))
        for time in ((), ("--time", "created_at"), ("--time", "time")):
            self.run_program("trust", "export.json", *time)
        self.assertIn("no time 'when'", self.run_program("trust", "export.json", "--time", "when", code=65).stderr)

    def test_models_can_be_left_out(self):
        self.sample("label_studio", "export.json")
        rows = self.convert("export.json", "--question", "mood", "--no-models")
        self.assertNotIn("model:bert-3", [row[1] for row in rows])
        self.assertEqual(json.loads((self.folder / "out/conversion.json").read_text())["left_out"]["predicted by models"], 1)

    def test_questions_are_listed_when_one_must_be_chosen(self):
        self.sample("label_studio", "export.json")
        text = self.refused("export.json")
        self.assertIn("3 questions", text)
        self.assertIn("'mood' (classes)", text)
        self.assertIn("'stars' (numbers)", text)
        self.assertIn("--question", text)
        self.assertIn("there is no question 'moods'", self.refused("export.json", "--question", "moods"))

    def test_sets_and_paths_of_a_taxonomy(self):
        self.sample("label_studio", "export.json")
        rows = self.convert("export.json", "--question", "topics")
        self.assertEqual([row[:3] for row in rows[1:]],
                         [("11", "1", '["sport","news"]'), ("11", "bo@example.org", '["sport"]'), ("12", "1", '["life/home"]')])
        text = self.run_program("describe", "export.json", "--question", "topics", code=65).stderr
        self.assertIn("holds sets of classes: read it with --answers sets", text)
        self.assertEqual(self.json("describe", "export.json", "--question", "topics", "--answers", "sets")["answers"], 3)

    def test_ratings_as_numbers_or_classes(self):
        self.sample("label_studio", "export.json")
        self.assertEqual(self.json("describe", "export.json", "--question", "stars", "--answers", "numbers")["answers"], 3)
        found = self.json("describe", "export.json", "--question", "stars")
        self.assertEqual([entry["class"] for entry in found["classes"]], ["2", "4", "5"])

    def test_one_box_per_answer(self):
        def box(*values):
            return part("b", "rectanglelabels", {**dict(zip(("x", "y", "width", "height"), values)), "rotation": 0, "rectanglelabels": ["car"]}, "img")

        self.export(task(1, [annotation(1, box(1, 2, 3.5, 4)), annotation(2, box(2, 2, 3, 4))], {"image": "i"}))
        self.assertEqual(self.convert("export.json"), [("task", "worker", "x", "y", "width", "height"), ("1", "1", "1", "2", "3.5", "4"), ("1", "2", "2", "2", "3", "4")])
        self.run_program("aggregate", "export.json", "--answers", "numbers", "--out", "result")
        self.assertIn("estimate_width", (self.folder / "result/estimates.csv").read_text())
        self.export(task(1, [annotation(1, box(1, 2, 3, 4), box(5, 6, 7, 8))]), name="two.json")
        self.assertIn("2 boxes in one answer", self.refused("two.json"))

    def test_pairs(self):
        pick = lambda side: part("p", "pairwise", {"selected": side}, "one,two")
        self.export(task(1, [annotation(1, pick("left")), annotation(2, pick("right"))], {"one": "A", "two": "B", "note": "n"}))
        self.assertEqual(self.convert("export.json")[1:], [("1", "A", "B", "left"), ("2", "A", "B", "right")])

    def test_spans_become_tags(self):
        def span(start, end, kind):
            return part("n", "labels", {"start": start, "end": end, "text": "", "labels": [kind]})

        # The smile takes two places, as browsers count.
        text = "😀 Anna Lee left Rome."
        self.export(task("d1", [annotation("ann", span(3, 11, "PER"), span(17, 21, "LOC")), annotation("bob")], {"text": text}),
                    task("d2", [annotation("ann")], {"text": "Nobody here"}))
        rows = self.convert("export.json")
        self.assertEqual([row[3] for row in rows[1:] if row[:3:2] == ("d1", "ann")], ["O", "B-PER", "I-PER", "O", "B-LOC", "O"])
        self.assertEqual({row[3] for row in rows[1:] if row[2] == "bob"}, {"O"})
        self.assertEqual([row[2] for row in self.table("out/tokens.csv")[1:]], ["😀", "Anna", "Lee", "left", "Rome", ".", "Nobody", "here"])
        self.run_program("aggregate", "export.json", "--answers", "sequences", "--out", "result")
        self.assertIn("Anna", (self.folder / "result/tags.csv").read_text())
        self.export(task(1, [annotation(1, span(0, 3, "A"), span(1, 5, "B"))], {"text": "abc def"}), name="over.json")
        self.assertIn("over.json at /0/annotations/0: spans overlap at 'abc'", self.refused("over.json"))

    def test_old_exports_and_lines(self):
        old = {"id": 5, "completions": [annotation(1, choice("a"), created_at=1600000000), annotation(2, choice("b"), was_cancelled=True, created_at=2)], "data": {"text": "t"}}
        self.write("old.jsonl", json.dumps(old) + "\n")
        self.assertEqual(self.convert("old.jsonl")[1:], [("5", "1", "a", "1600000000")])

    def test_states_take_answers_and_gold(self):
        self.sample("label_studio", "export.json")
        self.run_program("state", "init", "s.state", "export.json", "--question", "mood")
        self.assertEqual(self.json("state", "show", "s.state")["gold"]["tasks"], 1)
        self.run_program("state", "init", "t.state")
        self.run_program("state", "add", "t.state", "export.json", "--question", "mood")
        self.assertEqual(self.json("state", "show", "t.state")["gold"]["tasks"], 1)

    def test_a_result_is_read_back_with_the_same_question(self):
        self.sample("label_studio", "export.json")
        self.run_program("aggregate", "export.json", "--question", "mood", "--no-models", "--out", "result")
        self.run_program("report", "result", "--out", "page.html", "--quiet")


class OtherForms(PlatformTest):
    """Forms of files that the samples do not have."""

    def test_argilla_flattened(self):
        record = {"id": "r", "text": "t", "label.responses": ["a", "b", None], "label.responses.users": ["u", "v", "w"], "label.responses.status": ["submitted", "draft", "submitted"],
                  "label.suggestion": "b", "label.suggestion.agent": "gpt", "label.suggestion.score": 0.5}
        self.write("flat.jsonl", json.dumps(record) + "\n")
        self.assertEqual(self.convert("flat.jsonl")[1:], [("r", "u", "a"), ("r", "model:gpt", "b")])
        self.write("bad.jsonl", json.dumps({**record, "label.responses.users": ["u"]}) + "\n")
        self.assertIn("bad.jsonl:1 at /label.responses: values, users and status must be lists of one length", self.refused("bad.jsonl"))

    def test_argilla_by_question_and_spans(self):
        text = "😀 Anna left"
        record = {"id": "r", "fields": {"text": text}, "suggestions": {}, "responses": {"names": [
            {"value": [{"start": 2, "end": 6, "label": "PER"}], "user_id": "u"}, {"value": [], "user_id": "v"}, {"value": [], "user_id": "w", "status": "discarded"}]}}
        self.write("records.json", json.dumps([record]))
        rows = self.convert("records.json")
        self.assertEqual([row[3] for row in rows[1:]], ["O", "B-PER", "O", "O", "O", "O"])
        self.assertEqual(self.json("describe", "records.json", "--answers", "sequences")["documents"], 1)

    def test_mturk_ticks_and_forms(self):
        self.write("ticks.csv", "HITId,WorkerId,AssignmentStatus,Answer.pet.cat,Answer.pet.dog\nh,w,Submitted,true,false\nh,v,Submitted,false,true\ng,w,Submitted,,\n")
        self.assertEqual(self.convert("ticks.csv")[1:], [("h", "w", "cat"), ("h", "v", "dog")])
        self.write("both.csv", "HITId,WorkerId,AssignmentStatus,Answer.pet.cat,Answer.pet.dog\nh,w,Submitted,true,true\nh,v,Submitted,false,false\n")
        self.assertEqual(self.convert("both.csv")[1:], [("h", "w", '["cat","dog"]'), ("h", "v", "[]")])
        form = json.dumps([{"pet": {"label": "cat"}, "size": 3}]).replace('"', '""')
        self.write("form.csv", f'HITId,WorkerId,AssignmentStatus,Answer.taskAnswers\nh,w,Submitted,"{form}"\n')
        self.assertEqual(self.convert("form.csv", "--question", "pet")[1:], [("h", "w", "cat")])
        self.assertEqual(self.convert("form.csv", "--question", "size")[1:], [("h", "w", "3")])

    def test_ground_truth_boxes_and_entities(self):
        def item(content):
            return [{"datasetObjectId": "0", "dataObject": {"content": "Anna left"}, "annotations": [{"workerId": "w", "annotationData": {"content": json.dumps(content)}}]}]

        self.write("box.json", json.dumps(item({"b": {"boundingBoxes": [{"left": 1, "top": 2, "width": 3, "height": 4, "label": "x"}]}})))
        self.assertEqual(self.convert("box.json")[1:], [("0", "w", "1", "2", "3", "4")])
        self.write("names.json", json.dumps(item({"e": {"entities": [{"startOffset": 0, "endOffset": 4, "label": "PER"}]}})))
        self.assertEqual([row[3] for row in self.convert("names.json")[1:]], ["B-PER", "O"])
        self.write("set.json", json.dumps(item({"l": {"labels": ["a", "b"]}})))
        self.assertEqual(self.convert("set.json")[1:], [("0", "w", '["a","b"]')])

    def test_an_arena_as_csv_and_cleanlab_in_rows(self):
        self.write("battles.csv", "question_id,model_a,model_b,winner,judge\n1,x,y,model_b,ann\n")
        self.assertEqual(self.convert("battles.csv", "--format", "arena")[1:], [("ann", "x", "y", "right")])
        self.write("long.csv", "task,annotator,label\n1,a,x\n1,b,y\n")
        self.assertEqual(self.json("describe", "long.csv", "--format", "cleanlab")["answers"], 2)


class Broken(PlatformTest):
    def test_places_values_and_remedies(self):
        cases = [
            ([task(1, [annotation(None, choice("a"))])], "export.json at /0/annotations/0/completed_by: does not say who"),
            ([task(1, []), {"annotations": [annotation(1, choice("a"))]}, task(2, [annotation(1, choice("a"))])], "export.json at /1: a task has no id"),
            ([task(1, [{"completed_by": 1}, annotation(1, choice("a"))])], "/0/annotations/0/result: there is no list of results"),
            ([task(1, [annotation(1, part("c", "choices", {"choices": [{}]}), ), annotation(2, choice("a"))])], "value 'c': what is said as choices cannot be read"),
            ([task(1, [annotation(1, part("p", "polygonlabels", {"points": []}))])], "cannot be read (polygonlabels)"),
            ([task(1, [annotation(1, choice("a"), choice("b"))])], "for each region"),
            ([task(1, [annotation(1, choice("a"), was_cancelled=True)])], "holds no answer of a worker; left out: 1 skipped"),
        ]
        for tasks, message in cases:
            with self.subTest(message):
                self.export(*tasks)
                text = self.refused("export.json", "--format", "label-studio")
                self.assertIn(message, text)
                self.assertFalse((self.folder / "out").exists())

    def test_lenient_leaves_bad_parts_out_and_says_so(self):
        self.export(task(1, [annotation(None, choice("a")), annotation(2, choice("b"))]))
        done = self.run_program("convert", "export.json", "--lenient", "--out", "out")
        self.assertEqual(len(self.table("out/answers.csv")), 2)
        self.assertIn("dropped because of problems", done.stderr)

    def test_what_is_no_json(self):
        good = json.dumps([task(1, [annotation(1, choice("a"))])])
        for name, text, message in (
            ("cut", good[:-3], "never closed"),
            ("deep", good[:-1] + "," + "[" * 3000 + "]" * 3000 + "]", "at /1"),
            ("bytes", good.encode().replace(b'"a"', b'"\xff"'), "not UTF-8"),
            ("number", good.replace('"completed_by": 1', '"completed_by": 1e999'), "number"),
            ("long", good.replace('"completed_by": 1', '"completed_by": ' + "9" * 40), "number"),
        ):
            with self.subTest(name):
                self.write("export.json", text)
                self.assertIn(message, self.refused("export.json", "--format", "label-studio"))

    def test_control_characters_never_reach_the_terminal(self):
        self.export(task(1, [annotation(1, choice("a", "\x1b[31mred"), choice("b", "two"))]))
        self.assertNotIn("\x1b", self.refused("export.json"))

    def test_tables(self):
        self.write("batch.csv", "HITId,WorkerId,Answer.x\nH,W,a\n")
        self.assertIn("no column AssignmentStatus", self.refused("batch.csv", "--format", "mturk"))
        self.write("batch.csv", "HITId,WorkerId,AssignmentStatus,Answer.x\nH,,Submitted,a\nH,W\n")
        text = self.refused("batch.csv", "--format", "mturk")
        self.assertIn("batch.csv:2: HITId or WorkerId is blank", text)
        self.assertIn("batch.csv:3", text)
        self.write("x.resp", "w t a\nw t\n")
        self.assertIn("x.resp:2: value 'w t': has 2 words, and not 3: worker, task and label", self.refused("x.resp", "--format", "ceka"))
        self.write("b.jsonl", '{"model_a": "x", "model_b": "y", "winner": "z", "question_id": 1}\n')
        self.assertIn("b.jsonl:1: value 'z': as winner", self.refused("b.jsonl"))

    def test_what_is_not_of_a_platform(self):
        self.write("plain.csv", "task,worker,label\n1,a,x\n")
        self.assertIn("cannot be recognised", self.refused("plain.csv"))
        self.assertIn("no question to choose", self.run_program("describe", "plain.csv", "--question", "q", code=64).stderr)
        self.assertIn("ordinary tables", self.refused("plain.csv", "--format", "rater"))

    def test_named_columns_are_believed(self):
        self.sample("mturk", "batch.csv")
        done = self.run_program("describe", "batch.csv", "--columns", "HITId,WorkerId,AssignmentStatus", "--json")
        self.assertEqual(json.loads(done.stdout)["answers"], 5)
        self.assertNotIn("MTurk", done.stderr)

    def test_outputs_never_replace_inputs(self):
        (self.folder / "in").mkdir()
        self.sample("ceka", "pets.resp")
        (self.folder / "in/pets.resp").write_bytes((self.folder / "pets.resp").read_bytes())
        self.run_program("convert", "in/pets.resp", "--format", "ceka", "--out", "in", code=64)
        self.run_program("aggregate", "pets.resp", "--format", "ceka", "--out", "result", "--quiet")
        for place in ("pets.resp", "result/run.json"):
            before = (self.folder / place).read_bytes()
            done = self.run_program("convert", "result", "--to", "argilla-suggestions", "--question", "q", "--out", place, "--force", code=64)
            self.assertIn(place.split("/")[0], done.stderr)
            self.assertEqual((self.folder / place).read_bytes(), before)


class WriteBack(PlatformTest):
    def run_folder(self, platform, *flags):
        case = json.loads((SAMPLES / platform / "case.json").read_text())
        name = self.sample(platform, case["file"])
        self.run_program("aggregate", name, *case["flags"], "-m", "majority_vote", "--out", "result", "--quiet", *flags)

    def written(self, to, *flags):
        self.run_program("convert", "result", "--to", to, "--out", "back", "--force", *flags)
        return (self.folder / "back").read_text()

    def test_label_studio_predictions(self):
        self.run_folder("label_studio")
        rows = json.loads(self.written("label-studio-predictions"))
        self.assertEqual([row["task"] for row in rows], [11, 12])
        self.assertEqual(rows[0]["model_version"], "wisecrowd-majority_vote")
        self.assertEqual(rows[0]["score"], 0.75)
        self.assertEqual(rows[0]["result"], [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["happy"]}, "score": 0.75}])

    def test_predictions_are_not_read_as_answers(self):
        self.run_folder("label_studio")
        rows = json.loads(self.written("label-studio-predictions"))
        export = json.loads((self.folder / "export.json").read_text())
        for item, row in zip(export, rows):
            item["predictions"] = [row]
        self.write("again.json", json.dumps(export))
        self.convert("again.json", "--question", "mood")
        self.assertEqual([row[0] for row in self.table("out/workers.csv")[1:]], ["1", "bo@example.org", "3"])

    def test_names_must_be_known(self):
        self.run_folder("ceka")
        text = self.run_program("convert", "result", "--to", "label-studio-predictions", "--out", "back", code=65).stderr
        self.assertIn("--question", text)
        self.assertFalse((self.folder / "back").exists())
        rows = json.loads(self.written("label-studio-predictions", "--question", "c", "--target", "t"))
        self.assertEqual((rows[0]["task"], rows[0]["result"][0]["to_name"]), ("t1", "t"))

    def test_argilla_suggestions(self):
        self.run_folder("argilla")
        rows = json.loads(self.written("argilla-suggestions"))
        self.assertEqual({row["id"]: row["suggestions"][0]["value"] for row in rows}, {"doc-1": "pos", "7f0d": "neg"})
        self.assertEqual(rows[0]["suggestions"][0]["question_name"], "label")

    def test_ground_truth(self):
        self.run_folder("ground_truth")
        rows = json.loads(self.written("ground-truth"))
        self.assertEqual(rows[1], {"datasetObjectId": "1", "consolidatedAnnotation": {"content": {"category": {"label": "car", "confidence": 1.0}}}})

    def test_reviews_refuse_only_those_who_guess(self):
        lines = ["HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.x"]
        for hit in range(60):
            truth = "ab"[hit % 2]
            for worker in range(4):
                lines.append(f"h{hit},a{hit}-{worker},w{worker},Submitted,{truth}")
            lines.append(f"h{hit},a{hit}-s,same,Submitted,a")
            lines.append(f"h{hit},a{hit}-d,paid,Approved,{truth}")
        self.write("batch.csv", "\n".join(lines) + "\n")
        self.run_program("aggregate", "batch.csv", "-m", "dawid_skene", "--out", "result", "--quiet")
        rows = list(csv.DictReader(self.written("mturk-review").splitlines()))
        self.assertEqual(len(rows), 300)  # what was approved before is not listed
        self.assertEqual({row["WorkerId"] for row in rows if row["Reject"]}, {"same"})
        self.assertTrue(all(bool(row["Reject"]) != (row["Approve"] == "x") for row in rows))
        self.write("pool.tsv", (self.folder / "batch.csv").read_text().replace(",", "\t").replace("HITId", "ASSIGNMENT:task_id").replace("AssignmentId", "ASSIGNMENT:assignment_id")
                   .replace("WorkerId", "ASSIGNMENT:worker_id").replace("AssignmentStatus", "ASSIGNMENT:status").replace("Answer.x", "OUTPUT:x").replace("Submitted", "SUBMITTED").replace("Approved", "APPROVED"))
        self.run_program("aggregate", "pool.tsv", "-m", "dawid_skene", "--out", "result", "--quiet")
        rows = list(csv.DictReader(self.written("toloka-review").splitlines(), delimiter="\t"))
        self.assertEqual(sum(row["ACCEPT:verdict"] == "-" for row in rows), 60)
        self.assertTrue(all(row["ACCEPT:comment"] for row in rows if row["ACCEPT:verdict"] == "-"))


@unittest.skipUnless(CAPTURE.is_file(), "the real data are not at hand (WISECROWD_DATA)")
class Captured(PlatformTest):
    """What a real Label Studio sent."""

    def test_webhooks_make_an_export(self):
        tasks, expected = {}, []
        for line in CAPTURE.read_text().splitlines():
            request = json.loads(line)
            body = json.loads(request["body"]) if request["path"] == "/webhook" and request["body"] else {}
            if body.get("action") != "ANNOTATION_CREATED":
                continue
            item = tasks.setdefault(body["task"]["id"], {**body["task"], "annotations": []})
            item["annotations"].append(body["annotation"])
            expected.append((str(body["task"]["id"]), str(body["annotation"]["completed_by"]), body["annotation"]["result"][0]["value"]["choices"][0]))
        self.export(*tasks.values())
        self.assertTrue(expected)
        self.assertEqual(sorted(row[:3] for row in self.convert("export.json")[1:]), sorted(expected))


if __name__ == "__main__":
    unittest.main()
