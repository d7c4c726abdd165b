"""Do longest_functions.py and include_graph.py see what they should?"""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import include_graph  # noqa: E402
import longest_functions  # noqa: E402

FUNCTIONS = r'''
#define HALF { if (true) { \
  }
namespace house {

/// A comment with a brace { and a (parenthesis.
template <class Value, class Other = std::vector<int>>
requires std::integral<Value>
[[nodiscard]] Value twice(Value value,
                          Other other = {}) {
  const auto lambda = [&](int x) {
    return x;
  };
  const char* text = "} not the end {";
  return '{' + lambda(2) * value;
}

struct alignas(64) Room {
  Room(int a, std::vector<int> b) : a_{a}, b_(std::move(b)), c_{} {
    a_ += 1;
  }
  ~Room() { }
  int operator()(int x) const {
    return x;
  }
  bool operator==(const Room&) const = default;
  int a_{0};
  std::vector<int> b_ = {1, 2};
  int c_;
};

constexpr int kTable[] = {
  1, 2,
};

struct Room make_room(int a) {
  if (a > 0) {
    return {a, {}};
  }
  return {0, {1}};
}

auto House::open(int door) const noexcept -> std::vector<int> {
  return {door};
}

}  // namespace house
'''


def written_tree(folder, files):
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run(module, files, *arguments):
    """The exit code and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        written_tree(folder, files)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = module.main([folder, *arguments])
        return code, out.getvalue()


class LongestFunctions(unittest.TestCase):
    def test_every_function_is_seen_and_measured(self):
        found = {f.name: (f.line, f.lines) for f in longest_functions.functions_of(FUNCTIONS, "house.cpp")}
        self.assertEqual(found, {"twice": (7, 10), "Room": (19, 3), "~Room": (22, 1), "operator()": (23, 3),
                                 "make_room": (36, 6), "House::open": (43, 3)})

    def test_a_function_of_80_lines_is_too_long_and_one_of_79_is_not(self):
        def body(lines):
            return "int f() {\n" + "  g();\n" * (lines - 2) + "}\n"

        code, text = run(longest_functions, {"src/base/f.cpp": body(79)}, "--check")
        self.assertEqual((code, text), (0, "1 functions, the longest of 79 lines\n"))
        code, text = run(longest_functions, {"src/base/f.cpp": "\n" + body(80)}, "--check")
        self.assertEqual(code, 1)
        self.assertIn("src/base/f.cpp:2: f has 80 lines", text)

    def test_the_longest_come_first(self):
        files = {"src/a.cpp": "int a() {\n}\n", "apps/b.cpp": "int b() {\n\n}\nint c() { }\n"}
        self.assertEqual(run(longest_functions, files, "--most", "2"),
                         (0, "    3  apps/b.cpp:1  b\n    2  src/a.cpp:1  a\n"))

    def test_an_empty_tree_is_refused(self):
        self.assertEqual(run(longest_functions, {"src/a.hpp": "int a;\n"}, "--check")[0], 64)


class IncludeGraph(unittest.TestCase):
    IN_ORDER = {
        "src/base/rng.hpp": "#include <random>\n",
        "src/data/build.cpp": '#include "base/rng.hpp"\n#include "wisecrowd/error.hpp"\n',
        "src/data/build_test.cpp": '#include "wisecrowd/result.hpp"\n',
        "include/wisecrowd/category_fit.hpp": '#include "wisecrowd/error.hpp"\n',
        "apps/wisecrowd/main.cpp": '#include "wisecrowd/category_fit.hpp"\n#include "table.hpp"\n',
    }

    def test_includes_are_counted_by_folder(self):
        self.assertEqual(run(include_graph, self.IN_ORDER),
                         (0, "base       → nothing\napps       → data 1\ndata       → base 3\n"))
        self.assertEqual(run(include_graph, self.IN_ORDER, "--check")[0], 0)

    def test_an_include_against_the_rules_is_seen(self):
        files = {**self.IN_ORDER, "src/evaluate/side.cpp": '#include "trust/judge.hpp"\n'}
        code, text = run(include_graph, files, "--check")
        self.assertEqual(code, 1)
        self.assertIn("evaluate includes trust (1 times)", text)

    def test_a_circle_is_seen(self):
        files = {**self.IN_ORDER, "src/base/up.cpp": '#include "data/build.hpp"\n'}
        code, text = run(include_graph, files, "--check")
        self.assertEqual(code, 1)
        self.assertIn("a circle: data → base → data", text)


if __name__ == "__main__":
    unittest.main()
