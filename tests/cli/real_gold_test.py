"""What probabilities promise, against real gold: --abstain-below, and the accuracy by coverage of evaluate."""
import csv
import json
import os
import unittest
from pathlib import Path

from program import ProgramTest

DATA = Path(os.environ.get("WISECROWD_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
SETS = ["aggregate/bluebird", "aggregate/dog", "aggregate/rte", "aggregate/weather_amt", "aggregate_more/mvh_edge",
        "aggregate_more/mvh_silhouette", "aggregate_more/party_tweets", "aggregate_more/slr_tech"]


@unittest.skipUnless(DATA.is_dir(), "the real data sets are not at hand; set WISECROWD_DATA to their folder")
class RealGold(ProgramTest):
    def evaluated(self, name, threshold):
        return json.loads(self.run_program("evaluate", f"{name}/labels.csv", DATA / name / "gold.csv", "--abstain-below", threshold, "--json",
                                           "--quiet").stdout)

    def test_labels_that_are_delivered_are_right_as_often_as_they_say(self):
        for name in SETS:
            with self.subTest(name):
                self.run_program("aggregate", DATA / name / "labels.csv", "--out", name, "--quiet")
                every = self.evaluated(name, 0)
                sure = self.evaluated(name, 0.9)
                self.assertEqual(sure["tasks"] + sure["abstained"], every["tasks"])
                self.assertGreaterEqual(sure["accuracy"]["value"], 0.9)
                self.assertGreater(sure["accuracy"]["value"], every["accuracy"]["value"])
                # A threshold of the curve, given to --abstain-below, delivers what the curve says. Tasks of equal probability come together.
                for point in every["accuracy_by_coverage"]:
                    kept = self.evaluated(name, point["threshold"])
                    self.assertGreaterEqual(kept["coverage"], point["coverage"] - 1 / every["tasks"])
                    extra = kept["tasks"] - round(point["coverage"] * every["tasks"])
                    right = kept["accuracy"]["value"] * kept["tasks"]
                    self.assertLessEqual(abs(right - point["accuracy"] * round(point["coverage"] * every["tasks"])), abs(extra) + 1e-6)

    def test_what_is_left_blank_is_what_is_unsure(self):
        name = "aggregate/rte"
        for out, options in (("all", ()), ("sure", ("--abstain-below", 0.9))):
            self.run_program("aggregate", DATA / name / "labels.csv", "--out", out, "--quiet", *options)
        read = lambda out: list(csv.DictReader((self.folder / out / "labels.csv").read_text().splitlines()))  # noqa: E731
        for before, after in zip(read("all"), read("sure")):
            self.assertEqual(after["label"], before["label"] if float(before["probability"]) >= 0.9 else "")


if __name__ == "__main__":
    unittest.main()
