"""wisecrowd.sequences: tables, gold, scores, and what is refused."""
import doctest
import json
import os
import tempfile
import unittest
import warnings
from pathlib import Path

import pandas as pd

from wisecrowd import _engine, _sequences, sequences

SAID = {
    "d1": {"ann": "B-PER I-PER O O B-LOC", "bob": "B-PER I-PER O O B-LOC", "cid": "O O O O B-LOC"},
    "d2": {"ann": "O B-LOC O", "bob": "O B-LOC O", "cid": "O O O"},
}
TRUTH = {"d1": "B-PER I-PER O O B-LOC", "d2": "O B-LOC I-LOC"}
ROWS = [(doc, t, worker, tag) for doc, workers in SAID.items() for worker, text in workers.items() for t, tag in enumerate(text.split())]
FRAME = pd.DataFrame(ROWS, columns=["doc", "position", "worker", "tag"])
GOLD = pd.DataFrame([(doc, t, tag) for doc, text in TRUTH.items() for t, tag in enumerate(text.split())], columns=["doc", "position", "tag"])


class Fit(unittest.TestCase):
    def test_tags_and_spans(self):
        fit = sequences.TokenVote().fit(FRAME)  # on so few documents a vote can be counted on fingers
        self.assertEqual(list(fit.tags_.tag), "B-PER I-PER O O B-LOC O B-LOC O".split())
        self.assertEqual(fit.tags_.index.names, ["doc", "position"])
        self.assertEqual(fit.spans_[["doc", "first", "last", "type"]].to_numpy().tolist(), [["d1", 0, 1, "PER"], ["d1", 4, 4, "LOC"], ["d2", 1, 1, "LOC"]])
        self.assertTrue(fit.spans_.probability.between(0, 1).all())
        self.assertEqual(list(fit.probabilities_.columns), ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"])
        self.assertTrue((abs(fit.probabilities_.sum(axis=1) - 1) < 1e-9).all())
        self.assertEqual(fit.workers_.documents.to_dict(), {"ann": 2, "bob": 2, "cid": 2})
        self.assertGreater(fit.workers_.accuracy["ann"], fit.workers_.accuracy["cid"])
        self.assertEqual(fit.tables_.shape, (3, 5, 5))

    def test_every_method(self):
        self.assertEqual(list(sequences.CLASSES), [info["name"] for info in _engine.sequence_methods()])
        for cls in sequences.CLASSES.values():
            self.assertEqual(list(cls().fit_predict(FRAME))[4], "B-LOC")
        self.assertEqual(list(sequences.Bsc(decode="viterbi", worker_model="cm").fit_predict(FRAME))[4], "B-LOC")
        with self.assertRaisesRegex(TypeError, "no parameter 'decoding'"):
            sequences.Bsc(decoding="viterbi")

    def test_gold_and_scores(self):
        known = sequences.Bsc().fit(FRAME, GOLD)
        self.assertEqual(list(known.tags_.tag), " ".join(TRUTH.values()).split())
        scores = sequences.evaluate(sequences.TokenVote().fit(FRAME), GOLD)
        self.assertAlmostEqual(scores.f1["strict"], 2 / 3)
        self.assertEqual(scores.f1["relaxed"], 1)
        self.assertEqual(scores.f1["PER"], 1)
        self.assertAlmostEqual(scores.attrs["token_accuracy"], 7 / 8)

    def test_positions_from_one_and_names_of_any_kind(self):
        frame = FRAME.assign(position=FRAME.position + 1, doc=FRAME.doc.map({"d1": 7, "d2": 11}))
        fit = sequences.TokenVote().fit(frame)
        self.assertEqual(fit.spans_["last"].tolist(), [2, 5, 2])
        self.assertEqual(fit.spans_.doc.tolist(), [7, 7, 11])
        renamed = FRAME.rename(columns={"doc": "a", "tag": "b"})
        self.assertEqual(list(sequences.TokenVote(columns={"a": "doc", "b": "tag"}).fit_predict(renamed))[:1], ["B-PER"])

    def test_gaps_of_a_worker(self):
        partial = FRAME.drop(FRAME.index[(FRAME.worker == "ann") & (FRAME.position == 1)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(len(sequences.Bsc().fit(partial).tags_), 8)

    def test_refusals(self):
        cases = {
            "is no tag": FRAME.assign(tag=FRAME.tag.replace("O", "X")),
            "tagged position 0": pd.concat([FRAME, FRAME.head(1)]),
            "has no token at position 2": FRAME[FRAME.position != 2],
            "is not the position of a token": FRAME.assign(position=FRAME.position - 1),
            "a value is missing": FRAME.assign(tag=FRAME.tag.where(FRAME.position > 0)),
            "no column 'position'": FRAME.drop(columns="position"),
        }
        for words, frame in cases.items():
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                sequences.Bsc().fit(frame)
        with self.assertRaisesRegex(AttributeError, "not fitted"):
            sequences.Bsc().tags_

    def test_report(self):
        fit = sequences.TokenVote().fit(FRAME)
        words = {"d1": "Ada Lovelace lived in London", "d2": "to New York"}
        tokens = pd.DataFrame([(doc, t, word) for doc, text in words.items() for t, word in enumerate(text.split())], columns=["doc", "position", "token"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.json")
            self.assertEqual(fit.report(path, gold=GOLD, tokens=tokens, title="Names"), path)
            with open(path, encoding="utf-8") as file:
                page = json.load(file)
        self.assertEqual((page["answers_kind"], page["title"]), ("sequences", "Names"))
        self.assertIn(["Ada", "Lovelace", "lived", "in", "London"], page["documents"]["tokens"])
        self.assertAlmostEqual(page["gold"]["strict"]["f1"]["value"], 2 / 3, places=5)
        with self.assertRaisesRegex(ValueError, "leave gold out"):
            sequences.Bsc().fit(FRAME, GOLD).report(gold=GOLD)

    def test_compare(self):
        many = pd.concat([FRAME.assign(doc=FRAME.doc + f"_{i}") for i in range(20)])
        scores = sequences.compare(many, methods=["bsc", "token_vote"], folds=2)
        self.assertEqual(set(scores.index), {"bsc", "token_vote"})
        self.assertTrue((scores.log_probability < 0).all())

    def test_documentation(self):
        self.assertEqual(doctest.testmod(sequences).failed, 0)
        self.assertIn("probabilities_", sequences.Bsc.__doc__)
        self.assertIs(sequences.Bsc.__mro__[1], _sequences.SequenceAggregator)


class Files(unittest.TestCase):
    def test_every_shape(self):
        spans = "doc,worker,start,end,type\nd1,ann,0,2,PER\nd1,bob,,,\n"
        wide = "doc,position,token,ann,bob\nd1,0,Ada,B-PER,O\nd1,1,Lovelace,I-PER,O\nd1,2,slept,O,O\n"
        conll = "token ann bob\n# sent_id = d1\nAda B-PER O\nLovelace I-PER O\nslept O O\n"
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for name, text in {"s.csv": spans, "w.csv": wide, "c.conll": conll, "t.csv": "doc,text\nd1,Ada Lovelace slept\n", "n.csv": "doc,length\nd1,3\n",
                               "g.csv": "doc,first,last,type\nd1,0,1,PER\n"}.items():
                (folder / name).write_text(text)
            read = [sequences.read(folder / "w.csv", wide=True), sequences.read(folder / "c.conll", format="conll"),
                    sequences.read(folder / "s.csv", folder / "g.csv", folder / "n.csv")]
            for data in read:
                pd.testing.assert_frame_equal(data.answers, read[0].answers)
                self.assertEqual(repr(data), "<6 tags of 1 documents by 2 workers>")
            self.assertEqual(list(read[0].answers.tag), ["B-PER", "I-PER", "O", "O", "O", "O"])
            self.assertEqual(list(read[1].tokens.token), ["Ada", "Lovelace", "slept"])
            self.assertIsNone(read[1].gold)
            self.assertEqual(list(read[2].gold.tag), ["B-PER", "I-PER", "O"])
            self.assertEqual(len(sequences.Bsc().fit(read[2].answers, read[2].gold).spans_), 1)
            (folder / "s.csv").write_text("doc,worker,start,end,type\nd1,ann,0,99,PER\n")
            with self.assertRaisesRegex(ValueError, "'end': value '99': is beyond the document 'd1', which has 18 characters"):
                sequences.read(folder / "s.csv", tokens=folder / "t.csv")


if __name__ == "__main__":
    unittest.main()
