// Every method for sequences runs through this, by its line in src/aggregate/sequences/methods.def.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_sequences.hpp"
#include "wisecrowd/sequence_data.hpp"
#include "wisecrowd/sequence_fit.hpp"
#include "wisecrowd/simulate_sequences.hpp"

namespace wisecrowd {
namespace {

class EverySequenceAggregator : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static SequenceSimulation crowd(std::size_t documents = 40) {
    Parameters parameters(sequence_simulation_parameters());
    parameters.set_value("length", 40.0);
    parameters.set_value("partial", 0.3);
    return simulate_sequences({.documents = documents, .workers = 10, .answers_per_document = 4, .types = 3},
                              parameters, RunContext({.seed = 3}));
  }
  /// Without the truth that was drawn.
  [[nodiscard]] static SequenceData answers_of(const SequenceSimulation& simulation) {
    return {simulation.data.answers, {}, {}, 0};
  }
  [[nodiscard]] SequenceFit fit(const SequenceData& data, unsigned threads = 1) const {
    return aggregate(data, GetParam(), Parameters(method_of<Sequences>(GetParam()).parameters),
                     RunContext({.threads = threads}));
  }
  [[nodiscard]] static std::vector<std::uint32_t> shuffled(std::size_t count, Rng& rng) {
    std::vector<std::uint32_t> list(count);
    std::iota(list.begin(), list.end(), 0U);
    for (std::size_t i = count; i > 1; --i) std::swap(list[i - 1], list[rng.below(i)]);
    return list;
  }
  [[nodiscard]] static TagId renamed(TagId tag, std::span<const std::uint32_t> types) {
    if (tag == kOutside || tag == kNoTag) return tag;
    return is_begin(tag) ? begin_tag(types[type_of(tag)]) : inside_tag(types[type_of(tag)]);
  }
  /// The same answers with documents, workers and types renumbered.
  [[nodiscard]] static SequenceData renumbered(const SequenceAnswers& answers, std::span<const std::uint32_t> documents,
                                               std::span<const std::uint32_t> workers,
                                               std::span<const std::uint32_t> types) {
    std::vector<std::vector<TagId>> tags(answers.answer_count());
    std::vector<SequenceAnswer> list;
    std::vector<std::uint32_t> lengths(documents.size());
    for (std::size_t d = 0; d < documents.size(); ++d) {
      lengths[documents[d]] = static_cast<std::uint32_t>(answers.length(TaskId(d)));
      for (AnswerIndex a = answers.task_offsets()[d]; a < answers.task_offsets()[d + 1]; ++a) {
        for (const TagId tag : answers.tags(a)) tags[a].push_back(renamed(tag, types));
        list.push_back(
            {TaskId{documents[d]}, WorkerId{workers[index(answers.workers()[a])]}, answers.first(a), tags[a]});
      }
    }
    const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
    return {make_sequence_answers(list, {blank(documents.size()), blank(workers.size()), blank(types.size())}, lengths),
            {},
            {},
            0};
  }
};

TEST_P(EverySequenceAggregator, IsWellFormed) {
  const SequenceData data = answers_of(crowd());
  const SequenceFit result = fit(data);
  const std::size_t tokens = data.answers.token_count();
  ASSERT_EQ(result.tag_count, 7U);
  ASSERT_EQ(result.posterior.size(), tokens * 7);
  ASSERT_EQ(result.tags.size(), tokens);
  ASSERT_EQ(result.probability.size(), tokens);
  for (std::size_t t = 0; t < tokens; ++t) {
    const auto q = result.posterior_of(t);
    EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-9);
    EXPECT_EQ(result.probability[t], q[index(result.tags[t])]);
  }
  for (std::size_t row = 0; row < result.worker_tables.size(); row += 7) {
    EXPECT_NEAR(std::accumulate(result.worker_tables.begin() + static_cast<std::ptrdiff_t>(row),
                                result.worker_tables.begin() + static_cast<std::ptrdiff_t>(row + 7), 0.0),
                1, 1e-9);
  }
  ASSERT_EQ(result.accuracy.size(), 10U);
  ASSERT_EQ(result.spans.size(), result.span_probability.size());
  std::vector<Span> spans;
  for (std::size_t d = 0; d < data.answers.task_count(); ++d) {
    append_spans(TaskId(d),
                 std::span(result.tags).subspan(data.answers.token_offsets()[d], data.answers.length(TaskId(d))),
                 spans);
  }
  EXPECT_EQ(spans, result.spans);
  for (const double p : result.span_probability) EXPECT_TRUE(p >= 0 && p <= 1);
}

TEST_P(EverySequenceAggregator, EmptyAndTinyData) {
  EXPECT_TRUE(fit({}).tags.empty());
  SequenceAnswersBuilder one;
  const std::vector<std::string> span = {"B-x"}, outside = {"O"};
  one.add("d", "w", span);
  EXPECT_EQ(fit({one.build(), {}, {}, 0}).tags, std::vector<TagId>{begin_tag(0)});
  SequenceAnswersBuilder nothing;  // no type at all
  nothing.add("d", "w", outside).add("d", "v", outside);
  EXPECT_EQ(fit({nothing.build(), {}, {}, 0}).tags, std::vector<TagId>{kOutside});
  SequenceAnswersBuilder bare;
  bare.add("a", "w", span).add_document("b", 3).add_document("c", 0).add_worker("v").add_type("y");
  const SequenceFit result = fit({bare.build(), {}, {}, 0});
  ASSERT_EQ(result.tags.size(), 4U);
  for (const double p : result.posterior) EXPECT_TRUE(std::isfinite(p));
  EXPECT_TRUE(std::isnan(result.accuracy[0]));  // v comes first, and said nothing
}

TEST_P(EverySequenceAggregator, SameBitsForAnyNumberOfThreads) {
  const SequenceData data = answers_of(crowd(400));
  const SequenceFit one = fit(data, 1), many = fit(data, 3);
  EXPECT_EQ(one.posterior, many.posterior);
  EXPECT_EQ(one.tags, many.tags);
  EXPECT_EQ(one.span_probability, many.span_probability);
  EXPECT_EQ(one.worker_tables, many.worker_tables);
  EXPECT_EQ(one.trace, many.trace);
}

TEST_P(EverySequenceAggregator, RenamingPermutesAndChangesNothingElse) {
  const SequenceData data = answers_of(crowd());
  Rng rng(1);
  const auto documents = shuffled(40, rng), workers = shuffled(10, rng), types = shuffled(3, rng);
  const SequenceFit before = fit(data);
  const SequenceData other = renumbered(data.answers, documents, workers, types);
  const SequenceFit after = fit(other);
  EXPECT_EQ(before.spans.size(), after.spans.size());
  for (std::size_t d = 0; d < 40; ++d) {
    const std::size_t from = data.answers.token_offsets()[d], to = other.answers.token_offsets()[documents[d]];
    for (std::size_t t = 0; t < data.answers.length(TaskId(d)); ++t) {
      for (std::size_t k = 0; k < 7; ++k) {
        EXPECT_NEAR(before.posterior_of(from + t)[k], after.posterior_of(to + t)[index(renamed(TagId(k), types))],
                    1e-6);
      }
    }
  }
  for (std::size_t w = 0; w < 10; ++w) EXPECT_NEAR(before.accuracy[w], after.accuracy[workers[w]], 1e-6);
}

TEST_P(EverySequenceAggregator, GoldIsTheTag) {
  SequenceData data = crowd().data;
  std::vector<TagId> known = data.gold;
  const std::size_t half = data.answers.token_offsets()[20];
  for (std::size_t t = half; t < known.size(); ++t) known[t] = kNoTag;
  data.gold = known;
  const SequenceFit result = fit(data);
  for (std::size_t t = 0; t < half; ++t) {
    EXPECT_EQ(result.tags[t], known[t]);
    EXPECT_NEAR(result.probability[t], 1, 1e-9);
  }
}

TEST_P(EverySequenceAggregator, ObjectiveIsMonotoneIfDeclared) {
  const SequenceFit result = fit(answers_of(crowd()));
  for (std::size_t i = 1; i < result.trace.size() && result.objective_is_monotone; ++i) {
    EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-8 * std::abs(result.trace[i]));
  }
}

TEST_P(EverySequenceAggregator, IsNearerToTheTruthThanOneWorker) {
  const SequenceSimulation simulation = crowd(150);
  const SequenceAnswers& answers = simulation.data.answers;
  const auto offsets = answers.token_offsets();
  std::vector<TagId> alone(answers.token_count(), kNoTag);  // one worker of each document
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    const AnswerIndex a = answers.task_offsets()[d];
    std::copy(answers.tags(a).begin(), answers.tags(a).end(),
              alone.begin() + static_cast<std::ptrdiff_t>(offsets[d] + answers.first(a)));
  }
  const auto strict_f1 = [&](const std::vector<TagId>& tags) {
    return evaluate_sequences(offsets, tags, simulation.data.gold, 3).strict.f1.value;
  };
  const double f1 = strict_f1(fit(answers_of(simulation)).tags);
  EXPECT_GT(f1, strict_f1(alone));
  EXPECT_GT(f1, 0.6);
}

TEST_P(EverySequenceAggregator, ProbabilitiesOfHiddenAnswersAreFinite) {
  const SequenceData data = answers_of(crowd());
  const auto method = make_method<Sequences>(GetParam(), Parameters(method_of<Sequences>(GetParam()).parameters));
  std::vector<TagId> odd(data.answers.length(TaskId{3}), inside_tag(2));  // what nobody says
  std::vector<SequenceAnswer> answers = {{TaskId{3}, WorkerId{2}, 0, odd}};
  odd[0] = kNoTag;
  const auto logs = method->log_predictive(data, answers, RunContext());
  EXPECT_TRUE(std::isfinite(logs.at(0)));
  EXPECT_LT(logs[0], 0);
  SequenceAnswersBuilder bare;
  bare.add_document("d", 1).add_worker("w").add_type("x");
  const std::vector<TagId> one = {begin_tag(0)};
  const SequenceAnswer answer{TaskId{0}, WorkerId{0}, 0, one};
  EXPECT_TRUE(
      std::isfinite(method->log_predictive({bare.build(), {}, {}, 0}, std::span(&answer, 1), RunContext()).at(0)));
}

TEST_P(EverySequenceAggregator, StopsWhenCancelled) {
  std::atomic<bool> stop{true};
  const RunContext context({.cancel = &stop});
  const SequenceFit result =
      aggregate(answers_of(crowd()), GetParam(), Parameters(method_of<Sequences>(GetParam()).parameters), context);
  EXPECT_EQ(result.status, Status::cancelled);
}

std::vector<std::string> names_of_sequence_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods_of<Sequences>()) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EverySequenceAggregator, ::testing::ValuesIn(names_of_sequence_methods()),
                         [](const auto& info) { return info.param; });

TEST(SequenceMethods, TheWrongKindIsSaid) {
  try {
    (void)method_of<Sequences>("dawid_skene");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("these answers are sequences"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisecrowd
