#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "deliver/report/sections.hpp"
#include "wisecrowd/messages.hpp"

// Who can be trusted: what was found, each with what to do and why; a picture of who answers as one with whom; and how
// right workers were in the course of their answers.

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostGroups = 12, kFewGroups = 4;
constexpr std::size_t kMostMembers = 24, kMostMembersOfMany = 12;  // with few groups, with more
constexpr std::size_t kMostAlone = 40, kMostEdges = 400;
constexpr std::size_t kMostTimelines = 120, kMostStretches = 24;
constexpr std::size_t kPictureBytes = 60'000, kTimelineBytes = 80'000;
constexpr std::size_t kNamed = 4;
constexpr std::uint64_t kFewestCommon = 5;  // tasks that two share, to be joined by a line
constexpr std::size_t kBesideName = 40;     // characters of a name in a sentence
constexpr std::uint64_t kTimelineAnswers = DriftOptions{}.least_answers;

using Workers = std::vector<std::uint32_t>;

TrustStudy study_of(const Source& source) {
  if (source.options.trust) return *source.options.trust;
  TrustStudy study;
  study.dependence = source.result.dependence;
  study.workers = source.advice.workers;
  study.order = source.result.times.order;
  study.drift = source.advice.drift;
  study.group.assign(study.workers.size(), TrustStudy::kAlone);
  for (std::uint32_t g = 0; g < study.dependence.groups.size(); ++g) {
    for (const WorkerId worker : study.dependence.groups[g].workers) study.group[index(worker)] = g;
  }
  return study;
}

/// "a, b and 3 more"
std::string named(const Source& source, const Workers& workers) {
  std::string text;
  const std::size_t shown = workers.size() <= kNamed + 1 ? workers.size() : kNamed;
  for (std::size_t n = 0; n < shown; ++n) {
    const bool last = n + 1 == shown && shown == workers.size();
    text += n == 0 ? "" : last ? " and " : ", ";
    text += shown_words(source.answers().worker_names()[workers[n]], kBesideName);
  }
  return shown == workers.size() ? text : fmt::format("{} and {} more", text, grouped(workers.size() - shown));
}

Json finding(std::string_view advice, std::string title, const std::string& words, std::string_view to_do) {
  return {{"advice", advice}, {"title", std::move(title)}, {"words", shown_words(words)}, {"to_do", to_do}};
}

// ---- what was found

std::string_view to_do_about(std::string_view kind) {
  if (kind == "colluders") {
    return "Stop asking them, unless gold or a worker whom you trust shows that they are right: answers alone cannot "
           "tell which side is.";
  }
  if (kind == "copies") return "Look at them before you pay each: a second answer of theirs tells hardly anything new.";
  if (kind == "camp") return "Ask workers of several groups about each task: within a group one answer tells the rest.";
  return "Nothing need be done: you named the group yourself.";
}

void add_groups(const Source& source, const TrustStudy& study, Json& findings) {
  const Dependence& found = study.dependence;
  for (std::size_t g = 0; g < std::min(found.groups.size(), kMostGroups); ++g) {
    const DependentGroup& group = found.groups[g];
    Workers members;
    for (const WorkerId worker : group.workers) members.push_back(static_cast<std::uint32_t>(index(worker)));
    const std::string_view kind = kind_of_group(found, group);
    const std::string does = kind == "colluders" ? "contradict the rest as one"
                             : kind == "copies"  ? "answer as one"
                             : kind == "camp"    ? "see tasks alike"
                                                 : "were named as a group";
    findings.push_back(finding(kind == "colluders" ? "stop"
                               : kind == "copies"  ? "check"
                                                   : "",
                               fmt::format("Group {}: {} {}", g + 1, counted(members.size(), "worker"), does),
                               fmt::format("{}. {}", named(source, members), group_in_words(found, group)),
                               to_do_about(kind)));
  }
  if (found.groups.size() > kMostGroups) {
    findings.push_back(finding("check", fmt::format("{} more", counted(found.groups.size() - kMostGroups, "group")),
                               "They are smaller than those above; the advice on their workers names them.",
                               to_do_about("copies")));
  }
}

struct Kind {
  WorkerAdvice advice;
  std::vector<AdviceReason> reasons;
  std::string_view one, many;  ///< what they do
  std::string_view why, to_do;
};

const std::vector<Kind>& kinds() {
  using R = AdviceReason;
  static const std::vector<Kind> kAll = {
      {WorkerAdvice::stop,
       {R::guesses, R::tells_little},
       "guesses, or nearly",
       "guess, or nearly",
       "Such answers hardly depend on the truth.",
       "Stop asking: the answers cost money and tell next to nothing."},
      {WorkerAdvice::recode,
       {R::swaps_classes},
       "swaps classes",
       "swap classes",
       "What is said tells much, but one class stands for another.",
       "Read these answers the other way round (a method that learns tables does so already), and explain the "
       "classes."},
      {WorkerAdvice::retrain,
       {R::takes_one_for_another},
       "takes one class for another",
       "take one class for another",
       "As a rule one class is said where the truth is another.",
       "Explain the classes before you ask again."},
      {WorkerAdvice::retrain,
       {R::reliably_wrong},
       "is wrong more often than by guessing",
       "are wrong more often than by guessing",
       "That is no chance: the task seems to be misunderstood.",
       "Explain the task before you ask again."},
  };
  return kAll;
}

void add_kinds(const Source& source, const TrustStudy& study, Json& findings) {
  Workers by_answers(study.workers.size());
  for (std::uint32_t w = 0; w < by_answers.size(); ++w) by_answers[w] = w;
  std::stable_sort(by_answers.begin(), by_answers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return study.workers[a].answers > study.workers[b].answers;
  });
  for (const Kind& kind : kinds()) {
    Workers who;
    std::uint64_t answers = 0;
    for (const std::uint32_t w : by_answers) {
      const WorkerAssessment& judged = study.workers[w];
      if (source.advice.judged[w] == 0 || judged.advice != kind.advice) continue;
      if (std::find(kind.reasons.begin(), kind.reasons.end(), judged.reason) == kind.reasons.end()) continue;
      who.push_back(w);
      answers += judged.answers;
    }
    if (who.empty()) continue;
    findings.push_back(finding(
        to_string(kind.advice),
        fmt::format("{} {}", counted(who.size(), "worker"), who.size() == 1 ? kind.one : kind.many),
        fmt::format("{}, with {} in all. {}", named(source, who), counted(answers, "answer"), kind.why), kind.to_do));
  }
}

void add_drift(const Source& source, const TrustStudy& study, Json& findings) {
  Workers who;
  std::vector<std::uint8_t> taken(study.workers.size(), 0);
  for (const DriftAlarm& alarm : study.drift.alarms) {
    if (taken[index(alarm.worker)]++ == 0) who.push_back(static_cast<std::uint32_t>(index(alarm.worker)));
  }
  if (who.empty()) return;
  const DriftAlarm& worst = study.drift.alarms.front();
  const std::string name = shown_words(source.answers().worker_names()[index(worst.worker)], kBesideName);
  findings.push_back(finding(
      "check", fmt::format("{} got worse in the course of the answers", counted(who.size(), "worker")),
      who.size() == 1
          ? fmt::format("{} is {}", name, alarm_in_words(worst, study.order))
          : fmt::format("{}. The most so {}: {}", named(source, who), name, alarm_in_words(worst, study.order)),
      "Let such a worker rest or ask others, and look at what was answered since: guessing more explains those answers "
      "far better."));
}

/// What was looked for and not found.
std::string nothing_words(const TrustStudy& study) {
  return fmt::format("Nothing was found: nobody is seen to answer as one with others, to guess or to swap classes{}.",
                     study.order == AnswerOrder::unknown ? "" : ", nor to get worse in the course of the answers");
}

// ---- the picture

/// Members of a group, those of its strongest pairs first, and behind each its partner.
Workers by_strength(const TrustStudy& study, std::uint32_t g) {
  Workers order;
  std::vector<std::uint8_t> taken(study.group.size(), 0);
  const auto take = [&](WorkerId worker) {
    if (study.group[index(worker)] != g || taken[index(worker)] != 0) return;
    taken[index(worker)] = 1;
    order.push_back(static_cast<std::uint32_t>(index(worker)));
  };
  for (const DependentPair& pair : study.dependence.pairs) {
    take(pair.first);
    take(pair.second);
  }
  for (const WorkerId worker : study.dependence.groups[g].workers) take(worker);
  return order;
}

/// Columns of the workers that are drawn.
class Nodes {
 public:
  explicit Nodes(const Source& source) : source_(source), place_(source.result.workers.size(), kNone) {}

  /// False when there is no room left.
  bool add(std::uint32_t worker, Json group) {
    std::string name = shown_name(source_.answers().worker_names()[worker]);
    bytes_ += embedded_size(name) + 30;
    if (bytes_ > kPictureBytes) return false;
    place_[worker] = count_++;
    name_.push_back(std::move(name));
    group_.push_back(std::move(group));
    answers_.push_back(source_.result.workers[worker].answers);
    accuracy_.push_back(number(source_.result.workers[worker].accuracy));
    const bool judged = source_.advice.judged[worker] != 0;
    advice_.push_back(judged ? Json(to_string(source_.advice.workers[worker].advice)) : Json(nullptr));
    return true;
  }
  [[nodiscard]] bool has(WorkerId worker) const { return place_[index(worker)] != kNone; }
  [[nodiscard]] std::size_t place(WorkerId worker) const { return place_[index(worker)]; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Json json() const {
    return {{"name", name_}, {"group", group_}, {"answers", answers_}, {"accuracy", accuracy_}, {"advice", advice_}};
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  const Source& source_;
  std::vector<std::size_t> place_;
  std::size_t count_ = 0, bytes_ = 0;
  Json name_ = Json::array(), group_ = Json::array(), answers_ = Json::array(), accuracy_ = Json::array();
  Json advice_ = Json::array();
};

/// Who answered and is in no group.
Order alone_in(const Source& source, const TrustStudy& study) {
  Order alone;
  for (std::uint32_t w = 0; w < study.group.size(); ++w) {
    if (study.group[w] == TrustStudy::kAlone && source.result.workers[w].answers > 0) alone.push_back(w);
  }
  return alone;
}

Json groups_in(const Source& source, const TrustStudy& study, const Order& alone, Nodes& nodes) {
  const Dependence& found = study.dependence;
  const std::size_t shown = std::min(found.groups.size(), kMostGroups);
  const std::size_t most = found.groups.size() <= kFewGroups ? kMostMembers : kMostMembersOfMany;
  Json groups = Json::array();
  for (std::uint32_t g = 0; g < shown; ++g) {
    const DependentGroup& group = found.groups[g];
    std::size_t drawn = 0;
    for (const std::uint32_t w : by_strength(study, g)) {
      if (drawn == most || !nodes.add(w, g)) break;
      ++drawn;
    }
    groups.push_back({{"kind", kind_of_group(found, group)},
                      {"workers", group.workers.size()},
                      {"drawn", drawn},
                      {"answers", group.answers},
                      {"common_tasks", group.common_tasks},
                      {"agreement", number(group.agreement)},
                      {"expected", number(group.expected)},
                      {"contradicts", number(group.contradicts)},
                      {"one_voice", group.acted_on && found.counted_once}});
  }
  for (const std::uint32_t w : first_by(alone, kMostAlone, [&](std::uint32_t a, std::uint32_t b) {
         return source.result.workers[a].answers > source.result.workers[b].answers;
       })) {
    if (!nodes.add(w, nullptr)) break;
  }
  return groups;
}

/// Tasks that both answered, and how many alike; of repeated answers the first counts.
std::pair<std::uint64_t, std::uint64_t> shared_answers(const CategoryAnswers& answers, WorkerId a, WorkerId b) {
  const auto first = answers.tasks_of(a), second = answers.tasks_of(b);  // sorted
  const auto first_places = answers.answers_of(a), second_places = answers.answers_of(b);
  std::uint64_t common = 0, agreed = 0;
  for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    const std::size_t task = index(first[i]), other = index(second[j]);
    if (task == other) {
      ++common;
      agreed += answers.labels()[first_places[i]] == answers.labels()[second_places[j]] ? 1 : 0;
    }
    while (task <= other && i < first.size() && index(first[i]) == task) ++i;
    while (other <= task && j < second.size() && index(second[j]) == other) ++j;
  }
  return {common, agreed};
}

/// Two drawn members of a group who agree more often than is expected of the group: one by one that may be chance, all
/// together it is not. Pairs that are drawn already are left out.
void add_fellows(const Source& source, const TrustStudy& study, const Nodes& nodes,
                 const std::set<std::pair<std::size_t, std::size_t>>& drawn, Json& edges) {
  if (study.dependence.given) return;  // nothing is expected of them
  for (const DependentGroup& group : study.dependence.groups) {
    for (auto a = group.workers.begin(); a != group.workers.end(); ++a) {
      for (auto b = nodes.has(*a) ? a + 1 : group.workers.end(); b != group.workers.end(); ++b) {
        if (!nodes.has(*b) || drawn.contains(std::minmax(nodes.place(*a), nodes.place(*b)))) continue;
        if (edges.size() == kMostEdges) return;
        const auto [common, agreed] = shared_answers(source.answers(), *a, *b);
        const double expected = static_cast<double>(common) * group.expected;
        if (common < kFewestCommon || static_cast<double>(agreed) <= expected) continue;
        edges.push_back({nodes.place(*a), nodes.place(*b), common, agreed, number(expected), nullptr});
      }
    }
  }
}

Json picture(const Source& source, const TrustStudy& study) {
  const Dependence& found = study.dependence;
  if (found.groups.empty()) return nullptr;
  Nodes nodes(source);
  const Order alone = alone_in(source, study);
  Json groups = groups_in(source, study, alone, nodes);
  Json edges = Json::array();
  std::set<std::pair<std::size_t, std::size_t>> drawn;
  for (const DependentPair& pair : found.pairs) {  // the strongest first
    if (edges.size() == kMostEdges) break;
    if (!nodes.has(pair.first) || !nodes.has(pair.second)) continue;
    drawn.insert(std::minmax(nodes.place(pair.first), nodes.place(pair.second)));
    edges.push_back({nodes.place(pair.first), nodes.place(pair.second), pair.common, pair.agreed, number(pair.expected),
                     number(pair.copied, 3)});
  }
  std::vector<std::string> parts;
  const auto part = [&](std::size_t shown, std::size_t all, std::string_view thing) {
    if (shown < all) parts.push_back(fmt::format("{} of {}", grouped(shown), counted(all, thing)));
  };
  part(groups.size(), found.groups.size(), "group");
  std::size_t answered = alone.size();
  for (const DependentGroup& group : found.groups) answered += group.workers.size();
  part(nodes.count(), answered, "worker");
  part(drawn.size(), found.pairs.size(), "pair");
  add_fellows(source, study, nodes, drawn, edges);
  std::string left_out;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    left_out += fmt::format("{}{}", p == 0 ? "" : p + 1 == parts.size() ? " and " : ", ", parts[p]);
  }
  if (!left_out.empty()) {
    left_out = fmt::format(
        "Drawn are {}: the largest groups, the strongest pairs, and of those who answer for "
        "themselves who answered most.",
        left_out);
    source.sampling.push_back("The picture of the crowd is a part of it. " + left_out);
  }
  return {{"groups", std::move(groups)}, {"nodes", nodes.json()}, {"edges", std::move(edges)},
          {"pairs", found.pairs.size()}, {"alone", alone.size()}, {"left_out", std::move(left_out)}};
}

// ---- timelines

/// Those with an alarm first, the worst of them first; then who answered most.
std::vector<WorkerId> workers_in_time(const TrustStudy& study, std::size_t& with_answers) {
  std::vector<WorkerId> chosen;
  std::vector<std::uint8_t> taken(study.workers.size(), 0);
  const auto take = [&](WorkerId worker) {
    if (chosen.size() == kMostTimelines || taken[index(worker)] != 0) return;
    taken[index(worker)] = 1;
    chosen.push_back(worker);
  };
  for (const DriftAlarm& alarm : study.drift.alarms) take(alarm.worker);
  Order enough;
  for (std::uint32_t w = 0; w < study.workers.size(); ++w) {
    if (study.workers[w].answers >= kTimelineAnswers) enough.push_back(w);
  }
  with_answers = enough.size();
  for (const std::uint32_t w : first_by(enough, kMostTimelines, [&](std::uint32_t a, std::uint32_t b) {
         return study.workers[a].answers > study.workers[b].answers;
       })) {
    take(WorkerId{w});
  }
  return chosen;
}

Json alarms_of(const TrustStudy& study, WorkerId worker) {
  Json alarms = Json::array();
  for (const DriftAlarm& alarm : study.drift.alarms) {
    if (alarm.worker != worker) continue;
    std::uint64_t ends = 0;
    for (const WorkerDrift& drift : study.drift.workers) {
      if (drift.worker != worker) continue;
      for (const DriftSegment& segment : drift.segments) {
        if (segment.first + 1 == alarm.began) ends = segment.first + segment.answers;
      }
    }
    alarms.push_back({{"began", alarm.began},
                      {"ends", alarm.lasts || ends == 0 ? Json(nullptr) : Json(ends)},
                      {"raised", alarm.raised},
                      {"before", number(alarm.before)},
                      {"lately", number(alarm.lately)},
                      {"words", with_capital(alarm_in_words(alarm, study.order))}});
  }
  return alarms;
}

std::string span_in_words(double begins, double ends, AnswerOrder order) {
  if (order == AnswerOrder::rows) return "";
  return fmt::format("{} {} to {}.", order == AnswerOrder::numbers ? "Times" : "From", time_in_words(begins, order),
                     time_in_words(ends, order));
}

Json timelines(const Source& source, const TrustStudy& study) {
  if (study.order == AnswerOrder::unknown) return nullptr;
  std::size_t with_answers = 0;
  const std::vector<WorkerId> workers = workers_in_time(study, with_answers);
  const auto lines = timelines_of(source.result, workers, kMostStretches, source.context);
  Json list = Json::array();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    std::string name = shown_name(source.answers().worker_names()[index(workers[i])]);
    Json stretches = Json::array();
    for (const DriftSegment& one : lines[i]) stretches.push_back({one.answers, number(one.accuracy, 3)});
    bytes += embedded_size(name) + 12 * stretches.size() + 100;
    if (bytes > kTimelineBytes) break;
    list.push_back({{"worker", std::move(name)},
                    {"stretches", std::move(stretches)},
                    {"when", span_in_words(lines[i].front().begins, lines[i].back().ends, study.order)},
                    {"guessing", number(study.workers[index(workers[i])].chance)},
                    {"alarms", alarms_of(study, workers[i])}});
  }
  if (list.size() < with_answers) {
    source.sampling.push_back(
        fmt::format("Timelines are shown for {} of {} with {} answers or more: those who got worse, and who answered "
                    "most.",
                    grouped(list.size()), counted(with_answers, "worker"), kTimelineAnswers));
  }
  return {{"order", study.order == AnswerOrder::rows    ? "rows"
                    : study.order == AnswerOrder::dates ? "dates"
                                                        : "numbers"},
          {"looked_at", study.drift.looked_at},
          {"workers", std::move(list)}};
}

Json limits(const Source& source, const TrustStudy& study) {
  const RunRecord& record = source.result.record;
  Json list = Json::array();
  std::vector<std::string> sentences = trust_limits(source.result.data, study);
  if (study.order == AnswerOrder::unknown) {
    const bool of_state = std::any_of(record.inputs.begin(), record.inputs.end(),
                                      [](const auto& input) { return input.first == "state"; });
    sentences.back() = fmt::format("When the answers were given is not known, so nobody can be seen to get tired: {}.",
                                   of_state ? "a state does not keep it"
                                   : record.command.empty()
                                       ? "trust looks at that, and writes this page, too"
                                       : "name the column that tells, by `time=COLUMN` of aggregate, trust or report");
  }
  for (const std::string& sentence : sentences) list.push_back(told(record, sentence));
  return list;
}

}  // namespace

void add_trust(const Source& source, Json& document) {
  if (source.facts.description.answers == 0 || source.advice.judged_count == 0) return;
  const TrustStudy study = study_of(source);
  Json findings = Json::array();
  add_groups(source, study, findings);
  add_kinds(source, study, findings);
  add_drift(source, study, findings);
  Json facts = {{"words", findings.empty() ? Json(nothing_words(study)) : Json(nullptr)},
                {"findings", std::move(findings)}};
  if (Json drawn = picture(source, study); !drawn.is_null()) facts["picture"] = std::move(drawn);
  if (Json lines = timelines(source, study); !lines.is_null()) facts["timelines"] = std::move(lines);
  facts["limits"] = limits(source, study);
  document["trust"] = std::move(facts);
}

}  // namespace wisecrowd::report
