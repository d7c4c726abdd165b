#include "aggregate/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "aggregate/categories/shared/decision.hpp"
#include "aggregate/categories/shared/memory_need.hpp"
#include "aggregate/categories/shared/table_model.hpp"
#include "aggregate/kind_registry.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/answer_kind_names.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/method_needs.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/task_graph.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room) \
  namespace room {             \
  CategoryMethod method();     \
  }
#include "aggregate/categories/methods.def"
#undef WISECROWD_METHOD

template <>
const Registry<CategoryMethod>& registry_of<Categories>() {
  static const Registry<CategoryMethod> all("method",
                                            {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/categories/methods.def"
#undef WISECROWD_METHOD
                                            },
                                            {{"em", "dawid_skene"}, {"auto", "automatic"}});
  return all;
}

template <>
std::string_view default_method_of<Categories>() {
  return "automatic";
}

template std::span<const MethodInfo> methods_of<Categories>();
template const MethodInfo& method_of<Categories>(std::string_view);
template std::unique_ptr<CategoryAggregator> make_method<Categories>(std::string_view, const Parameters&);

std::span<const std::string_view> answer_kind_names() {
  static constexpr std::string_view kNames[] = {
#define WISECROWD_ANSWER_KIND(Kind, folder) Kind::name,
#include "aggregate/answer_kinds.def"
#undef WISECROWD_ANSWER_KIND
  };
  return kNames;
}

std::span<const AnswerKind> answer_kinds() {
  static const std::vector<AnswerKind> kinds = {
#define WISECROWD_ANSWER_KIND(Kind, folder) {Kind::name, methods_of<Kind>(), default_method_of<Kind>()},
#include "aggregate/answer_kinds.def"
#undef WISECROWD_ANSWER_KIND
  };
  return kinds;
}

void refuse_method(std::string_view kind, std::string_view name, const std::vector<std::string>& names) {
  for (const AnswerKind& other : answer_kinds()) {
    for (const MethodInfo& info : other.methods) {
      if (info.name != name) continue;
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("{} is for answers that are {}; these answers are {}: choose one of {}", name, other.name,
                              kind, fmt::join(names, ", ")));
    }
  }
  throw Error(ErrorCode::bad_parameter,
              kind == Categories::name ? fmt::format("there is no method '{}': choose {}", name, fmt::join(names, ", "))
                                       : fmt::format("there is no method '{}' for answers that are {}: choose {}", name,
                                                     kind, fmt::join(names, ", ")));
}

std::span<const MethodInfo> aggregation_methods() { return methods_of<Categories>(); }
const MethodInfo& aggregation_method(std::string_view name) { return method_of<Categories>(name); }
std::string_view default_aggregation_method() { return default_method_of<Categories>(); }

bool uses_order(const MethodInfo& info) noexcept {
  return info.name == "ordinal_dawid_skene" || info.name == "latent_ordinal";
}
bool uses_task_graph(const MethodInfo& info) noexcept { return info.name == "graph_dawid_skene"; }

void require_fit(const MethodInfo& info, const CategoryData& data, bool with_start) {
  if (data.answers.has_repeats() && !info.allows_repeats) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} cannot use repeated answers of a worker to a task: read the data "
                            "with duplicates {}",
                            info.name, to_string(DuplicatePolicy::keep_last)));
  }
  if (info.max_classes != 0 && data.answers.class_count() > info.max_classes) {
    throw Error(ErrorCode::unsupported, fmt::format("{} works for at most {} classes; these data have {}", info.name,
                                                    info.max_classes, data.answers.class_count()));
  }
  if (uses_order(info) && !is_ordered(data.answers)) refuse_unordered(info.name);
  if (uses_task_graph(info) && !task_graph(data.answers)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} needs to know which tasks are alike: give their `graph`, or `features` by which the "
                            "nearest `neighbours` of each are found",
                            info.name));
  }
  if (info.max_workers != 0 && data.answers.worker_count() > info.max_workers) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} compares all workers with each other and takes at most {}; these data have {}",
                            info.name, info.max_workers, data.answers.worker_count()));
  }
  if (with_start && !info.uses_start) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} does not iterate, so it cannot start from another method", info.name));
  }
}

std::unique_ptr<CategoryAggregator> make_aggregator(std::string_view name, const Parameters& parameters) {
  return make_method<Categories>(name, parameters);
}

CategoryFit aggregate(const CategoryData& data, std::string_view method, const Parameters& parameters,
                      const RunContext& context, const CategoryStart& start) {
  const MethodInfo& info = aggregation_method(method);
  validate(data);
  require_fit(info, data, !start.empty());
  require_memory(info, data, context);
  const std::size_t cells = data.answers.task_count() * data.answers.class_count();
  if (!start.empty() && start.posterior.size() != cells) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("a start needs a probability for each of {} tasks × {} classes, not {} numbers",
                            data.answers.task_count(), data.answers.class_count(), start.posterior.size()));
  }
  return make_aggregator(method, parameters)->fit(data, context, start);
}

CategoryFit aggregate(const CategoryData& data, std::span<const MethodStage> stages, const RunContext& context) {
  if (stages.empty()) throw Error(ErrorCode::bad_parameter, "a chain needs at least one method");
  for (std::size_t s = 0; s < stages.size(); ++s) require_fit(aggregation_method(stages[s].method), data, s > 0);
  CategoryFit result;
  std::vector<double> posterior;
  std::vector<Warning> earlier;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const bool last = s + 1 == stages.size();
    result = aggregate(data, stages[s].method, stages[s].parameters, context, CategoryStart{posterior});
    if (context.cancelled()) result.status = Status::cancelled;
    if (last || result.status == Status::cancelled) break;
    for (Warning& warning : result.warnings) earlier.push_back(std::move(warning));
    posterior = stages[s].handoff == MethodStage::Handoff::tables ? posterior_from_tables(data, result, context)
                                                                  : std::move(result.posterior);
  }
  for (Warning& warning : earlier) {
    const bool known = std::any_of(result.warnings.begin(), result.warnings.end(),
                                   [&](const Warning& w) { return w.code == warning.code; });
    if (!known) result.warnings.push_back(std::move(warning));
  }
  return result;
}

CategoryFit aggregate(const CategoryData& data, std::string_view method) {
  const std::string_view name = method.empty() ? default_aggregation_method() : method;
  return aggregate(data, name, Parameters(aggregation_method(name).parameters), RunContext());
}

}  // namespace wisecrowd
