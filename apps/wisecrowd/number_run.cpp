#include "number_run.hpp"

#include "kind_run.hpp"
#include "number_text.hpp"

namespace wisecrowd::app {
namespace {

struct NumberSurface {
  using Kind = Numbers;

  static NumberData read(const KindRequest& request, const RunContext& context, DataReport& report) {
    const auto gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
    return read_numbers(request.answers, gold, request.read.options(), context, &report);
  }
  static std::vector<Warning> warnings(const NumberData& data) { return wisecrowd::describe(data.answers).warnings; }
  static std::uint64_t known(const NumberData& data) {
    std::uint64_t known = 0;
    for (std::size_t t = 0; t < data.answers.task_count(); ++t) known += data.has_gold(TaskId(t)) ? 1 : 0;
    return known;
  }
  static void forget_gold(NumberData& data) { data.gold.clear(); }
  static NumberEvaluation evaluate(const NumberData& data, const NumberFit& fit) {
    return evaluate_numbers(fit.estimate, fit.low, fit.high, data.gold, data.answers.dimensions());
  }
  static double badness(const NumberEvaluation& evaluation) { return evaluation.dimensions[0].absolute_error.value; }

  static std::string data_line(const NumberData& data, const Screen& screen) {
    return number_data_line(data.answers, screen);
  }
  static std::string summary(const NumberResult& result, bool is_default, double seconds, const Screen& screen) {
    return number_summary(result, is_default, seconds, screen);
  }
  static std::string score_lines(const NumberEvaluation& evaluation, const NumberData& data, const Screen& screen) {
    return number_score_lines(evaluation, names(data), screen);
  }
  static Json score_json(const NumberEvaluation& evaluation, const NumberData& data) {
    return number_evaluation_json(evaluation, names(data));
  }
  static std::string description_text(const NumberData& data, const Screen& screen) {
    return number_description_text(wisecrowd::describe(data.answers), data.answers, screen);
  }
  static Json description_json(const NumberData& data, const std::vector<Warning>& warnings) {
    return number_description_json(wisecrowd::describe(data.answers), data.answers, warnings);
  }

  static constexpr const char* kGoldUnit = "task";
  static constexpr const char* kScore = "log density";
  static constexpr const char* kScoreKey = "log_density";
  static constexpr const char* kAboutScore =
      "log density is the mean logarithm of the density that a method, fitted to the other answers, gives to a hidden "
      "one: higher is better. A difference whose interval contains 0 means nothing.";
  static constexpr const char* kFiles =
      "  estimates.csv  an estimate with its interval for each task\n"
      "  workers.csv    bias and scale of each worker\n";

 private:
  static std::vector<std::string> names(const NumberData& data) {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < data.answers.dimensions(); ++d) {
      names.emplace_back(data.answers.dimension_names()[d]);
    }
    return names;
  }
};

}  // namespace

KindCommands number_commands() {
  return {Numbers::name, aggregate_kind<NumberSurface>, describe_kind<NumberSurface>, compare_kind<NumberSurface>,
          evaluate_numbers_file};
}

}  // namespace wisecrowd::app
