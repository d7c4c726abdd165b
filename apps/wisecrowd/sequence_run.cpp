#include "sequence_run.hpp"

#include "kind_run.hpp"
#include "sequence_text.hpp"
#include "wisecrowd/read_sequences.hpp"

namespace wisecrowd::app {
namespace {

struct SequenceSurface {
  using Kind = Sequences;

  static SequenceData read(const KindRequest& request, const RunContext& context, DataReport& report) {
    SequenceFiles files;
    files.answers = request.answers;
    if (!request.gold.empty()) files.gold = request.gold;
    if (!request.read.tokens.empty()) files.tokens = request.read.tokens;
    const auto positions = request.read.position_columns();
    files.position_column = positions.answers;
    files.gold_position_column = positions.gold;
    return read_sequences(files, request.read.options(), context, &report);
  }
  static std::vector<Warning> warnings(const SequenceData& data) { return wisecrowd::describe(data.answers).warnings; }
  static std::uint64_t known(const SequenceData& data) {
    return static_cast<std::uint64_t>(
        std::count_if(data.gold.begin(), data.gold.end(), [](TagId tag) { return tag != kNoTag; }));
  }
  static void forget_gold(SequenceData& data) { data.gold.clear(); }
  static SequenceEvaluation evaluate(const SequenceData& data, const SequenceFit& fit) {
    return evaluate_sequences(data.answers.token_offsets(), fit.tags, data.gold, data.answers.type_names().size());
  }
  /// Where no side has a span, tags decide.
  static double badness(const SequenceEvaluation& evaluation) {
    const double f1 = evaluation.strict.f1.value;
    return f1 == f1 ? 1 - f1 : 2 - evaluation.token_accuracy.value;
  }

  static std::string data_line(const SequenceData& data, const Screen& screen) {
    return sequence_data_line(data.answers, screen);
  }
  static std::string summary(const SequenceResult& result, bool is_default, double seconds, const Screen& screen) {
    return sequence_summary(result, is_default, seconds, screen);
  }
  static std::string score_lines(const SequenceEvaluation& evaluation, const SequenceData& data, const Screen& screen) {
    return sequence_score_lines(evaluation, data.answers.type_names(), screen);
  }
  static Json score_json(const SequenceEvaluation& evaluation, const SequenceData& data) {
    return sequence_evaluation_json(evaluation, data.answers.type_names());
  }
  static std::string description_text(const SequenceData& data, const Screen& screen) {
    return sequence_description_text(wisecrowd::describe(data.answers), data.answers, screen);
  }
  static Json description_json(const SequenceData& data, const std::vector<Warning>& warnings) {
    return sequence_description_json(wisecrowd::describe(data.answers), data.answers, warnings);
  }

  static constexpr const char* kGoldUnit = "token";
  static constexpr const char* kScore = "log probability";
  static constexpr const char* kScoreKey = "log_probability";
  static constexpr const char* kAboutScore =
      "log probability is the mean logarithm of the probability that a method, fitted to the other answers, gives to "
      "all that a hidden worker said of a document: higher is better. A difference whose interval contains 0 means "
      "nothing.";
  static constexpr const char* kFiles =
      "  tags.csv       the tag of each token, with its probability\n"
      "  spans.csv      the spans that they make\n"
      "  workers.csv    how right each worker is, in tags and in spans\n";
};

}  // namespace

KindCommands sequence_commands() {
  return {Sequences::name, aggregate_kind<SequenceSurface>, describe_kind<SequenceSurface>,
          compare_kind<SequenceSurface>, evaluate_sequences_file};
}

}  // namespace wisecrowd::app
