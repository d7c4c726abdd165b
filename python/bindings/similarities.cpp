#include "hidden_scores.hpp"
#include "report_frame.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_similarities.hpp"
#include "wisecrowd/similarity_aggregator.hpp"
#include "wisecrowd/similarity_result.hpp"

namespace wisecrowd::python {
namespace {

using Codes = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using Flags = py::array_t<bool, py::array::c_style | py::array::forcecast>;

/// Answers by name; ids follow the order of names.
SimilarityAnswers similarity_answers(const Codes& workers, const Codes& left, const Codes& right, const Flags& same,
                                     const std::vector<std::string>& worker_names,
                                     const std::vector<std::string>& item_names, const std::string& duplicates) {
  SimilarityAnswersBuilder builder;
  for (const std::string& item : item_names) builder.add_item(item);
  for (const std::string& worker : worker_names) builder.add_worker(worker);
  for (py::ssize_t i = 0; i < workers.size(); ++i) {
    builder.add(worker_names.at(workers.data()[i]), item_names.at(left.data()[i]), item_names.at(right.data()[i]),
                same.data()[i]);
  }
  return builder.build(duplicate_policy(duplicates));
}

/// `gold`: the cluster of each item, 4294967295 where unknown.
SimilarityData similarity_data(const SimilarityAnswers& answers, const std::optional<Codes>& gold,
                               const std::vector<std::string>& gold_names) {
  SimilarityData data;
  data.answers = answers;
  if (gold) data.gold.assign(gold->data(), gold->data() + gold->size());
  data.gold_clusters = NameTable(gold_names);
  return data;
}

py::array_t<double> to_vector(std::vector<double> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return to_array(std::move(values), {size});
}

py::dict similarity_fit_dict(SimilarityFit fit, const SimilarityAnswers& answers) {
  py::dict dict;
  dict["clusters"] = fit.cluster_names;
  dict["cluster"] = fit.cluster;
  dict["probability"] = to_vector(std::move(fit.probability));
  dict["same"] = to_vector(std::move(fit.same));
  dict["false_different"] = to_vector(std::move(fit.false_different));
  dict["false_same"] = to_vector(std::move(fit.false_same));
  std::vector<std::uint32_t> left, right;
  for (const SimilarPair pair : answers.pairs()) {
    left.push_back(pair.left);
    right.push_back(pair.right);
  }
  dict["left"] = left;
  dict["right"] = right;
  dict["iterations"] = fit.iterations;
  dict["status"] = to_str(to_string(fit.status));
  dict["explanation"] = fit.explanation;
  dict["warnings"] = to_list(fit.warnings);
  return dict;
}

/// A report of a fit as fit_similarities returned it.
py::str similarity_report(const SimilarityAnswers& answers, const py::dict& found, const std::string& method,
                          const py::dict& parameters, const std::optional<Codes>& gold,
                          const std::vector<std::string>& gold_names, bool gold_seen, const std::string& title,
                          bool as_json, std::uint64_t seed, unsigned threads) {
  if (!as_json) check_report_page();
  SimilarityData data = similarity_data(answers, gold, gold_names);
  SimilarityFit fit;
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  fit.cluster_names = found["clusters"].cast<std::vector<std::string>>();
  fit.cluster = found["cluster"].cast<std::vector<std::uint32_t>>();
  fit.probability = reals(found["probability"]);
  fit.same = reals(found["same"]);
  fit.false_different = reals(found["false_different"]);
  fit.false_same = reals(found["false_same"]);
  fit.iterations = found["iterations"].cast<std::size_t>();
  fit.explanation = found["explanation"].cast<std::string>();
  fit.warnings = warnings_from(found["warnings"]);
  ReportFrame frame =
      report_frame(method_of<Similarities>(method), parameters, seed, title, gold_count(data), gold_seen);
  Work work(seed, threads, py::none());
  const std::string text = work.run([&](const RunContext& context) {
    SimilarityResult result = make_result(std::move(data), std::move(fit), std::move(frame.record));
    if (result.record.gold_use == "evaluation") {
      result.evaluation = evaluate_similarities(result.fit.cluster, result.data);
    }
    return as_json ? report_json(result, frame.options, context) : report_html(result, frame.options, context);
  });
  return to_str(text);
}

}  // namespace

void define_similarities(py::module_& module) {
  py::class_<SimilarityAnswers>(module, "SimilarityAnswers")
      .def_property_readonly("item_names", [](const SimilarityAnswers& a) { return to_objects(a.item_names()); })
      .def_property_readonly("worker_names", [](const SimilarityAnswers& a) { return to_objects(a.worker_names()); })
      .def_property_readonly("fingerprint", &SimilarityAnswers::content_hash)
      .def("__len__", [](const SimilarityAnswers& a) { return a.answer_count(); });
  module.def("similarity_answers", &similarity_answers);
  module.def("similarity_methods", [] {
    py::list list;
    for (const MethodInfo& info : methods_of<Similarities>()) list.append(info_of(info));
    return list;
  });
  module.attr("default_similarity_method") = std::string(default_method_of<Similarities>());
  module.attr("no_cluster") = kNoCluster;
  module.def(
      "fit_similarities", [](const SimilarityAnswers& answers, const std::string& method, const py::dict& parameters,
                             const std::optional<Codes>& gold, const std::vector<std::string>& gold_names,
                             std::uint64_t seed, unsigned threads, const py::object& progress) {
        const Parameters checked = parameters_from(method_of<Similarities>(method).parameters, parameters);
        const SimilarityData data = similarity_data(answers, gold, gold_names);
        Work work(seed, threads, progress);
        return similarity_fit_dict(
            work.run([&](const RunContext& context) { return aggregate(data, method, checked, context); }), answers);
      });
  module.def("evaluate_similarities", [](const Codes& cluster, const Codes& gold) {
    SimilarityData data;
    data.gold.assign(gold.data(), gold.data() + gold.size());
    const SimilarityEvaluation e =
        evaluate_similarities(std::span(cluster.data(), static_cast<std::size_t>(cluster.size())), data);
    py::dict dict;
    dict["items"] = e.items;
    dict["clusters"] = e.clusters;
    dict["true_clusters"] = e.true_clusters;
    dict["accuracy"] = e.accuracy.value;
    dict["accuracy_low"] = e.accuracy.low;
    dict["accuracy_high"] = e.accuracy.high;
    dict["nmi"] = e.nmi;
    dict["adjusted_rand"] = e.adjusted_rand;
    dict["pair_precision"] = e.pair_precision;
    dict["pair_recall"] = e.pair_recall;
    dict["pair_f1"] = e.pair_f1;
    return dict;
  });
  module.def("report_similarities", &similarity_report);
  module.def("compare_similarities", [](const SimilarityAnswers& answers, const std::vector<std::string>& methods,
                                        std::size_t folds, double share, std::uint64_t seed, unsigned threads) {
    return compare_by_hidden_answers<Similarities>(similarity_data(answers, std::nullopt, {}), methods, folds, share,
                                                   seed, threads);
  });
}

}  // namespace wisecrowd::python
