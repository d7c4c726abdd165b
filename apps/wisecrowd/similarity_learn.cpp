#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "screen_text.hpp"
#include "similarity_run.hpp"
#include "similarity_text.hpp"
#include "wisecrowd/learn_similarities.hpp"
#include "wisecrowd/read_similarities.hpp"

namespace wisecrowd::app {

void learn_clusters(const ItemLearningRequest& request, Session& session) {
  const Parameters parameters =
      parameters_from(similarity_learner().parameters, request.settings, similarity_learner().name);
  const NetworkSpec network = request.network.spec(LearnerInfo{});
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  Work work(session, request.run);
  ItemLearning learning = begin_item_learning(request, similarity_learner(), parameters, session, work.context());
  DataReport report;
  SimilarityData data = at_stage(Stage::reading, [&] {
    return read_similarities(request.answers, learning.gold, learning.reading, work.context(), &report);
  });
  const auto rows = read_item_features(request, data.answers.item_names(), report, learning, work);
  const auto without = std::count(rows.begin(), rows.end(), kNoRow);
  if (without > 0) {
    learning.record.data_warnings.push_back(
        {"items_without_features",
         fmt::format("{} of {} have no features, so only the answers speak for them", without,
                     counted(data.answers.item_count(), "item")),
         "are items and rows named alike?", Severity::caution});
  }
  learning.record.gold_tasks = gold_count(data);
  if (data.has_gold()) learning.record.gold_use = "evaluation";
  SimilarityData seen;
  seen.answers = data.answers;
  SimilarityLearned learned = learn_similarities(seen, learning.features.features, rows, network,
                                                 similarity_learning_options(parameters), work.context());
  work.check_stopped();
  const double seconds = learning.watch.lap();
  learning.record.timings.emplace_back("fit", seconds);
  SimilarityResult result = make_result(std::move(data), std::move(learned.fit), std::move(learning.record));
  if (result.record.gold_tasks > 0) result.evaluation = evaluate_similarities(result.fit.cluster, result.data);
  session.warn(result.record.data_warnings);
  write_learned(result, request, session, work);
  if (request.json) return session.out.add_json(learned_json(run_json(result), request));
  if (request.run.quiet) return;
  session.out.add(similarity_summary(result, true, seconds, session.out_screen));
  if (!request.out.empty()) session.out.add(written_files(request.out, kClusterFiles, session.out_screen));
}

}  // namespace wisecrowd::app
