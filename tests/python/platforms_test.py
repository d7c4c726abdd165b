"""Files of platforms in Python: the same answers as by hand, frames that the estimators take, results brought back."""
import doctest
import json
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import pandas as pd

import wisecrowd
from wisecrowd import _platforms, comparisons, numbers, sets

SAMPLES = Path(__file__).resolve().parent.parent / "platforms"


def read(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wisecrowd.DataWarning)
        return wisecrowd.read_platform(*arguments, **options)


class Read(unittest.TestCase):
    def test_samples(self):
        for name in wisecrowd.platforms().index:
            folder = SAMPLES / name.replace("-", "_")
            case = json.loads((folder / "case.json").read_text())
            if case.get("table"):
                continue
            with self.subTest(name):
                flags = dict(zip(case["flags"][::2], case["flags"][1::2]))
                data = read(folder / case["file"], name, question=flags.get("--question"))
                expected = pd.read_csv(folder / "answers.csv", dtype=str, keep_default_na=False)
                columns = [column for column in expected if column != "seconds"]
                self.assertEqual(data.answers[columns].astype(str).values.tolist(), expected[columns].values.tolist())
                self.assertEqual((data.platform, data.kind, data.left_out), (name, case["kind"], case["left_out"]))
                self.assertEqual(data.gold is not None, (folder / "gold.csv").exists())

    def test_recognised_with_a_warning(self):
        with self.assertWarnsRegex(wisecrowd.DataWarning, "read as Toloka, by its content"):
            data = wisecrowd.read_platform(SAMPLES / "toloka/assignments.tsv")
        self.assertEqual(data.gold.to_dict(), {"t2": "dog"})
        self.assertEqual(data.workers["kind"].tolist(), ["human", "human"])

    def test_estimators_take_the_frames(self):
        export = SAMPLES / "label_studio/export.json"
        mood = read(export, question="mood")
        self.assertEqual(wisecrowd.MajorityVote().fit_predict(mood.answers).to_dict(), {"11": "happy", "12": "sad"})
        topics = read(export, question="topics")
        self.assertEqual(topics.answers["label"].tolist(), [["sport", "news"], ["sport"], ["life/home"]])
        sets.BinaryRelevance(base="majority").fit(topics.answers)
        stars = read(export, question="stars")
        numbers.Mean().fit(stars.answers)
        self.assertEqual(stars.answers["value"].tolist(), [4, 2, 5])
        self.assertEqual(read(export, question="stars", answers="categories").answers["label"].tolist(), ["4", "2", "5"])
        comparisons.BradleyTerry().fit(read(SAMPLES / "arena/battles.jsonl").answers)

    def test_errors_are_those_of_the_engine(self):
        with self.assertRaisesRegex(ValueError, "3 questions"):
            read(SAMPLES / "label_studio/export.json")
        with self.assertRaisesRegex(ValueError, "there is no platform 'labelstudio'"):
            read(SAMPLES / "label_studio/export.json", "labelstudio")
        with self.assertRaisesRegex(ValueError, "`answers=sets`"):
            read(SAMPLES / "label_studio/export.json", question="topics", answers="categories")


class Convert(unittest.TestCase):
    def test_there_and_back(self):
        with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
            warnings.simplefilter("ignore", wisecrowd.DataWarning)
            folder = Path(name)
            export = folder / "export.json"
            export.write_bytes((SAMPLES / "label_studio/export.json").read_bytes())
            wisecrowd.convert(export, folder / "tables", question="mood")
            self.assertEqual((folder / "tables/answers.csv").read_text(), (SAMPLES / "label_studio/answers.csv").read_text())
            subprocess.run([os.environ["WISECROWD_PROGRAM"], "aggregate", export, "--question", "mood", "--out", folder / "result", "--quiet"], check=True, capture_output=True)
            wisecrowd.convert(folder / "result", folder / "back.json", to="label-studio-predictions")
            self.assertEqual([row["task"] for row in json.loads((folder / "back.json").read_text())], [11, 12])
            before = export.read_bytes()
            for place in (export, folder / "result/run.json"):
                with self.assertRaisesRegex(ValueError, "not replaced"):
                    wisecrowd.convert(folder / "result", place, to="label-studio-predictions")
            with self.assertRaisesRegex(ValueError, "holds"):
                wisecrowd.convert(export, folder, question="mood")
            self.assertEqual(export.read_bytes(), before)


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(_platforms))
    return tests


if __name__ == "__main__":
    unittest.main()
