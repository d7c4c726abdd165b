#include <algorithm>
#include <numeric>

#include "hidden_scores.hpp"
#include "report_frame.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_sequences.hpp"
#include "wisecrowd/platforms.hpp"
#include "wisecrowd/read_sequences.hpp"
#include "wisecrowd/sequence_fit.hpp"

namespace wisecrowd::python {
namespace {

using RowCodes = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using TagColumn = py::array_t<std::uint16_t, py::array::c_style | py::array::forcecast>;

std::vector<TagId> tag_ids(const TagColumn& tags) {
  std::vector<TagId> ids;
  for (py::ssize_t i = 0; i < tags.size(); ++i) ids.push_back(TagId{tags.data()[i]});
  return ids;
}

/// The id of each text; throws bad_input at one that is no tag, or whose type is not among `types`.
std::vector<TagId> parsed_tags(const std::vector<std::string>& texts, const NameTable& types) {
  std::vector<TagId> ids;
  for (const std::string& text : texts) {
    ParsedTag tag;
    if (!parse_tag(text, tag)) throw Error(ErrorCode::bad_input, "'" + text + "' is no tag: " + kBioScheme);
    std::size_t type = 0;
    while (!tag.outside && type < types.size() && types[type] != tag.type) ++type;
    if (!tag.outside && type == types.size()) {
      throw Error(ErrorCode::bad_input, "'" + text + "' has a type that no answer and no gold has");
    }
    ids.push_back(tag.outside ? kOutside : tag.begins ? begin_tag(type) : inside_tag(type));
  }
  return ids;
}

NameTable types_of(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    ParsedTag tag;
    if (!parse_tag(text, tag)) throw Error(ErrorCode::bad_input, "'" + text + "' is no tag: " + kBioScheme);
    if (!tag.outside && std::find(names.begin(), names.end(), tag.type) == names.end()) names.emplace_back(tag.type);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::string> sorted;
  for (const std::uint32_t place : class_order(views)) sorted.push_back(names[place]);
  return NameTable(sorted);
}

/// A row per tag, by code of document, worker and text of the tag; `lengths` are the documents'.
SequenceAnswers sequence_answers(const RowCodes& documents, const RowCodes& workers, const RowCodes& positions,
                                 const RowCodes& codes, const std::vector<std::string>& texts,
                                 const py::array& document_names, const py::array& worker_names,
                                 const RowCodes& lengths) {
  const auto rows = static_cast<std::size_t>(documents.size());
  for (const RowCodes* column : {&workers, &positions, &codes}) {
    if (static_cast<std::size_t>(column->size()) != rows) {
      throw Error(ErrorCode::bad_input, "documents, positions, workers and tags must have one row per tag");
    }
  }
  SequenceAnswerNames names{names_from(document_names), names_from(worker_names), types_of(texts)};
  const auto ids = parsed_tags(texts, names.types);
  std::vector<TagId> tags;
  tags.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) tags.push_back(ids.at(codes.data()[i]));
  std::vector<SequenceAnswer> answers;
  answers.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    answers.push_back(
        {TaskId{documents.data()[i]}, WorkerId{workers.data()[i]}, positions.data()[i], std::span(tags).subspan(i, 1)});
  }
  return make_sequence_answers(answers, std::move(names),
                               std::span(lengths.data(), static_cast<std::size_t>(lengths.size())));
}

py::dict sequence_fit_dict(SequenceFit fit) {
  py::dict dict;
  std::vector<std::uint16_t> tags;
  for (const TagId tag : fit.tags) tags.push_back(static_cast<std::uint16_t>(tag));
  std::vector<std::uint32_t> documents, first, end, types;
  for (const Span& span : fit.spans) {
    documents.push_back(static_cast<std::uint32_t>(span.document));
    first.push_back(span.first);
    end.push_back(span.end);
    types.push_back(span.type);
  }
  const auto size = [](const auto& list) { return static_cast<py::ssize_t>(list.size()); };
  const auto as_array = [&](auto list) {
    const py::ssize_t count = size(list);
    return to_array(std::move(list), {count});
  };
  const auto K = static_cast<py::ssize_t>(fit.tag_count);
  const py::ssize_t tokens = size(fit.tags), workers = static_cast<py::ssize_t>(fit.worker_count);
  dict["tags"] = as_array(std::move(tags));
  dict["posterior"] = to_array(std::move(fit.posterior), {tokens, K});
  dict["probability"] = as_array(std::move(fit.probability));
  dict["span_document"] = as_array(std::move(documents));
  dict["span_first"] = as_array(std::move(first));
  dict["span_end"] = as_array(std::move(end));
  dict["span_type"] = as_array(std::move(types));
  dict["span_probability"] = as_array(std::move(fit.span_probability));
  dict["tables"] = to_array(std::move(fit.worker_tables), {workers, K, K});
  dict["accuracy"] = as_array(std::move(fit.accuracy));
  dict["trace"] = as_array(std::move(fit.trace));
  dict["objective"] = fit.objective_name;
  dict["iterations"] = fit.iterations;
  dict["status"] = to_str(to_string(fit.status));
  dict["warnings"] = to_list(fit.warnings);
  return dict;
}

py::dict span_score_dict(const SpanCounts& counts, const SpanScore& score) {
  py::dict dict;
  dict["found"] = counts.found;
  dict["gold"] = counts.truth;
  for (const auto& [name, value] :
       {std::pair("precision", score.precision), {"recall", score.recall}, {"f1", score.f1}}) {
    dict[name] = value.value;
    dict[py::str(std::string(name) + "_low")] = value.low;
    dict[py::str(std::string(name) + "_high")] = value.high;
  }
  return dict;
}

py::tuple scores_of(const py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>& offsets,
                    const TagColumn& tags, const TagColumn& gold, std::size_t types) {
  const SequenceEvaluation evaluation = evaluate_sequences(
      std::span(offsets.data(), static_cast<std::size_t>(offsets.size())), tag_ids(tags), tag_ids(gold), types);
  py::list by_type;
  for (const TypeScore& score : evaluation.types) by_type.append(span_score_dict(score.counts, score.strict));
  return py::make_tuple(evaluation.documents, evaluation.tokens, evaluation.token_accuracy.value,
                        span_score_dict(evaluation.counts, evaluation.strict),
                        span_score_dict(evaluation.counts, evaluation.relaxed), by_type);
}

py::list compare_methods(const SequenceAnswers& answers, const std::vector<std::string>& methods, std::size_t folds,
                         double share, std::uint64_t seed, unsigned threads) {
  return compare_by_hidden_answers<Sequences>(SequenceData{answers, {}, {}, 0}, methods, folds, share, seed, threads);
}

template <class T>
std::vector<T> column_of(const py::dict& found, const char* name) {
  const auto values = found[name].cast<py::array_t<T, py::array::c_style | py::array::forcecast>>();
  return {values.data(), values.data() + values.size()};
}

/// A fit as fit_sequences returned it.
SequenceFit fit_from(const SequenceAnswers& answers, const py::dict& found) {
  SequenceFit fit;
  fit.document_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.tag_count = answers.tag_count();
  for (const std::uint16_t tag : column_of<std::uint16_t>(found, "tags")) fit.tags.push_back(TagId{tag});
  fit.probability = column_of<double>(found, "probability");
  const auto documents = column_of<std::uint32_t>(found, "span_document");
  const auto first = column_of<std::uint32_t>(found, "span_first"), end = column_of<std::uint32_t>(found, "span_end");
  const auto types = column_of<std::uint32_t>(found, "span_type");
  for (std::size_t s = 0; s < documents.size(); ++s) {
    fit.spans.push_back({TaskId{documents[s]}, first[s], end[s], types[s]});
  }
  fit.span_probability = column_of<double>(found, "span_probability");
  fit.accuracy = column_of<double>(found, "accuracy");
  fit.trace = column_of<double>(found, "trace");
  fit.objective_name = found["objective"].cast<std::string>();
  fit.objective_is_monotone = !fit.trace.empty();
  fit.iterations = found["iterations"].cast<std::size_t>();
  fit.warnings = warnings_from(found["warnings"]);
  return fit;
}

/// `tokens` has a text per token, or is empty.
py::str sequence_report(const SequenceAnswers& answers, const py::dict& found, const std::string& method,
                        const py::dict& parameters, const std::optional<TagColumn>& gold, bool gold_seen,
                        const std::vector<std::string>& tokens, std::uint32_t first_position, const std::string& title,
                        bool as_json, std::uint64_t seed, unsigned threads, const py::object& progress) {
  if (!as_json) check_report_page();
  SequenceData data{answers, gold ? tag_ids(*gold) : std::vector<TagId>{}, {}, first_position};
  if (!tokens.empty()) data.tokens = NameTable(tokens);
  validate(data);
  SequenceFit fit = fit_from(answers, found);
  std::uint64_t known = 0;
  for (const TagId tag : data.gold) known += tag != kNoTag ? 1 : 0;
  ReportFrame frame = report_frame(method_of<Sequences>(method), parameters, seed, title, known, gold_seen);
  Work work(seed, threads, progress);
  const std::string text = work.run([&](const RunContext& context) {
    SequenceResult result = make_result(std::move(data), std::move(fit), std::move(frame.record));
    if (result.record.gold_use == "evaluation") {
      result.evaluation =
          evaluate_sequences(answers.token_offsets(), result.fit.tags, result.data.gold, answers.type_names().size());
    }
    return as_json ? report_json(result, frame.options, context) : report_html(result, frame.options, context);
  });
  return to_str(text);
}

std::vector<std::string> texts_of(const NameTable& names) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) texts.emplace_back(names[i]);
  return texts;
}

/// A row per tag, by code of document, worker and tag.
py::dict sequence_data_dict(const SequenceData& data, const DataReport& report) {
  const SequenceAnswers& answers = data.answers;
  std::vector<std::uint32_t> documents, workers, positions, tags;
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    for (AnswerIndex a = answers.task_offsets()[d]; a < answers.task_offsets()[d + 1]; ++a) {
      const auto own = answers.tags(a);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i] == kNoTag) continue;
        documents.push_back(static_cast<std::uint32_t>(d));
        workers.push_back(static_cast<std::uint32_t>(answers.workers()[a]));
        positions.push_back(answers.first(a) + static_cast<std::uint32_t>(i) + data.first_position);
        tags.push_back(static_cast<std::uint32_t>(own[i]));
      }
    }
  }
  std::vector<std::uint32_t> gold, lengths;
  for (const TagId tag : data.gold) gold.push_back(static_cast<std::uint32_t>(tag));
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    lengths.push_back(static_cast<std::uint32_t>(answers.length(TaskId(d))));
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < answers.tag_count(); ++k) names.push_back(tag_name(TagId(k), answers.type_names()));
  py::dict dict;
  const auto add = [&](const char* name, std::vector<std::uint32_t> values) {
    const auto count = static_cast<py::ssize_t>(values.size());
    dict[name] = to_array(std::move(values), {count});
  };
  add("documents", std::move(documents));
  add("workers", std::move(workers));
  add("positions", std::move(positions));
  add("tags", std::move(tags));
  add("gold", std::move(gold));
  add("lengths", std::move(lengths));
  dict["document_names"] = to_objects(answers.task_names());
  dict["worker_names"] = to_objects(answers.worker_names());
  dict["tag_names"] = names;
  dict["tokens"] = texts_of(data.tokens);
  dict["first_position"] = data.first_position;
  dict["warnings"] = to_list(report.warnings);
  return dict;
}

/// Files of any shape that the program takes.
py::dict read_sequence_files(const std::string& answers, const std::optional<std::string>& gold,
                             const std::optional<std::string>& tokens, bool wide, const std::string& format,
                             bool lenient) {
  ReadOptions options;
  if (wide) options.layout = TableLayout::wide;
  if (const auto table = find_in(kTableFormatNames, format)) {
    options.format = *table;
  } else if (!format.empty()) {
    options.platform.name = platform_named(format).name;
  }
  options.lenient = lenient;
  SequenceFiles files;
  files.answers = answers;
  files.gold = gold;
  files.tokens = tokens;
  DataReport report;
  Work work(0, 0, py::none());
  const SequenceData data =
      work.run([&](const RunContext& context) { return read_sequences(files, options, context, &report); });
  return sequence_data_dict(data, report);
}

}  // namespace

void define_sequences(py::module_& module) {
  py::class_<SequenceAnswers>(module, "SequenceAnswers")
      .def_property_readonly("types", [](const SequenceAnswers& a) { return to_objects(a.type_names()); })
      .def_property_readonly("tag_names",
                             [](const SequenceAnswers& a) {
                               std::vector<std::string> names;
                               for (std::size_t k = 0; k < a.tag_count(); ++k) {
                                 names.push_back(tag_name(TagId(k), a.type_names()));
                               }
                               return names;
                             })
      .def_property_readonly("fingerprint", &SequenceAnswers::content_hash)
      .def("__len__", [](const SequenceAnswers& a) { return a.answer_count(); });
  module.def("sequence_answers", &sequence_answers);
  module.def("sequence_tags", [](const SequenceAnswers& answers, const std::vector<std::string>& texts) {
    std::vector<std::uint16_t> ids;
    for (const TagId tag : parsed_tags(texts, answers.type_names())) ids.push_back(static_cast<std::uint16_t>(tag));
    const auto count = static_cast<py::ssize_t>(ids.size());
    return to_array(std::move(ids), {count});
  });
  module.def("sequence_methods", [] {
    py::list list;
    for (const MethodInfo& info : methods_of<Sequences>()) list.append(info_of(info));
    return list;
  });
  module.attr("no_tag") = static_cast<unsigned>(kNoTag);
  module.attr("default_sequence_method") = std::string(default_method_of<Sequences>());
  module.def("fit_sequences", [](const SequenceAnswers& answers, const std::string& method, const py::dict& parameters,
                                 const std::optional<TagColumn>& gold, std::uint64_t seed, unsigned threads,
                                 const py::object& progress) {
    const Parameters checked = parameters_from(method_of<Sequences>(method).parameters, parameters);
    SequenceData data{answers, {}, {}, 0};
    if (gold) data.gold = tag_ids(*gold);
    Work work(seed, threads, progress);
    return sequence_fit_dict(
        work.run([&](const RunContext& context) { return aggregate(data, method, checked, context); }));
  });
  module.def("evaluate_sequences", &scores_of);
  module.def("read_sequences", &read_sequence_files);
  module.def("compare_sequences", &compare_methods);
  module.def("report_sequences", &sequence_report);
}

}  // namespace wisecrowd::python
