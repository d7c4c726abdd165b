#include "wisecrowd/platforms.hpp"

#include "support.hpp"
#include "wisecrowd/platform_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::python {
namespace {

ReadOptions platform_options(const std::string& format, const std::string& question, bool models, bool lenient,
                             bool blank_is_empty) {
  ReadOptions options;
  if (!format.empty()) options.platform.name = platform_named(format).name;
  options.platform.question = question;
  options.platform.models = models;
  options.lenient = lenient;
  options.sets.blank_is_empty = blank_is_empty;
  return options;
}

py::dict tables_dict(const PlatformTables& tables) {
  py::dict found, left_out;
  for (const auto& [what, count] : tables.left_out) left_out[py::str(what)] = count;
  py::list notes;
  for (const Warning& note : tables.notes) notes.append(note.message);
  found["platform"] = tables.platform;
  found["question"] = to_str(tables.question);
  found["kind"] = tables.answers_kind;
  found["answers"] = to_str(tables.answers);
  found["gold"] = to_str(tables.gold);
  found["tokens"] = to_str(tables.tokens);
  found["workers"] = to_str(tables.workers);
  found["left_out"] = left_out;
  found["notes"] = notes;
  return found;
}

/// The tables; with `out`, also as a folder.
py::dict read_tables(const std::string& path, const std::string& format, const std::string& question,
                     const std::string& kind, bool models, bool lenient, bool blank_is_empty, const std::string& out) {
  const ReadOptions options = platform_options(format, question, models, lenient, blank_is_empty);
  if (!out.empty()) check_output_directory(out, "conversion.json");
  Work work(0, 0, py::none());
  return tables_dict(work.run([&](const RunContext& context) {
    PlatformTables tables = read_platform(path, kind, options, context);
    if (!out.empty()) write_platform_tables(tables, path, out);
    return tables;
  }));
}

/// The text that brings a result back, and what was read for it.
py::tuple back_text(const std::string& folder, const std::string& to, const std::string& question,
                    const std::string& target, const std::optional<std::string>& answers) {
  const WriteBackOptions options{question, target, answers};
  const WriteBack platform = value_in(kWriteBackNames, "platform", to);
  Work work(0, 0, py::none());
  const WrittenBack written =
      work.run([&](const RunContext& context) { return write_back(folder, platform, options, context); });
  py::list inputs;
  for (const auto& [role, path] : written.inputs) inputs.append(path);
  return py::make_tuple(to_str(written.text), inputs);
}

}  // namespace

void define_platforms(py::module_& module) {
  module.def("read_platform", &read_tables);
  module.def("write_back", &back_text);
  module.def("write_back_file",
             [](const std::string& text, const std::string& path) { write_back_file({.text = text}, path); });
  module.def("platforms", [] {
    py::list all;
    for (const PlatformInfo& info : platforms()) {
      all.append(py::make_tuple(info.name, info.title, info.summary, info.is_recognised));
    }
    return all;
  });
}

}  // namespace wisecrowd::python
