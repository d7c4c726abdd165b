#include "similarity_run.hpp"

#include "kind_run.hpp"
#include "similarity_text.hpp"
#include "wisecrowd/read_similarities.hpp"
#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd::app {
namespace {

struct SimilaritySurface {
  using Kind = Similarities;

  static SimilarityData read(const KindRequest& request, const RunContext& context, DataReport& report) {
    const auto gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
    return read_similarities(request.answers, gold, request.read.options(), context, &report);
  }
  static std::vector<Warning> warnings(const SimilarityData& data) {
    return wisecrowd::describe(data.answers).warnings;
  }
  static std::uint64_t known(const SimilarityData& data) { return gold_count(data); }
  static void forget_gold(SimilarityData& data) {
    data.gold.clear();
    data.gold_pairs.clear();
    data.gold_clusters = {};
  }
  static SimilarityEvaluation evaluate(const SimilarityData& data, const SimilarityFit& fit) {
    return evaluate_similarities(fit.cluster, data);
  }
  static double badness(const SimilarityEvaluation& evaluation) { return -evaluation.accuracy.value; }

  static std::string data_line(const SimilarityData& data, const Screen& screen) {
    return similarity_data_line(data.answers, screen);
  }
  static std::string summary(const SimilarityResult& result, bool is_default, double seconds, const Screen& screen) {
    return similarity_summary(result, is_default, seconds, screen);
  }
  static std::string score_lines(const SimilarityEvaluation& evaluation, const SimilarityData&, const Screen& screen) {
    return similarity_score_lines(evaluation, screen);
  }
  static Json score_json(const SimilarityEvaluation& evaluation, const SimilarityData&) {
    return similarity_evaluation_json(evaluation);
  }
  static std::string description_text(const SimilarityData& data, const Screen& screen) {
    return similarity_description_text(wisecrowd::describe(data.answers), data.answers, screen);
  }
  static Json description_json(const SimilarityData& data, const std::vector<Warning>& warnings) {
    return similarity_description_json(wisecrowd::describe(data.answers), data.answers, warnings);
  }

  static constexpr const char* kGoldUnit = "item";
  static constexpr const char* kScore = "log probability";
  static constexpr const char* kScoreKey = "log_probability";
  static constexpr const char* kAboutScore =
      "log probability is the mean logarithm of the probability that a method, fitted to the other answers, gives to a "
      "hidden one: higher is better. A difference whose interval contains 0 means nothing.";
  static constexpr const char* kFiles = kClusterFiles;
};

}  // namespace

KindCommands similarity_commands() {
  return {Similarities::name, aggregate_kind<SimilaritySurface>, describe_kind<SimilaritySurface>,
          compare_kind<SimilaritySurface>, evaluate_clusters_file};
}

}  // namespace wisecrowd::app
