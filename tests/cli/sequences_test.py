"""Answers that are sequences, as users meet them: every command, every way in, and every refusal."""
import csv
import json
import unittest

from program import ProgramTest

TAGS = {
    "d1": {"ann": "B-PER I-PER O O B-LOC", "bob": "B-PER I-PER O O B-LOC", "cid": "O O O O B-LOC"},
    "d2": {"ann": "O B-LOC O", "bob": "O B-LOC O", "cid": "O O O"},
}
TRUTH = {"d1": "B-PER I-PER O O B-LOC", "d2": "O B-LOC I-LOC"}
TOKENS = {"d1": "Ada Lovelace lived in London", "d2": "to New York"}
SEQUENCES = ("--answers", "sequences")


def answers(tags=TAGS, first=0):
    rows = ["doc,position,worker,tag"]
    for doc, workers in tags.items():
        for worker, text in workers.items():
            rows += [f"{doc},{t + first},{worker},{tag}" for t, tag in enumerate(text.split())]
    return "\n".join(rows) + "\n"


def table(texts, name, first=0):
    return f"doc,position,{name}\n" + "".join(f"{doc},{t + first},{word}\n" for doc, text in texts.items() for t, word in enumerate(text.split()))


class SequencesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", answers())
        self.write("gold.csv", table(TRUTH, "tag"))
        self.write("tokens.csv", table(TOKENS, "token"))

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def json(self, *arguments, **options):
        return json.loads(self.run_program(*arguments, *SEQUENCES, "--json", **options).stdout)

    def aggregate(self, *arguments, method="token_vote", **options):
        """By a vote, whose outcome on so few documents can be counted on fingers."""
        self.run_program("aggregate", *arguments, *SEQUENCES, "--method", method, "--out", "out", "--quiet", **options)
        return self.rows("out/tags.csv")

    def refused(self, *arguments, code=65, says=(), **options):
        """Refused with these words; no folder and no file is left."""
        before = self.names()
        error = self.run_program(*arguments, *SEQUENCES, code=code, **options).stderr
        for word in says:
            self.assertIn(word, error)
        self.assertEqual(self.names(), before)


class Aggregate(SequencesTest):
    def test_files(self):
        rows = self.aggregate("a.csv")
        self.assertEqual(self.names("out"), ["run.json", "spans.csv", "tags.csv", "workers.csv"])
        self.assertEqual([row["tag"] for row in rows], "B-PER I-PER O O B-LOC O B-LOC O".split())
        self.assertEqual(list(rows[0]), ["doc", "position", "tag", "probability"])
        spans = self.rows("out/spans.csv")
        self.assertEqual([(s["doc"], s["first"], s["last"], s["type"]) for s in spans], [("d1", "0", "1", "PER"), ("d1", "4", "4", "LOC"), ("d2", "1", "1", "LOC")])
        workers = {row["worker"]: row for row in self.rows("out/workers.csv")}
        self.assertEqual(workers["ann"]["span_f1"], "1")
        self.assertEqual(workers["cid"]["span_recall"], "0.333333")
        self.assertGreater(float(workers["ann"]["accuracy"]), float(workers["cid"]["accuracy"]))
        record = json.loads((self.folder / "out/run.json").read_text())
        self.assertEqual((record["answers_kind"], record["method"]), ("sequences", "token_vote"))
        self.assertEqual((record["data"]["tokens"], record["data"]["types"]), (8, ["LOC", "PER"]))

    def test_tokens(self):
        rows = self.aggregate("a.csv", "--tokens", "tokens.csv")
        self.assertEqual([row["token"] for row in rows][:2], ["Ada", "Lovelace"])
        self.assertEqual([row["text"] for row in self.rows("out/spans.csv")], ["Ada Lovelace", "London", "New"])
        self.assertIn("Ada Lovelace", self.run_program("aggregate", "a.csv", *SEQUENCES, "--method", "token_vote", "--tokens", "tokens.csv").stdout)

    def test_positions_keep_their_numbers(self):
        self.write("one.csv", answers(first=1))
        self.assertEqual([row["position"] for row in self.aggregate("one.csv")], "1 2 3 4 5 1 2 3".split())
        self.assertEqual(self.rows("out/spans.csv")[0]["last"], "2")

    def test_gold(self):
        self.assertEqual([row["tag"] for row in self.aggregate("a.csv", "--gold", "gold.csv")], " ".join(TRUTH.values()).split())
        vote = ("--method", "token_vote")
        run = self.json("aggregate", "a.csv", "--gold", "gold.csv", "--gold-for", "evaluation", *vote)
        self.assertEqual(run["evaluation"]["spans"], {"found": 3, "gold": 3, "right": 2, "found_touched": 3, "gold_touched": 3})
        self.assertEqual(run["evaluation"]["relaxed"]["f1"]["value"], 1)
        text = self.run_program("aggregate", "a.csv", *SEQUENCES, "--gold", "gold.csv", "--gold-for", "evaluation", *vote).stdout
        for words in ("6 answers by 3 workers to 2 documents, 24 tags of 8 tokens, 2 types of spans", "token_vote", "Found    3 spans",
                      "against gold of 2 documents", "0.667", "Nothing was written"):
            self.assertIn(words, text)

    def test_columns(self):
        self.write("b.csv", answers().replace("doc,position,worker,tag", "text,n,who,said"))
        self.write("g.csv", table(TRUTH, "tag").replace("doc,position,tag", "text,n,said"))
        options = ("--columns", "text,n,who,said", "--gold-columns", "text,n,said")
        self.assertEqual(self.json("aggregate", "b.csv", "--gold", "g.csv", *options)["data"]["gold"]["tasks"], 8)
        self.refused("aggregate", "b.csv", "--columns", "text,who,said", code=64, says=["doc,position,worker,tag"])

    def test_methods_and_parameters(self):
        for method in ("bsc", "hmm_crowd", "token_ibcc", "token_vote"):
            self.assertEqual([row["tag"] for row in self.aggregate("a.csv", method=method)][4], "B-LOC")
        self.aggregate("a.csv", "--set", "worker_model=cm", "--set", "decode=viterbi", method="bsc")
        self.assertIn("bsc (default)", self.run_program("aggregate", "a.csv", *SEQUENCES).stdout)
        self.refused("aggregate", "a.csv", "--method", "dawid_skene", code=64, says=["these answers are sequences"])

    def test_same_files_for_any_number_of_threads(self):
        self.run_program("simulate", "tagged_spans", "--tasks", "60", "--out", "crowd", "--quiet")
        files = {}
        for threads in ("1", "3"):
            self.run_program("aggregate", "crowd/answers.csv", *SEQUENCES, "--out", f"t{threads}", "--threads", threads, "--quiet")
            files[threads] = [(self.folder / f"t{threads}" / name).read_bytes() for name in ("tags.csv", "spans.csv", "workers.csv")]
        self.assertEqual(files["1"], files["3"])


class Refusals(SequencesTest):
    def test_bad_input(self):
        head = "doc,position,worker,tag\n"
        for text, says in {
            head + "d,0,a,O\nd,1,a,PER\n": ["bad.csv:3: column 'tag': value 'PER': is no tag of the BIO scheme", "as in B-PER"],
            head + "d,0,a,O\nd,0,a,O\n": ["bad.csv:3: column 'position': value '0': the same worker tagged this token in line 2", "keep one"],
            head + "d,0,a,O\nd,2,a,O\n": ["bad.csv:3: column 'position': value '2': document 'd' has this token, but none at position 1", "--tokens"],
            head + "d,1e309,a,O\n": ["value '1e309': is not the position of a token"],
            head + "d,NaN,a,O\n": ["value 'NaN': is not the position of a token"],
            head: ["no row after the header"],
            "task,worker,value\nt,a,1\n": ["names no column for the position"],
            "": ["empty"],
        }.items():
            self.write("bad.csv", text)
            with self.subTest(text=text):
                self.refused("aggregate", "bad.csv", "--out", "out", says=says)

    def test_without_saying_what_the_answers_are(self):
        self.assertIn("columns of sequences: read them with --answers sequences", self.run_program("aggregate", "a.csv", code=65).stderr)

    def test_flags_of_other_kinds(self):
        self.refused("aggregate", "a.csv", "--classes", "O,B-PER", code=64, says=["leave the class list out"])
        self.refused("aggregate", "a.csv", "--duplicates", "repeat", code=64, says=["tags a token once"])

    def test_lenient(self):
        self.write("bad.csv", answers() + "d1,0,ann,O\nd1,1,eve,nonsense\n")
        self.assertEqual(len(self.aggregate("bad.csv", "--lenient")), 8)


class OtherCommands(SequencesTest):
    def test_describe(self):
        text = self.run_program("describe", "a.csv", *SEQUENCES).stdout
        for words in ("pairwise F1", "alpha of tokens", "PER"):
            self.assertIn(words, text)
        found = self.json("describe", "a.csv")
        # d1: ann and bob agree on two spans, each with cid on one of three; d2: one of one, then none of one twice.
        self.assertAlmostEqual(found["pairwise_f1"], 2 * (2 + 1 + 1 + 1) / (4 + 3 + 3 + 2 + 1 + 1))
        self.assertEqual((found["tags"], found["untagged_tokens"], found["partial_answers"]), (24, 0, 0))

    def test_compare(self):
        scores = self.json("compare", "a.csv", "--gold", "gold.csv")
        self.assertEqual({row["method"] for row in scores["methods"]}, {"bsc", "hmm_crowd", "token_ibcc", "token_vote"})
        self.run_program("simulate", "tagged_spans", "--tasks", "80", "--out", "crowd", "--quiet")
        hidden = self.json("compare", "crowd/answers.csv")
        self.assertEqual(hidden["methods"][0]["method"], "bsc")  # by answers that it did not see
        self.assertGreater(hidden["methods"][1]["behind_best"]["low"], 0)

    def test_evaluate(self):
        self.aggregate("a.csv")
        score = self.json("evaluate", "out/tags.csv", "gold.csv")
        self.assertAlmostEqual(score["strict"]["f1"]["value"], 2 / 3)
        self.assertEqual(score["relaxed"]["f1"]["value"], 1)
        self.assertAlmostEqual(score["token_accuracy"]["value"], 7 / 8)
        self.assertIn("strict, LOC", self.run_program("evaluate", "out/tags.csv", "gold.csv", *SEQUENCES).stdout)
        self.write("other.csv", "doc,position,tag\nx,0,O\n")
        self.refused("evaluate", "out/tags.csv", "other.csv", says=["no document of other.csv"])

    def test_report(self):
        self.run_program("aggregate", "a.csv", *SEQUENCES, "--tokens", "tokens.csv", "--method", "token_vote", "--out", "out", "--report", "now.json", "--quiet")
        self.run_program("report", "out", "--out", "later.json")
        pages = [json.loads((self.folder / name).read_text()) for name in ("now.json", "later.json")]
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(pages[0]["answers_kind"], "sequences")
        self.assertIn(TOKENS["d1"].split(), pages[0]["documents"]["tokens"])
        self.run_program("report", "out", "--out", "gold.json", "--gold", "gold.csv")
        self.assertIn("gold", json.loads((self.folder / "gold.json").read_text()))

    def test_simulate(self):
        self.run_program("simulate", "tagged_spans", "--tasks", "30", "--workers", "8", "--classes", "2", "--set", "guessers=0.3", "--set", "partial=0.5",
                         "--seed", "3", "--out", "crowd", "--quiet")
        self.assertEqual(self.names("crowd"), ["answers.csv", "gold.csv", "simulation.json", "workers.csv"])
        run = self.json("aggregate", "crowd/answers.csv", "--gold", "crowd/gold.csv", "--gold-for", "evaluation")
        self.assertGreater(run["evaluation"]["strict"]["f1"]["value"], 0.6)
        self.assertIn("tagged_spans", self.run_program("simulate", "--help").stdout)
        self.assertIn("boundary_errors", self.run_program("simulate", "tagged_spans", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
