#include "kind_run.hpp"
#include "set_evaluate.hpp"
#include "set_text.hpp"
#include "wisecrowd/set_methods.hpp"

namespace wisecrowd::app {
namespace {

struct SetSurface {
  using Kind = Sets;

  static SetData read(const KindRequest& request, const RunContext& context, DataReport& report) {
    const auto gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
    return read_sets(request.answers, gold, request.read.options(), context, &report);
  }
  static std::vector<Warning> warnings(const SetData& data) { return wisecrowd::describe(data.answers).warnings; }
  static std::uint64_t known(const SetData& data) {
    std::uint64_t known = 0;
    for (std::size_t t = 0; t < data.answers.task_count(); ++t) known += data.has_gold(TaskId(t)) ? 1 : 0;
    return known;
  }
  static void forget_gold(SetData& data) { data.gold.clear(); }
  static SetEvaluation evaluate(const SetData& data, const SetFit& fit) { return evaluate_sets(fit, data.gold); }
  static double badness(const SetEvaluation& evaluation) { return -evaluation.jaccard.value; }

  static std::string data_line(const SetData& data, const Screen& screen) {
    return set_data_line(data.answers, screen);
  }
  static std::string summary(const SetResult& result, bool is_default, double seconds, const Screen& screen) {
    return set_summary(result, is_default, seconds, screen);
  }
  static std::string score_lines(const SetEvaluation& evaluation, const SetData& data, const Screen& screen) {
    return set_score_lines(evaluation, data.answers.class_names(), screen);
  }
  static Json score_json(const SetEvaluation& evaluation, const SetData& data) {
    return set_evaluation_json(evaluation, data.answers.class_names());
  }
  static std::string description_text(const SetData& data, const Screen& screen) {
    return set_description_text(wisecrowd::describe(data.answers), data.answers, screen);
  }
  static Json description_json(const SetData& data, const std::vector<Warning>& warnings) {
    return set_description_json(wisecrowd::describe(data.answers), data.answers, warnings);
  }

  static constexpr const char* kGoldUnit = "task";
  static constexpr const char* kScore = "log probability";
  static constexpr const char* kScoreKey = "log_probability";
  static constexpr const char* kAboutScore =
      "log probability is the mean logarithm of the probability that a method, fitted to the other answers, gives to a "
      "hidden set as a whole: higher is better. A difference whose interval contains 0 means nothing.";
  static constexpr const char* kFiles =
      "  sets.csv       the set of each task, with the probability of each class\n"
      "  workers.csv    sensitivity and specificity of each worker, altogether and by class\n";
};

}  // namespace

KindCommands set_commands() {
  return {Sets::name, aggregate_kind<SetSurface>, describe_kind<SetSurface>, compare_kind<SetSurface>,
          evaluate_sets_file};
}

}  // namespace wisecrowd::app
