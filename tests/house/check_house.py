#!/usr/bin/env python3
"""Checks the rules of the house (ARCHITECTURE.md) on a source tree.

    check_house.py ROOT

Prints one line per offence, "file:line: what; remedy", and exits with 1 if there is any.
"""
import re
import sys
from pathlib import Path

# Stages whose rooms stand in a folder per kind of answer: src/aggregate/categories/dawid_skene.
KINDS = {"aggregate": {"categories", "numbers", "sets", "comparisons", "similarities", "sequences"}}
STAGES = {"ingest", "aggregate", "learn", "trust", "fairness", "judges", "select", "active", "evaluate", "simulate", "state"}

# What a folder under src/ may include besides itself. Stages never include one another.
MAY_INCLUDE = {
    "base": set(),
    "data": {"base"},
    **{stage: {"base", "data"} for stage in STAGES},
    "result": {"base", "data"} | STAGES,
    "store": {"base", "data", "result"} | STAGES,
    "deliver": {"base", "data", "result", "store"},
    # A service is an app in the library: it composes stages while answers keep coming.
    "service": {"base", "data", "result", "store", "deliver"} | STAGES,
}

# Which layer a public header belongs to. Values that travel between stages (answers, fits, warnings) are data. "sessions"
# are values too, made by one stage and handed to another.
PUBLIC_LAYER = {
    "error.hpp": "base",
    "entry_info.hpp": "base",
    "enum_names.hpp": "base",
    "estimate.hpp": "base",
    "names.hpp": "base",
    "parameters.hpp": "base",
    "run_context.hpp": "base",
    "version.hpp": "base",
    "ids.hpp": "data",
    "answer_graph.hpp": "data",
    "answer_times.hpp": "data",
    "category_answers.hpp": "data",
    "comparison_answers.hpp": "data",
    "comparison_data.hpp": "data",
    "judge_data.hpp": "data",
    "judges.hpp": "judges",
    "judge_groups.hpp": "result",
    "read_judges.hpp": "ingest",
    "judge_files.hpp": "store",
    "judge_report.hpp": "deliver",
    "comparison_fit.hpp": "data",
    "comparison_aggregator.hpp": "aggregate",
    "comparison_learn_result.hpp": "result",
    "comparison_result.hpp": "result",
    "online_comparisons.hpp": "select",
    "preferences.hpp": "result",
    "evaluate_comparisons.hpp": "evaluate",
    "read_comparisons.hpp": "ingest",
    "platforms.hpp": "ingest",
    "platform_files.hpp": "store",
    "number_answers.hpp": "data",
    "number_data.hpp": "data",
    "number_fit.hpp": "data",
    "number_limits.hpp": "data",
    "set_answers.hpp": "data",
    "set_data.hpp": "data",
    "set_fit.hpp": "data",
    "sequence_answers.hpp": "data",
    "sequence_data.hpp": "data",
    "sequence_fit.hpp": "data",
    "answer_columns.hpp": "data",
    "similarity_answers.hpp": "data",
    "similarity_data.hpp": "data",
    "similarity_fit.hpp": "data",
    "similarity_aggregator.hpp": "aggregate",
    "read_similarities.hpp": "ingest",
    "learn_comparisons.hpp": "learn",
    "learn_similarities.hpp": "learn",
    "learn_numbers.hpp": "learn",
    "evaluate_similarities.hpp": "evaluate",
    "simulate_similarities.hpp": "simulate",
    "similarity_result.hpp": "result",
    "category_data.hpp": "data",
    "fit_summary.hpp": "data",
    "category_fit.hpp": "data",
    "messages.hpp": "data",
    "kinds.hpp": "data",
    "worker_tables.hpp": "data",
    "aggregate.hpp": "aggregate",
    "answer_blocks.hpp": "aggregate",
    "answer_kind_names.hpp": "aggregate",
    "belief_session.hpp": "sessions",
    "dalc_session.hpp": "sessions",
    "dalc_loop.hpp": "active",
    "live_loop.hpp": "active",
    "network_spec.hpp": "data",
    "foreign_network.hpp": "data",
    "worker_offer.hpp": "data",
    "live_asking.hpp": "result",
    "live_files.hpp": "store",
    "held_out.hpp": "aggregate",
    "quick_fits.hpp": "aggregate",
    "method_needs.hpp": "aggregate",
    "tempering.hpp": "aggregate",
    "ingest.hpp": "ingest",
    "read_features.hpp": "ingest",
    "read_sequences.hpp": "ingest",
    "read_task_groups.hpp": "ingest",
    "read_task_graph.hpp": "ingest",
    "evaluate.hpp": "evaluate",
    "data_defects.hpp": "evaluate",
    "evaluate_numbers.hpp": "evaluate",
    "evaluate_ordered.hpp": "evaluate",
    "evaluate_sets.hpp": "evaluate",
    "set_methods.hpp": "aggregate",
    "simulate_numbers.hpp": "simulate",
    "simulate_comparisons.hpp": "simulate",
    "simulate_sets.hpp": "simulate",
    "number_result.hpp": "result",
    "set_result.hpp": "result",
    "evaluate_sequences.hpp": "evaluate",
    "simulate_numbers.hpp": "simulate",
    "simulate_comparisons.hpp": "simulate",
    "simulate_sequences.hpp": "simulate",
    "number_result.hpp": "result",
    "sequence_result.hpp": "result",
    "incremental.hpp": "state",
    "state.hpp": "state",
    "features.hpp": "data",
    "task_groups.hpp": "data",
    "task_graph.hpp": "data",
    "ordered_classes.hpp": "data",
    "fairness.hpp": "fairness",
    "learn.hpp": "learn",
    "crowd_loss.hpp": "learn",
    "answered_rows.hpp": "learn",
    "simulate.hpp": "simulate",
    "select.hpp": "select",
    "replay.hpp": "select",
    "cleaning.hpp": "trust",
    "covariance_spammers.hpp": "trust",
    "worker_information.hpp": "trust",
    "dependent_workers.hpp": "data",
    "dependence.hpp": "trust",
    "trust.hpp": "trust",
    "drift.hpp": "trust",
    "trust_study.hpp": "result",
    "asking.hpp": "result",
    "category_result.hpp": "result",
    "run_record.hpp": "result",
    "result.hpp": "result",
    "state_result.hpp": "result",
    "learn_result.hpp": "result",
    "comparison.hpp": "result",
    "training_effect.hpp": "result",
    "run_folder.hpp": "store",
    "prediction_files.hpp": "store",
    "fairness_files.hpp": "store",
    "experiment_files.hpp": "store",
    "savings.hpp": "store",
    "trust_files.hpp": "store",
    "report.hpp": "deliver",
    "service.hpp": "service",
    "wisecrowd.hpp": "everything",
}
SEES_SESSIONS = STAGES | {"result", "store", "deliver", "service"}

# Running a method is for aggregate itself, for learners (many are built over an aggregator: their first stage or their
# E-step), for states (their refit is a batch fit) and for those who compose stages (apps, tests, bindings).
RUNS_METHODS = {"aggregate", "learn", "state"}
METHOD_CALL = re.compile(r"(?<![\w:.>])(?:wisecrowd::)?(aggregate|make_aggregator|aggregation_methods?|default_aggregation_method)\s*\(")


def may_include(layer):
    """The layers whose headers this one may include, itself among them."""
    if layer == "sessions":
        return {"base", "data", "sessions"}
    allowed = MAY_INCLUDE.get(layer, set()) | {layer}
    if layer in SEES_SESSIONS:
        allowed = allowed | {"sessions"}
    if layer in RUNS_METHODS:
        allowed = allowed | {"aggregate"}
    if layer == "aggregate":  # the default asks who answers independently; trust itself runs no method
        allowed = allowed | {"trust"}
    return allowed


INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PRINTS = re.compile(
    r"\bstd::(cout|cerr|clog|print|println|puts|printf|putchar)\b|\b(printf|puts|putchar|perror)\s*\(|\bfmt::print(ln)?\b"
    r"|\b(fprintf|fputs|fputc|fwrite)\s*\([^;]*\b(stdout|stderr)\b"
)
# Functions of the C library whose last digit depends on its version and on the processor. bp asks for long doubles.
LIBRARY_MATH = re.compile(r"\bstd::(exp|expm1|log|log1p|log2|pow|tanh|sin|cos|hypot|erfc?|[lt]gamma)\(")
USES_LIBRARY_MATH = re.compile(r"^src/(learn/torch|base/cairo)/|^src/aggregate/categories/bp/(coin|table)_messages\.cpp$")
# A flag in a message: the engine speaks to Python, too, and names options between backticks (wisecrowd/messages.hpp).
FLAG = re.compile(r'"(?:\\.|[^"\\\n])*(?<![\w-])--[a-z]')
COMMENT = re.compile(r"^\s*//.*|\s//[^\"]*$")
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
OPENSSL = re.compile(r"^openssl\b")
CAIRO = re.compile(r"^(cairo|fontconfig|ft2build|freetype)\b")
# Headers that take a second and more to compile, the files that may include them, and what the others do instead. They
# would spread through our own headers to files that need nothing of them.
HEAVY = [
    (re.compile(r"^CLI/"), re.compile(r"^apps/wisecrowd/(command_set|help_text|completion_command)\.cpp$"),
     "use Command and Option of command_set.hpp"),
    (re.compile(r"^nlohmann/(?!json_fwd\.hpp$)"), re.compile(r"\.cpp$|^apps/wisecrowd/kind_run\.hpp$"),
     "in a header <nlohmann/json_fwd.hpp> will do"),
    (re.compile(r"^Eigen/Core$"), re.compile(r"\.cpp$|^src/base/linear_algebra\.hpp$"), "include it in the .cpp file"),
    (re.compile(r"^Eigen/(?!Core$)"), re.compile(r"^src/base/(linear_systems|spectra)\.cpp$"),
     "decompositions are functions of base/linear_algebra.hpp"),
    (re.compile(r"^fmt/(?!core\.h$)"), re.compile(r"\.cpp$"), "in a header <fmt/core.h> will do"),
    (re.compile(r"^boost/(asio|beast)"), re.compile(r"^src/service/server\.cpp$"), "sockets are for src/service/server.cpp alone"),
    (re.compile(r"^boost/"), re.compile(r"\.cpp$"), "include it in the .cpp file"),
    (re.compile(r"^simdjson\.h$"), re.compile(r"\.cpp$|^src/ingest/(json_lines|platforms/json_reading)\.hpp$"), "include it in the .cpp file"),
]
# Methods, learners, selectors and states go through their options by a visitor; kinds of simulation have no options.
DECLARES = re.compile(r"\bParameterSpec::(real|integer|choice|flag)\s*\(")
DECLARE_BY_VISITOR = {"aggregate", "learn", "select", "state"}
LIST_LINE = re.compile(r"^WISECROWD_[A-Z]+\(([a-z0-9_]+)\)")

LONGEST_FILE = 500
SOURCE_FOLDERS = ("include", "src", "apps", "python", "tests", "bench", "examples", "scripts", "cmake", "web")
SOURCE_SUFFIXES = {".cpp", ".hpp", ".h", ".py", ".sh", ".cmake", ".def", ".js", ".mjs", ".css"}


def without_comments_and_strings(text):
    """The code alone, with line breaks kept so that line numbers stay right."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
    return pattern.sub(lambda match: "\n" * match.group().count("\n") + '""', text)


def room_of(parts):
    """The room of a path such as aggregate/categories/glad/glad.hpp, as (kind, room) or (room,); None outside of rooms."""
    inner = parts[1:-1]
    depth = 2 if inner and inner[0] in KINDS.get(parts[0], ()) else 1
    return tuple(inner[:depth]) if len(inner) >= depth else None


class Checker:
    def __init__(self, root):
        self.root = root
        self.offences = []

    def offend(self, path, line, message):
        where = path.relative_to(self.root)
        self.offences.append(f"{where}:{line}: {message}" if line else f"{where}: {message}")

    def check(self):
        for path in sorted(self.files("src", {".cpp", ".hpp", ".h", ".def"})):
            self.check_source(path)
        for path in sorted(self.files("include", {".hpp", ".h"})):
            self.check_public(path)
        for path in sorted([*self.files("apps", {".cpp", ".hpp"}), *self.files("python", {".cpp", ".hpp"})]):
            self.check_app(path)
        for listing in sorted([*(self.root / "src").glob("*/*.def"), *(self.root / "src").glob("*/*/*.def")]):
            if listing.stem == "answer_kinds":
                continue  # the build finds out whether their folders are there
            if listing.stem == "kinds":
                self.check_kinds(listing)
            elif listing.stem == "platforms":
                self.check_platforms(listing)
            else:
                self.check_rooms(listing)
        self.check_method_names()
        for folder in ("src", "include", "apps", "python", "tests", "bench"):
            for path in sorted(self.files(folder, {".cpp", ".hpp"})):
                self.check_heavy(path)
        self.check_pages()
        self.check_lengths()
        return self.offences

    def check_pages(self):
        """Every method and learner stands in the page that says when to use it, and is linked where all are shown."""
        categories, numbers, learners = "src/aggregate/categories", "src/aggregate/numbers", "src/learn"
        similarities = "src/aggregate/similarities"
        comparisons = "src/aggregate/comparisons"
        sequences = "src/aggregate/sequences"
        for page, listing, mention, remedy in (
            ("docs/METHODS.md", f"{categories}/methods.def", "| {} |", "run scripts/refresh"),
            ("docs/METHODS.md", f"{numbers}/methods.def", "| {} |", "run scripts/refresh"),
            ("docs/METHODS.md", f"{comparisons}/methods.def", "| {} |", "run scripts/refresh"),
            ("docs/COMPARISONS.md", f"{comparisons}/methods.def", f"| [{{}}](../{comparisons}/{{}}/METHOD.md)", "add one to its table of methods"),
            ("docs/METHODS.md", "src/aggregate/sets/methods.def", "| {} |", "run scripts/refresh"),
            ("docs/SETS.md", "src/aggregate/sets/methods.def", "| [{}](../src/aggregate/sets/{}/METHOD.md)", "add one to its table of methods"),
            ("docs/LEARNERS.md", f"{learners}/learners.def", "| {} |", "run scripts/refresh"),
            ("docs/METHODS.md", f"{sequences}/methods.def", "| {} |", "run scripts/refresh"),
            ("docs/SEQUENCES.md", f"{sequences}/methods.def", f"| [{{}}](../{sequences}/{{}}/METHOD.md)", "add one to its table of methods"),
            ("docs/NUMBERS.md", f"{learners}/number_learners.def", f"[{{}}](../{learners}/{{}}/METHOD.md)", "link it there"),
            ("docs/NUMBERS.md", f"{numbers}/methods.def", f"| [{{}}](../{numbers}/{{}}/METHOD.md)", "add one to its table of methods"),
            ("docs/METHODS.md", f"{similarities}/methods.def", "| {} |", "run scripts/refresh"),
            ("docs/SIMILARITIES.md", f"{similarities}/methods.def", f"| [{{}}](../{similarities}/{{}}/METHOD.md)", "add one to its table of methods"),
            ("README.md", f"{categories}/methods.def", f"[{{}}]({categories}/{{}}/METHOD.md)", "add a link to its table of methods"),
            ("README.md", f"{learners}/learners.def", f"[{{}}]({learners}/{{}}/METHOD.md)", "add a link to its table of learners"),
        ):
            page, listing = self.root / page, self.root / listing
            if not page.is_file() or not listing.is_file():
                continue
            text = page.read_text(encoding="utf-8").replace("**", "").replace(" (default)", "")
            for line in listing.read_text(encoding="utf-8").splitlines():
                match = LIST_LINE.match(line)
                if match and mention.replace("{}", match[1]) not in text:
                    self.offend(page, 0, f"says nothing of {match[1]}; {remedy}")

    def files(self, folder, suffixes):
        return (path for path in (self.root / folder).rglob("*") if path.suffix in suffixes and path.is_file())

    def includes(self, path):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := INCLUDE.match(line):
                yield number, match[1] == '"', match[2]

    def check_source(self, path):
        parts = path.relative_to(self.root / "src").parts
        folder, is_test = parts[0], path.name.endswith("_test.cpp")
        if len(parts) == 1 or folder not in MAY_INCLUDE:
            self.offend(path, 0, f"is in no known folder of src/; known: {', '.join(sorted(MAY_INCLUDE))}")
            return
        room = room_of(parts) if folder in STAGES else None
        for number, quoted, name in self.includes(path):
            if TORCH.match(name) and not (parts[:2] == ("learn", "torch") and path.suffix == ".cpp"):
                self.offend(path, number, f"torch ({name}) belongs into .cpp files under src/learn/torch/")
            if CAIRO.match(name) and parts[:2] != ("base", "cairo"):
                self.offend(path, number, f"cairo ({name}) belongs into the plugin in src/base/cairo/")
            if OPENSSL.match(name) and parts[:2] != ("service", "tls"):
                self.offend(path, number, f"OpenSSL ({name}) belongs into the plugin in src/service/tls/")
            if not quoted:
                continue
            target, _, rest = name.partition("/")
            if target == "wisecrowd":
                self.check_public_use(path, number, rest, folder, is_test)
            elif target == "support":
                if not is_test:
                    self.offend(path, number, f"{name} is for tests only")
            elif target not in MAY_INCLUDE:
                self.offend(path, number, f'"{name}" is no file under src/; write the path from src/ on')
            elif target == folder:
                self.check_room_use(path, number, name, folder, room)
            elif target not in MAY_INCLUDE[folder]:
                self.offend(path, number, f"src/{folder} may not include src/{target} ({name}): pass a value instead")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not is_test and FLAG.search(COMMENT.sub("", line)):
                self.offend(path, number, "names a flag of the command line; name the option between backticks: `lenient`")
        code = without_comments_and_strings(path.read_text())
        for number, line in enumerate(code.splitlines(), 1):
            if is_test:
                break
            if PRINTS.search(line):
                self.offend(path, number, "prints; nothing under src/ does: report through RunContext or return a value")
            if LIBRARY_MATH.search(line) and not USES_LIBRARY_MATH.match(str(path.relative_to(self.root))):
                self.offend(path, number, "uses a function whose bits depend on the machine: base/math.hpp has one that is the same everywhere")
            if folder in DECLARE_BY_VISITOR and DECLARES.search(line):
                self.offend(path, number, "declares a parameter apart from its field: use a ParameterVisitor")
            if folder not in RUNS_METHODS and METHOD_CALL.search(line):
                self.offend(path, number, f"src/{folder} runs a method: let the caller pass the CategoryFit")

    def check_heavy(self, path):
        where = str(path.relative_to(self.root))
        for number, quoted, name in self.includes(path):
            for header, allowed, remedy in HEAVY:
                if not quoted and header.match(name) and not allowed.search(where):
                    self.offend(path, number, f"<{name}> is slow to compile and not for this file: {remedy}")

    def check_room_use(self, path, number, name, folder, room):
        if room is None or folder not in STAGES:
            return
        other = room_of(name.split("/"))
        if other is None or other == room:
            return
        if other[-1] != "shared" or other[:-1] not in ((), room[:-1]):
            self.offend(path, number, f"the room {room[-1]} looks into the room {other[-1]} ({name}): move what both need to shared/")

    def check_public_use(self, path, number, header, folder, is_test):
        layer = PUBLIC_LAYER.get(header)
        if layer is None:
            self.offend(path, number, f"wisecrowd/{header} has no layer: add it to PUBLIC_LAYER in tests/house/check_house.py")
        elif is_test:
            return  # a unit test may play the app and compose stages through the public API
        elif layer not in may_include(folder):
            self.offend(path, number, f"src/{folder} may not include wisecrowd/{header}, which belongs to {layer}")

    def check_public(self, path):
        layer = PUBLIC_LAYER.get(path.name)
        if layer is None:
            self.offend(path, 0, "has no layer: add it to PUBLIC_LAYER in tests/house/check_house.py")
            return
        for number, quoted, name in self.includes(path):
            if not quoted:
                if "/" in name and not name.startswith("sys/"):
                    self.offend(path, number, f"a public header may include the standard library only, not <{name}>")
                continue
            if not name.startswith("wisecrowd/"):
                self.offend(path, number, f"a public header may not include the private {name}")
                continue
            other = PUBLIC_LAYER.get(name.partition("/")[2])
            if layer != "everything" and other not in may_include(layer):
                self.offend(path, number, f"{path.name} ({layer}) may not include {name} ({other})")

    def check_app(self, path):
        for number, quoted, name in self.includes(path):
            if quoted and name.partition("/")[0] in MAY_INCLUDE:
                self.offend(path, number, f"an app or a binding sees the public API only, not {name}")

    def listed(self, listing):
        """Line numbers and names of a list; offends when a name comes twice."""
        names = []
        for number, line in enumerate(listing.read_text().splitlines(), 1):
            if match := LIST_LINE.match(line):
                if match[1] in names:
                    self.offend(listing, number, f"lists {match[1]} more than once")
                names.append(match[1])
                yield number, match[1]

    def check_rooms(self, listing):
        rooms = []
        for number, room in self.listed(listing):
            rooms.append(room)
            for needed in (f"{room}.hpp", f"{room}.cpp", f"{room}_test.cpp", "METHOD.md"):
                file = listing.parent / room / needed
                if not file.is_file():
                    self.offend(listing, number, f"{room} has no {file.relative_to(self.root)}")
                elif needed.endswith("_test.cpp") and "TEST" not in file.read_text():
                    self.offend(file, 0, "holds no test")
        # A folder may have several lists: learners of classes and of numbers stand side by side.
        others = {match[1] for other in listing.parent.glob("*.def") for line in other.read_text().splitlines() if (match := LIST_LINE.match(line))}
        for folder in sorted(path for path in listing.parent.iterdir() if path.is_dir()):
            if folder.name not in {*rooms, *others, "shared", "torch"}:
                self.offend(folder, 0, f"is a room without a line in {listing.relative_to(self.root)}")

    def check_method_names(self):
        """--method needs no prefix: a name stands for one method, whatever the kind of answers."""
        first = {}
        for listing in sorted((self.root / "src/aggregate").glob("*/methods.def")):
            for number, line in enumerate(listing.read_text().splitlines(), 1):
                match = LIST_LINE.match(line)
                other = match and first.setdefault(match[1], listing)
                if match and other != listing:
                    self.offend(listing, number, f"{match[1]} is listed in {other.relative_to(self.root)}, too: names are unique over all kinds")

    def check_kinds(self, listing):
        """Kinds of simulation are smaller than rooms: one file each, tested together."""
        kinds = []
        for number, kind in self.listed(listing):
            kinds.append(kind)
            file = listing.parent / "kinds" / f"{kind}.cpp"
            if not file.is_file():
                self.offend(listing, number, f"{kind} has no {file.relative_to(self.root)}")
        for file in sorted((listing.parent / "kinds").glob("*.cpp")):
            if file.stem not in kinds:
                self.offend(file, 0, f"is a kind without a line in {listing.relative_to(self.root)}")

    def check_platforms(self, listing):
        """Platforms are files, and a sample of each is read by the tests and shown in the page."""
        page = self.root / "docs/PLATFORMS.md"
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        for number, platform in self.listed(listing):
            name = platform.replace("_", "-")
            for file in (listing.parent / f"{platform}.cpp", self.root / "tests/platforms" / platform):
                if not file.exists():
                    self.offend(listing, number, f"{platform} has no {file.relative_to(self.root)}")
            if f"`{name}`" not in text:
                self.offend(listing, number, f"docs/PLATFORMS.md says nothing of `{name}`")

    def check_lengths(self):
        for folder in SOURCE_FOLDERS:
            for path in sorted(self.files(folder, SOURCE_SUFFIXES)):
                lines = path.read_text().count("\n")
                if lines > LONGEST_FILE:
                    self.offend(path, 0, f"has {lines} lines; split it by idea (at most {LONGEST_FILE})")


def main(arguments):
    if len(arguments) != 2 or not (Path(arguments[1]) / "src").is_dir():
        print(f"usage: {arguments[0]} ROOT (a folder with src/ in it)", file=sys.stderr)
        return 64
    offences = Checker(Path(arguments[1]).resolve()).check()
    print("\n".join(offences) if offences else "the house is in order")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
