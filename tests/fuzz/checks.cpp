#include "fuzz/checks.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <stdexcept>

#include "fuzz/model_check.hpp"
#include "fuzz/service_check.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::fuzz {
namespace {

using ingest::Input;
using ingest::Tuning;

std::string described(const DataReport& report) {
  std::string out =
      fmt::format("rows {} dropped {} problems {} duplicates {} {} gold {}\n", report.rows, report.rows_dropped,
                  report.problem_count, report.duplicates_dropped, report.duplicates_contradicting, report.gold_rows);
  for (const auto& problem : report.problems) out += problem.text() + "\n";
  for (const auto& warning : report.warnings) out += warning.code + ": " + warning.message + "\n";
  return out;
}

/// Everything that can be seen of a reading.
template <class Read>
std::string outcome(const Read& read) {
  DataReport report;
  std::string result;
  try {
    result = read(report);
  } catch (const Error& error) {
    result = fmt::format("error {}: {}", static_cast<int>(error.code()), error.what());
  }
  return result + "\n" + described(report);
}

template <class Read>
void compare(const Read& read) {
  static const RunContext one({.threads = 1});
  static const RunContext two({.threads = 2});
  const auto with = [&](const Tuning& tuning, const RunContext& context) {
    return outcome([&](DataReport& report) { return read(tuning, context, report); });
  };
  const std::string large = with({.window_bytes = 1 << 16}, one);
  for (const std::string& small :
       {with({.window_bytes = 1, .chunk_bytes = 1}, one), with({.window_bytes = 97, .chunk_bytes = 13}, two)}) {
    if (small != large) throw std::logic_error(fmt::format("large: {}\nsmall: {}", large, small));
  }
}

void check_answers(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  compare([&](const Tuning& tuning, const RunContext& context, DataReport& report) {
    const CategoryData data = ingest::read_dataset({name, bytes}, std::nullopt, options, tuning, context, &report);
    validate(data);
    return fmt::format("{:016x}", data.answers.content_hash());
  });
}

/// A number that belongs to the bytes: it chooses one of several options, so that a run stays short.
std::size_t choice(std::string_view bytes, std::size_t options) {
  std::uint64_t sum = 14695981039346656037ULL;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return (sum >> 32) % options;
}

/// Strict or lenient, with each way to treat repeats, with or without a class list.
void check_one_policy(std::string_view bytes, const std::string& name, TableLayout layout) {
  constexpr DuplicatePolicy kPolicies[] = {DuplicatePolicy::keep_last, DuplicatePolicy::reject,
                                           DuplicatePolicy::repeat};
  const std::size_t chosen = choice(bytes, 12);
  ReadOptions options{.layout = layout, .duplicates = kPolicies[chosen % 3], .lenient = (chosen / 3) % 2 == 0};
  if (chosen / 6 == 1) options.classes = {"a", "b"};
  check_answers(bytes, name, options);
}

void check_csv_long(std::string_view bytes) {
  if (choice(bytes, 8) == 0) {
    check_answers(bytes, "a.csv", {.task_column = "1", .worker_column = "2", .label_column = "3", .lenient = true});
  } else {
    check_one_policy(bytes, "a.csv", TableLayout::automatic);
  }
}
void check_csv_wide(std::string_view bytes) { check_one_policy(bytes, "a.csv", TableLayout::wide); }
void check_tsv(std::string_view bytes) { check_one_policy(bytes, "a.tsv", TableLayout::automatic); }
void check_jsonl(std::string_view bytes) {
  check_one_policy(bytes, "a.jsonl", choice(bytes, 5) == 0 ? TableLayout::wide : TableLayout::automatic);
}

void check_label_table(std::string_view bytes) {
  const ReadOptions options{.lenient = choice(bytes, 4) < 2};
  if (choice(bytes, 2) == 0) {
    compare([&](const Tuning& tuning, const RunContext& context, DataReport& report) {
      const LabelTable table = ingest::read_label_table({"labels", bytes}, options, tuning, context, &report);
      std::string out;
      for (std::size_t t = 0; t < table.tasks.size(); ++t) {
        out += fmt::format("{}={} ", table.tasks[t], table.classes[index(table.labels[t])]);
      }
      return out + fmt::format("{} {}", fmt::join(table.probabilities, " "), fmt::join(table.confidence, " "));
    });
    return;
  }
  // The same bytes as gold for a few answers.
  compare([&](const Tuning& tuning, const RunContext& context, DataReport& report) {
    const CategoryData data = ingest::read_dataset({"a.csv", "task,worker,label\nt,w,a\nu,w,b\n"}, Input{"gold", bytes},
                                                   options, tuning, context, &report);
    validate(data);
    std::string out = fmt::format("{:016x}", data.answers.content_hash());
    for (const ClassId k : data.gold) out += fmt::format(" {}", index(k));
    return out;
  });
}

/// An array, with and without a list of tasks; sizes of the working pieces must not matter.
void check_npy(std::string_view bytes) {
  const bool listed = choice(bytes, 2) == 0;
  const Input tasks{"tasks.csv", "task,row,split\nt,1,test\nu,0,train\n"};
  compare([&](const Tuning& tuning, const RunContext& context, DataReport& report) {
    const FeatureTable table = ingest::read_features({"a.npy", bytes}, listed ? std::optional(tasks) : std::nullopt,
                                                     {.lenient = true}, tuning, context, &report);
    return fmt::format("{} ({}) {}", table.features.rows, fmt::join(table.features.shape, ","),
                       fmt::join(table.features.dense, " "));
  });
}

/// A table of numbers or texts; or a list of tasks for two rows.
void check_features(std::string_view bytes) {
  const FeatureOptions options{.lenient = choice(bytes, 2) == 0};
  compare([&](const Tuning& tuning, const RunContext& context, DataReport& report) {
    const bool list = choice(bytes, 3) == 0;
    const FeatureTable table =
        list ? ingest::read_features({"a.csv", "task,x\nt,1\nu,2\n"}, Input{"tasks.csv", bytes}, options, tuning,
                                     context, &report)
             : ingest::read_features({"a.csv", bytes}, std::nullopt, options, tuning, context, &report);
    std::string out;
    for (std::size_t r = 0; r < table.names.size(); ++r) {
      out += fmt::format("{}:{} ", table.names[r], static_cast<int>(table.split[r]));
    }
    return out + fmt::format("{} {} {}", fmt::join(table.features.dense, " "), fmt::join(table.features.indices, " "),
                             fmt::join(table.features.values, " "));
  });
}

/// JSON of one of the platforms, read as whatever kind its first question has.
void check_platform(std::string_view bytes) {
  constexpr std::string_view kPlatforms[] = {"label-studio", "argilla", "ground-truth", "arena", "trl", "peerannot"};
  const std::size_t chosen = choice(bytes, 12);
  const ingest::Platform& platform = ingest::platform_entry(kPlatforms[chosen % 6]);
  (void)ingest::recognised(ingest::head_of("answers.json", bytes));
  compare([&](const Tuning& tuning, const RunContext& context, DataReport& report) {
    ReadOptions options{.lenient = chosen / 6 == 1};
    ingest::Collected found = ingest::collect(platform, {{"a.json", bytes}, options, tuning, context, true});
    if (found.questions.size() > 0) options.platform.question = found.questions[0];
    const PlatformTables tables = ingest::make_tables(found, platform, "", options);
    report.warnings = tables.notes;
    return tables.answers + tables.gold + tables.tokens + tables.workers;
  });
}

std::string gzipped(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_packed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

/// The first bytes choose: the rest as it is; or packed, whole, cut off or with a byte changed.
void check_packed(std::string_view bytes, const std::function<std::string(std::string_view)>& pack) {
  if (bytes.size() < 4) return;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::string_view rest = bytes.substr(4);
  const std::size_t where = byte(1) + std::size_t{256} * byte(2);
  const ReadOptions lenient{.lenient = true};
  if (byte(0) % 4 == 0) {
    check_answers(rest, "a.csv", lenient);
    return;
  }
  const std::string split =
      pack(rest.substr(0, where % (rest.size() + 1))) + pack(rest.substr(where % (rest.size() + 1)));
  std::string packed = byte(0) % 4 == 1 ? split : pack(rest);
  if (byte(0) % 4 == 2) packed.resize(where % (packed.size() + 1));
  if (byte(0) % 4 == 3) packed[where % packed.size()] = static_cast<char>(byte(3));
  check_answers(packed, "a.csv", lenient);
  if (byte(0) % 4 != 1) return;
  static const RunContext context({.threads = 1});
  const auto reading = [&](std::string_view text) {
    return outcome([&](DataReport& report) {
      const CategoryData data =
          ingest::read_dataset({"a.csv", text}, std::nullopt, lenient, Tuning{}, context, &report);
      return fmt::format("{:016x}", data.answers.content_hash());
    });
  };
  // Text that itself begins like a packed or foreign file is unpacked once, and then no table.
  const bool plain_text =
      rest.empty() || (byte(4) < 0x80 && byte(4) >= 0x20 && rest.substr(0, 2) != "PK" && rest.substr(0, 3) != "BZh" &&
                       rest.substr(0, 4) != "PAR1" && rest.substr(0, 4) != "\x28\xB5\x2F\xFD" &&
                       !(rest.size() >= 4 && rest.substr(1, 3) == "\x2A\x4D\x18"));
  if (plain_text && reading(packed) != reading(rest)) {
    throw std::logic_error(fmt::format("packed: {}\nplain: {}", reading(packed), reading(rest)));
  }
}

}  // namespace

const std::map<std::string, Check>& checks() {
  static const std::map<std::string, Check> all = {
      {"csv_long", check_csv_long},
      {"csv_wide", check_csv_wide},
      {"tsv", check_tsv},
      {"jsonl", check_jsonl},
      {"label_table", check_label_table},
      {"npy", check_npy},
      {"features", check_features},
      {"platform", check_platform},
      {"gzip", [](std::string_view bytes) { check_packed(bytes, gzipped); }},
      {"model", check_model},
      {"service", check_service},
      {"zstd", [](std::string_view bytes) { check_packed(bytes, zstd_packed); }},
  };
  return all;
}

}  // namespace wisecrowd::fuzz
