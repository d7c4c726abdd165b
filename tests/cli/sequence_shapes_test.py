"""The same sequences in every shape that files of them have: a row per tag, wide, CoNLL, spans of tokens and of characters."""
import json
import unittest

from sequences_test import SEQUENCES, TAGS, TOKENS, TRUTH, SequencesTest, answers

WORKERS = ["ann", "bob", "cid"]


def spans(tags, last=0):
    """Rows (start, end, type)."""
    found, begin = [], None
    for t, tag in enumerate([*tags.split(), "O"]):
        if begin is not None and not tag.startswith("I-"):
            found.append((begin, t - last, tags.split()[begin][2:]))
            begin = None
        if tag.startswith("B-"):
            begin = t
    return found


def span_rows(ends="start,end", last=0):
    rows = [f"doc,worker,{ends},type"]
    for doc, workers in TAGS.items():
        for worker, tags in workers.items():
            rows += [f"{doc},{worker},{a},{b},{kind}" for a, b, kind in spans(tags, last)] or [f"{doc},{worker},,,"]
    return "\n".join(rows) + "\n"


def characters():
    rows = ["doc,worker,start,end,type"]
    for doc, workers in TAGS.items():
        words = TOKENS[doc].split()
        begins = [len(" ".join(words[:t])) + (t > 0) for t in range(len(words))]
        for worker, tags in workers.items():
            rows += [f"{doc},{worker},{begins[a]},{begins[b - 1] + len(words[b - 1])},{kind}" for a, b, kind in spans(tags)] or [f"{doc},{worker},,,"]
    return "\n".join(rows) + "\n"


def wide(separator=",", token=True):
    rows = [separator.join(["doc", "position", *(["token"] if token else []), *WORKERS])]
    for doc, workers in TAGS.items():
        for t, word in enumerate(TOKENS[doc].split()):
            rows.append(separator.join([doc, str(t), *([word] if token else []), *(workers[w].split()[t] for w in WORKERS)]))
    return "\n".join(rows) + "\n"


def conll(header=True, names=True):
    text = "token ann bob cid\n" if header else ""
    for doc, workers in TAGS.items():
        text += (f"# sent_id = {doc}\n" if names else "")
        text += "".join(f"{word} {' '.join(workers[w].split()[t] for w in WORKERS)}\n" for t, word in enumerate(TOKENS[doc].split())) + "\n"
    return text


class Shapes(SequencesTest):
    def setUp(self):
        super().setUp()
        self.write("texts.csv", "doc,text\n" + "".join(f"{doc},{text}\n" for doc, text in TOKENS.items()))
        self.write("lengths.csv", "doc,length\nd1,5\nd2,3\n")

    def test_all_say_the_same(self):
        expected = [row["tag"] for row in self.aggregate("a.csv")]
        plain = self.json("describe", "a.csv")
        for name, text, flags in (
            ("wide.csv", wide(), ["--wide"]),
            ("wide.tsv", wide("\t", token=False), ["--wide"]),
            ("tagged.conll", conll(), ["--format", "conll"]),
            ("spans.csv", span_rows(), ["--tokens", "tokens.csv"]),
            ("spans.csv", span_rows(), ["--tokens", "lengths.csv"]),
            ("inclusive.csv", span_rows("first,last", 1), ["--tokens", "tokens.csv"]),
            ("characters.csv", characters(), ["--tokens", "texts.csv"]),
            ("other.csv", span_rows("von,bis").replace("doc,worker", "text,who"), ["--columns", "text,who,von,bis,type", "--tokens", "tokens.csv"]),
            ("mine.csv", wide().replace("doc,position", "text,n"), ["--wide", "--columns", "text,n"]),
        ):
            with self.subTest(name=name, flags=flags):
                self.write(name, text)
                self.assertEqual([row["tag"] for row in self.aggregate(name, *flags)], expected)
                self.assertEqual(self.json("describe", name, *flags), plain)
                self.assertIn("method", self.run_program("compare", name, *SEQUENCES, *flags).stdout)

    def test_texts_of_tokens(self):
        for name, text, flags in (("wide.csv", wide(), ["--wide"]), ("tagged.conll", conll(), ["--format", "conll"]),
                                  ("characters.csv", characters(), ["--tokens", "texts.csv"])):
            self.write(name, text)
            self.aggregate(name, *flags)
            self.assertEqual([row["text"] for row in self.rows("out/spans.csv")], ["Ada Lovelace", "London", "New"])

    def test_report_reads_them_again(self):
        for name, text, flags in (("wide.csv", wide(), ["--wide"]), ("tagged.conll", conll(), ["--format", "conll"]),
                                  ("spans.csv", span_rows(), ["--tokens", "lengths.csv"]),
                                  ("other.csv", span_rows("von,bis").replace("doc,worker", "text,who"),
                                   ["--columns", "text,who,von,bis,type", "--tokens", "texts.csv"])):
            if "texts.csv" in flags:
                text = characters().replace("doc,worker,start,end", "text,who,von,bis")
            with self.subTest(name=name):
                self.write(name, text)
                self.run_program("aggregate", name, *SEQUENCES, *flags, "--method", "token_vote", "--out", "out", "--report", "now.json", "--quiet")
                self.run_program("report", "out", "--out", "later.json")
                self.assertEqual(*(json.loads((self.folder / page).read_text()) for page in ("now.json", "later.json")))

    def test_gold_as_spans(self):
        self.write("truth.csv", "doc,start,end,type\n" + "".join(f"{doc},{a},{b},{kind}\n" for doc, tags in TRUTH.items() for a, b, kind in spans(tags)))
        gold = ("--gold-for", "evaluation", "--method", "token_vote", "--tokens", "tokens.csv")
        expected = self.json("aggregate", "a.csv", "--gold", "gold.csv", *gold)["evaluation"]
        self.write("spans.csv", span_rows())
        for name in ("a.csv", "spans.csv"):
            self.assertEqual(self.json("aggregate", name, "--gold", "truth.csv", *gold)["evaluation"], expected)
        self.write("t.csv", (self.folder / "truth.csv").read_text().replace("doc,start,end,type", "d,von,bis,x"))
        self.assertEqual(self.json("aggregate", "spans.csv", "--gold", "t.csv", "--gold-columns", "d,von,bis,x", *gold)["evaluation"], expected)

    def test_conll_without_names_and_with_marks(self):
        self.write("plain.conll", conll(header=False, names=False))
        self.assertEqual(sorted({row["doc"] for row in self.aggregate("plain.conll", "--format", "conll")}), ["1", "2"])
        self.assertEqual([row["worker"] for row in self.rows("out/workers.csv")], ["worker_1", "worker_2", "worker_3"])
        self.write("marked.conll", "-DOCSTART- -X- O\n\na O O\n\nb O O\n-DOCSTART- -X- O\nc O O\n")
        self.assertEqual([(row["doc"], row["position"]) for row in self.aggregate("marked.conll", "--format", "conll")], [("1", "0"), ("1", "1"), ("2", "0")])
        self.write("column.csv", "doc,token,ann,bob\nx,a,O,O\nx,b,O,B-T\ny,c,O,?\n")
        self.assertEqual([(row["doc"], row["token"]) for row in self.aggregate("column.csv", "--format", "conll")], [("x", "a"), ("x", "b"), ("y", "c")])
        self.write("newdoc.conll", "# newdoc id = first\na O O\n\nb O O\n# newdoc id = second\nc O O\n")
        self.assertEqual([row["doc"] for row in self.aggregate("newdoc.conll", "--format", "conll")], ["first", "first", "second"])

    def test_from_a_pipe(self):
        done = self.run_program("describe", "-", *SEQUENCES, "--wide", "--json", input=wide())
        found, plain = json.loads(done.stdout), self.json("describe", "a.csv")
        self.assertEqual([warning["code"] for warning in found.pop("warnings")], ["tokens_not_read"])
        self.assertEqual({**found, "warnings": []}, plain)
        self.assertIn("came from standard input", done.stderr)
        self.assertEqual(self.json("describe", "-", "--tokens", "tokens.csv", input=span_rows()), self.json("describe", "a.csv"))

    def test_refusals(self):
        for name, text, flags, says in (
            ("s.csv", span_rows(), [], ["s.csv: spans do not say how long documents are", "--tokens"]),
            ("s.csv", span_rows() + "d1,ann,1,3,LOC\n", ["--tokens", "tokens.csv"], ["column 'start': value '1'", "overlaps the one in line 2", "keep one"]),
            ("s.csv", span_rows() + "d1,eve,4,9,LOC\n", ["--tokens", "tokens.csv"], ["value '9': is beyond the document 'd1', which has 5 tokens"]),
            ("s.csv", span_rows() + "d1,eve,4,1,LOC\n", ["--tokens", "tokens.csv"], ["is not behind the start"]),
            ("s.csv", span_rows() + "d3,eve,4,5,LOC\n", ["--tokens", "tokens.csv"], ["value 'd3': is not among the documents"]),
            ("w.csv", wide().replace("B-PER", "PER"), ["--wide"], ["w.csv:2: column 'ann': value 'PER': is no tag of the BIO scheme"]),
            ("a.csv", answers(), ["--wide"], ["are those of one row per tag: leave the wide layout out"]),
            ("c.conll", conll().replace("B-PER", "PER"), ["--format", "conll"], ["c.conll:3: value 'PER': is no tag of the BIO scheme, in column 2"]),
            ("c.conll", conll() + "x O\n", ["--format", "conll"], ["has 2 columns, and the first line 4"]),
            ("c.conll", conll() + conll(header=False), ["--format", "conll"], ["value 'd1': names a document for the second time"]),
            ("c.conll", "", ["--format", "conll"], ["holds no answer"]),
            ("c.conll", "word\nword\n", ["--format", "conll"], ["a tag by each worker"]),
        ):
            with self.subTest(name=name, says=says):
                self.write(name, text)
                self.refused("aggregate", name, *flags, "--out", "out", says=says)
        self.write("s.csv", span_rows())
        self.assertIn("columns of spans: read them with --answers sequences", self.run_program("aggregate", "s.csv", code=65).stderr)
        self.write("c.conll", conll())
        self.assertIn("read it with --answers sequences", self.run_program("aggregate", "c.conll", "--format", "conll", code=65).stderr)


del SequencesTest  # its own tests run elsewhere

if __name__ == "__main__":
    unittest.main()
