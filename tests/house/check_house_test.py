"""Does check_house.py see what it should? One small tree, in order; then one wrong file at a time."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_house import Checker  # noqa: E402

IN_ORDER = {
    "include/wisecrowd/error.hpp": "#include <string>\n",
    "include/wisecrowd/category_data.hpp": '#include "wisecrowd/error.hpp"\n',
    "include/wisecrowd/category_fit.hpp": '#include "wisecrowd/error.hpp"\n',
    "include/wisecrowd/aggregate.hpp": '#include "wisecrowd/category_data.hpp"\n',
    "include/wisecrowd/evaluate.hpp": '#include "wisecrowd/category_fit.hpp"\n',
    "include/wisecrowd/result.hpp": '#include "wisecrowd/evaluate.hpp"\n',
    "src/base/rng.hpp": '#include "wisecrowd/error.hpp"\n',
    "src/data/build.hpp": '#include "base/rng.hpp"\n',
    "src/ingest/csv.cpp": '#include "data/build.hpp"\n// std::cout << "a comment with --flag";\nauto s = "printf(";\nsnprintf(b, 4, s);\n',
    "src/aggregate/categories/methods.def": "// WISECROWD_METHOD(name) is a line\nWISECROWD_METHOD(vote)\n",
    "src/aggregate/registry.cpp": '#include "aggregate/categories/methods.def"\nauto a = make_aggregator("vote");\n',
    "src/aggregate/categories/shared/votes.hpp": '#include "wisecrowd/aggregate.hpp"\n',
    "src/aggregate/categories/vote/vote.hpp": '#include "wisecrowd/aggregate.hpp"\n',
    "src/aggregate/categories/vote/vote.cpp": '#include "aggregate/categories/vote/vote.hpp"\n#include "aggregate/categories/shared/votes.hpp"\n',
    "src/aggregate/categories/vote/vote_test.cpp": '#include "wisecrowd/evaluate.hpp"\n#include "support/data.hpp"\nTEST(Vote, Works) {}\n',
    "src/aggregate/categories/vote/METHOD.md": "# Vote\n",
    "src/aggregate/numbers/methods.def": "WISECROWD_METHOD(middle)\n",
    "src/aggregate/numbers/middle/middle.hpp": '#include "wisecrowd/aggregate.hpp"\n',
    "src/aggregate/numbers/middle/middle.cpp": '#include "aggregate/numbers/middle/middle.hpp"\n',
    "src/aggregate/numbers/middle/middle_test.cpp": "TEST(Middle, Works) {}\n",
    "src/aggregate/numbers/middle/METHOD.md": "# Middle\n",
    "docs/METHODS.md": "| **vote** (default) |\n| middle |\n",
    "src/simulate/kinds.def": "WISECROWD_SIMULATION(spam)\n",
    "src/simulate/kinds/spam.cpp": "int i;\n",
    "src/learn/torch/net.cpp": "#include <torch/nn.h>\n",
    "src/active/loop.cpp": '#include "wisecrowd/dalc_session.hpp"\n',
    "include/wisecrowd/dalc_session.hpp": "#include <vector>\n",
    "src/base/cairo/png.cpp": "#include <cairo.h>\n#include <fontconfig/fontconfig.h>\n",
    "src/service/tls/tls.cpp": "#include <openssl/ssl.h>\n",
    "src/result/result.cpp": '#include "wisecrowd/result.hpp"\n#include "wisecrowd/evaluate.hpp"\n',
    "src/store/run.cpp": '#include "wisecrowd/result.hpp"\n#include "ingest/csv.hpp"\n',
    "src/deliver/page.cpp": '#include "wisecrowd/result.hpp"\n#include "store/run.hpp"\n',
    "src/base/linear_algebra.hpp": "#include <Eigen/Core>\n",
    "src/base/spectra.cpp": '#include <Eigen/SVD>\n#include "base/linear_algebra.hpp"\n',
    "src/base/json.hpp": "#include <nlohmann/json_fwd.hpp>\n",
    "src/base/json.cpp": "#include <nlohmann/json.hpp>\n#include <fmt/format.h>\n",
    "apps/wisecrowd/command_set.cpp": "#include <CLI/CLI.hpp>\n",
    "apps/wisecrowd/main.cpp": '#include "wisecrowd/result.hpp"\n#include "commands.hpp"\nstd::puts("");\n',
}

# What is put into the tree, and words of the offence it must raise.
OFFENCES = [
    ("src/base/up.cpp", '#include "data/build.hpp"\n', "src/base may not include src/data"),
    ("src/base/up.cpp", '#include "wisecrowd/category_data.hpp"\n', "may not include wisecrowd/category_data.hpp"),
    ("src/data/up.cpp", '#include "wisecrowd/aggregate.hpp"\n', "may not include wisecrowd/aggregate.hpp"),
    ("src/ingest/side.cpp", '\n#include "aggregate/categories/shared/votes.hpp"\n', "side.cpp:2: src/ingest may not include src/aggregate"),
    ("src/evaluate/side.cpp", '#include "wisecrowd/ingest.hpp"\n', "belongs to ingest"),
    ("src/evaluate/call.cpp", 'auto a = make_aggregator("vote");\n', "runs a method"),
    ("src/base/heavy.hpp", "\n#include <nlohmann/json.hpp>\n", "heavy.hpp:2: <nlohmann/json.hpp> is slow to compile"),
    ("src/base/heavy.hpp", "#include <fmt/format.h>\n", "<fmt/core.h> will do"),
    ("src/base/heavy.hpp", "#include <Eigen/Core>\n", "include it in the .cpp file"),
    ("src/aggregate/categories/shared/heavy.cpp", "#include <Eigen/Dense>\n", "functions of base/linear_algebra.hpp"),
    ("src/base/linear_algebra.hpp", "#include <Eigen/LU>\n", "functions of base/linear_algebra.hpp"),
    ("apps/wisecrowd/main.cpp", "#include <CLI/CLI.hpp>\n", "use Command and Option of command_set.hpp"),
    ("src/aggregate/up.cpp", '#include "wisecrowd/result.hpp"\n', "belongs to result"),
    ("src/aggregate/up.cpp", '#include "wisecrowd/wisecrowd.hpp"\n', "belongs to everything"),
    ("src/result/up.cpp", '#include "store/run.hpp"\n', "src/result may not include src/store"),
    ("src/result/up.cpp", '#include "wisecrowd/run_folder.hpp"\n', "belongs to store"),
    ("src/deliver/side.cpp", '#include "ingest/csv.hpp"\n', "src/deliver may not include src/ingest"),
    ("src/aggregate/categories/vote/peek.cpp", '#include "aggregate/categories/other/other.hpp"\n', "looks into the room other"),
    ("src/aggregate/categories/other/other.cpp", "int i;\n", "is a room without a line"),
    ("src/aggregate/categories/methods.def", "WISECROWD_METHOD(vote)\nWISECROWD_METHOD(ghost)\n", "ghost has no src/aggregate/categories/ghost/METHOD.md"),
    ("src/aggregate/numbers/methods.def", "WISECROWD_METHOD(vote)\n", "vote is listed in src/aggregate/categories/methods.def, too"),
    ("src/aggregate/categories/vote/spec.cpp", '\nauto s = ParameterSpec::real("x", 1, 0, 2, "");\n', "spec.cpp:2: declares a parameter apart"),
    ("src/aggregate/categories/methods.def", "WISECROWD_METHOD(vote)\nWISECROWD_METHOD(vote)\n", "lists vote more than once"),
    ("docs/METHODS.md", "# Methods\n", "docs/METHODS.md: says nothing of vote"),
    ("docs/METHODS.md", "| vote |\n", "docs/METHODS.md: says nothing of middle; run scripts/refresh"),
    ("README.md", "| [vote](src/aggregate/categories/voting/METHOD.md) |\n", "README.md: says nothing of vote"),
    ("src/simulate/kinds/ghost.cpp", "int i;\n", "is a kind without a line"),
    ("src/simulate/kinds/spam.cpp", None, "spam has no src/simulate/kinds/spam.cpp"),
    ("src/aggregate/categories/vote/METHOD.md", None, "vote has no src/aggregate/categories/vote/METHOD.md"),
    ("src/aggregate/categories/vote/vote_test.cpp", "int i;\n", "holds no test"),
    ("src/aggregate/categories/vote/vote.cpp", '#include "support/data.hpp"\n', "for tests only"),
    ("src/base/power.cpp", "double f(double x) { return std::exp(x); }\n", "power.cpp:1: uses a function whose bits"),
    ("src/base/print.cpp", 'void f() {\n  std::cout << 1;\n}\n', "print.cpp:2: prints"),
    ("src/base/print.cpp", 'std::printf("%d", 1);\n', "prints"),
    ("src/base/print.cpp", 'puts("x");\n', "prints"),
    ("src/ingest/flag.cpp", 'fail("bad row: read it with --lenient");\n', "names a flag"),
    ("src/base/print.cpp", 'fprintf(stderr, "x");\n', "prints"),
    ("src/base/print.cpp", 'fmt::print("x");\n', "prints"),
    ("src/learn/torch/net.hpp", "#include <torch/nn.h>\n", "torch"),
    ("src/learn/shared/net.cpp", "#include <torch/nn.h>\n", "belongs into .cpp files under src/learn/torch/"),
    ("src/learn/shared/net.cpp", "#include <c10/core/Device.h>\n", "torch"),
    ("src/active/side.cpp", '#include "select/shared/picker.hpp"\n', "src/active may not include src/select"),
    ("src/aggregate/categories/dalc_loop/loop.cpp", "int i;\n", "is a room without a line"),
    ("src/aggregate/categories/shared/net.cpp", "#include <ATen/Tensor.h>\n", "torch"),
    ("src/base/draw.cpp", "#include <cairo-ft.h>\n", "cairo"),
    ("src/select/draw.cpp", "#include <fontconfig/fontconfig.h>\n", "cairo"),
    ("src/service/call.cpp", "#include <openssl/ssl.h>\n", "OpenSSL"),
    ("src/utils/x.cpp", "int i;\n", "no known folder"),
    ("src/base/x.cpp", '#include "rng.hpp"\n', "write the path from src/ on"),
    ("include/wisecrowd/new.hpp", "#include <string>\n", "has no layer"),
    ("include/wisecrowd/error.hpp", "#include <fmt/format.h>\n", "standard library only"),
    ("include/wisecrowd/error.hpp", '#include "base/rng.hpp"\n', "may not include the private"),
    ("include/wisecrowd/category_data.hpp", '#include "wisecrowd/evaluate.hpp"\n', "(data) may not include"),
    ("include/wisecrowd/aggregate.hpp", '#include "wisecrowd/evaluate.hpp"\n', "(aggregate) may not include"),
    ("include/wisecrowd/evaluate.hpp", '#include "wisecrowd/aggregate.hpp"\n', "(evaluate) may not include"),
    ("apps/wisecrowd/peek.cpp", '#include "data/build.hpp"\n', "public API only"),
    ("src/base/long.cpp", "int i;\n" * 501, "has 501 lines"),
]


class CheckHouse(unittest.TestCase):
    def offences_of(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**IN_ORDER, **changes}.items():
                if text is None:
                    continue
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return Checker(Path(folder)).check()

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.offences_of({}), [])

    def test_every_offence_is_seen(self):
        for name, text, words in OFFENCES:
            with self.subTest(file=name, expected=words):
                found = self.offences_of({name: text})
                self.assertTrue(any(words in offence and offence.startswith(name.split("/")[0]) for offence in found), found)


if __name__ == "__main__":
    unittest.main()
