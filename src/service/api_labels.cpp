#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/csv_text.hpp"
#include "service/service.hpp"
#include "service/words.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

/// A page of labels, and where the next one begins; nothing after the last.
struct LabelPage {
  std::vector<TaskLabel> labels;
  std::vector<std::string> classes;
  std::optional<std::string> next;
  std::int64_t position = 0;  ///< as of which they are
};

/// "t17": the tasks after number 17. "j17": tasks of the journal's entries after position 17. "r17.5": tasks that fits
/// changed at position 5 or later, from revision 18 on; then those of the journal.
struct Cursor {
  char kind = 't';
  std::int64_t after = -1;
  std::int64_t since = 0;
};

Cursor cursor_of(const HttpRequest& request) {
  const auto given = request.query.find("cursor");
  if (given == request.query.end()) return {};
  const std::string& text = given->second;
  Cursor cursor;
  cursor.kind = text.empty() ? '?' : text[0];
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data() + (text.empty() ? 0 : 1), end, cursor.after);
  if (cursor.kind == 'r' && read.ec == std::errc() && read.ptr != end && *read.ptr == '.')
    read = std::from_chars(read.ptr + 1, end, cursor.since);
  const bool known = cursor.kind == 't' || cursor.kind == 'j' || cursor.kind == 'r';
  if (!known || read.ec != std::errc() || read.ptr != end || cursor.after < 0 || cursor.since < 0)
    throw Refusal(400, "cursor: give back what `next` of the page before said, unchanged");
  return cursor;
}

/// Adds the label of a task, if there is one and it is asked for.
void add_label(const CrowdState& state, const std::string& name, const LabelQuery& query, LabelPage& page) {
  const auto task = state.task(name);
  if (!task || !(task->probability < query.below)) return;
  const bool wanted =
      query.label.empty() || (task->label != kNoClass && page.classes[index(task->label)] == query.label);
  if (wanted)
    page.labels.push_back({0, task->name, task->label, task->probability, task->uncertainty, task->answers.size()});
}

/// Tasks whose labels fits to all answers changed; nothing when there are no more of them.
std::optional<LabelPage> revised_labels(const Project& project, const Cursor& cursor, const LabelQuery& query) {
  const auto revised = project.with_journal(
      [&](const Journal& journal) { return journal.revised(cursor.since, cursor.after, query.limit); });
  if (revised.empty()) return std::nullopt;
  LabelPage page;
  page.position = project.absorbed();
  project.with_state([&](const CrowdState& state) {
    page.classes = state.class_names();
    for (const Revision& one : revised) add_label(state, one.task, query, page);
  });
  page.next = fmt::format("r{}.{}", revised.back().number, cursor.since);
  return page;
}

/// Tasks that something was said about after a position, in that order.
LabelPage changed_labels(const Project& project, std::int64_t since, const LabelQuery& query) {
  LabelPage page;
  page.position = project.absorbed();
  const auto entries = project.with_journal([&](const Journal& journal) { return journal.read(since, query.limit); });
  std::set<std::string> seen;
  std::int64_t last = since;
  project.with_state([&](const CrowdState& state) {
    page.classes = state.class_names();
    for (const Entry& entry : entries) {
      if (entry.position > page.position) break;
      last = entry.position;
      if (seen.insert(entry.task).second) add_label(state, entry.task, query, page);
    }
  });
  if (last < page.position && !entries.empty()) page.next = fmt::format("j{}", last);
  return page;
}

LabelPage all_labels(const Project& project, const LabelQuery& query) {
  LabelPage page;
  page.position = project.absorbed();
  project.with_state([&](const CrowdState& state) {
    page.labels = state.labels(query);
    page.classes = state.class_names();
  });
  if (page.labels.size() == query.limit && query.limit > 0) page.next = fmt::format("t{}", page.labels.back().number);
  return page;
}

/// The most doubtful tasks that somebody answered, the most doubtful first.
LabelPage doubtful_labels(const Project& project, const LabelQuery& query) {
  LabelPage page;
  page.position = project.absorbed();
  project.with_state([&](const CrowdState& state) {
    page.classes = state.class_names();
    const Candidates tasks = state.candidates(4 * query.limit);
    for (std::size_t t = 0; t < tasks.size() && page.labels.size() < query.limit && tasks.class_count > 0; ++t) {
      const std::span posterior(tasks.posterior.data() + t * tasks.class_count, tasks.class_count);
      const auto best = std::max_element(posterior.begin(), posterior.end());
      if (tasks.task_answers[t] == 0 || *best >= query.below) continue;
      page.labels.push_back({0, tasks.names[t], ClassId(static_cast<std::size_t>(best - posterior.begin())), *best,
                             uncertainty_of(posterior, Uncertainty::entropy), tasks.task_answers[t]});
    }
  });
  return page;
}

Json label_json(const TaskLabel& task, const std::vector<std::string>& classes, const std::string& link_template) {
  return {{"task", task.name},
          {"label", task.label == kNoClass ? Json(nullptr) : Json(classes[index(task.label)])},
          {"probability", number_or_null(task.probability)},
          {"entropy", number_or_null(task.entropy)},
          {"answers", task.answers},
          {"link", link_to(link_template, task.name)}};
}

HttpResponse csv_of(const LabelPage& page) {
  HttpResponse response;
  response.type = "text/csv; charset=utf-8";
  response.body = "task,label,probability,answers\n";
  for (const TaskLabel& task : page.labels) {
    response.body +=
        fmt::format("{},{},{:.6g},{}\n", csv_field(spreadsheet_safe(task.name)),
                    task.label == kNoClass ? "" : csv_field(spreadsheet_safe(page.classes[index(task.label)])),
                    task.probability, task.answers);
  }
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"labels.csv\"");
  return response;
}

}  // namespace

void Service::list_labels(Call& call) {
  allow_query(call.request, {"limit", "cursor", "below", "label", "changed_since", "order", "format", "after"});
  await_position(call);
  LabelQuery query;
  query.limit = static_cast<std::size_t>(query_integer(call.request, "limit", 1000, 1, 10'000));
  query.below = query_number(call.request, "below", std::numeric_limits<double>::infinity(), 0, 2);
  if (const auto label = call.request.query.find("label"); label != call.request.query.end())
    query.label = label->second;
  const auto format = call.request.query.find("format");
  const std::string shape = format == call.request.query.end() ? "json" : format->second;
  if (shape != "json" && shape != "csv") throw Refusal(400, "format: it is neither json nor csv");
  Cursor cursor = cursor_of(call.request);
  const std::int64_t since = query_integer(call.request, "changed_since", -1, 0, std::int64_t{1} << 53);
  // Where nobody knows what a fit to all answers changed, it may have been any label.
  if (since >= 0 && !call.request.query.contains("cursor") && since >= call.project->revisions_known_from())
    cursor = {'r', 0, since};
  query.after = cursor.after;
  const auto order = call.request.query.find("order");
  const bool by_doubt = order != call.request.query.end();
  if (by_doubt && order->second != "doubt") throw Refusal(400, "order: there is doubt");
  if (by_doubt && (call.request.query.contains("cursor") || since >= 0 || query.limit > 1000)) {
    throw Refusal(400, "order=doubt is one page of at most 1000: without cursor and changed_since");
  }
  LabelPage page;
  if (by_doubt) {
    page = doubtful_labels(*call.project, query);
  } else if (cursor.kind == 't') {
    page = all_labels(*call.project, query);
  } else {
    const auto revised = cursor.kind == 'r' ? revised_labels(*call.project, cursor, query) : std::nullopt;
    page = revised ? *revised : changed_labels(*call.project, cursor.kind == 'r' ? cursor.since : cursor.after, query);
  }
  HttpResponse response;
  if (shape == "csv") {
    response = csv_of(page);
  } else {
    Json labels = Json::array();
    const std::string link_template = call.project->settings().link_template;
    for (const TaskLabel& task : page.labels) labels.push_back(label_json(task, page.classes, link_template));
    response = json_response(200, {{"labels", std::move(labels)},
                                   {"next", page.next ? Json(*page.next) : Json(nullptr)},
                                   {"position", page.position}});
  }
  if (page.next) response.headers.emplace_back("Wisecrowd-Next", *page.next);
  call.reply(std::move(response));
}

void Service::show_task(Call& call) {
  allow_query(call.request, {"after"});
  await_position(call);
  Json json;
  std::string link;
  call.project->with_journal([&](const Journal& journal) { link = journal.link(call.names[0]); });
  if (link.empty()) link = link_to(call.project->settings().link_template, call.names[0]);
  call.project->with_state([&](const CrowdState& state) {
    const auto task = state.task(call.names[0]);
    if (!task) throw Refusal(404, fmt::format("there is no task '{}'", printable(call.names[0])));
    const std::vector<std::string> classes = state.class_names();
    const auto name = [&](ClassId id) { return id == kNoClass ? Json(nullptr) : Json(classes[index(id)]); };
    json = {{"task", task->name},
            {"label", name(task->label)},
            {"probability", number_or_null(task->probability)},
            {"entropy", number_or_null(task->uncertainty)},
            {"truth", name(task->truth)},
            {"posterior", Json::array()},
            {"answers", Json::array()},
            {"link", link}};
    for (std::size_t k = 0; k < classes.size(); ++k) {
      json["posterior"].push_back({{"label", classes[k]}, {"probability", number_or_null(task->posterior[k])}});
    }
    for (const auto& answer : task->answers) {
      json["answers"].push_back({{"worker", answer.worker}, {"label", name(answer.label)}});
    }
  });
  call.reply(json_response(200, json));
}

void Service::show_report(Call& call) {
  allow_query(call.request, {"format", "after"});
  await_position(call);
  const auto format = call.request.query.find("format");
  const std::string shape = format == call.request.query.end() ? "html" : format->second;
  if (shape != "html" && shape != "json") throw Refusal(400, "format: it is neither html nor json");
  const RunContext context(RunOptions{.threads = 1});
  ReportOptions options;
  options.title = call.project->settings().title.empty() ? call.project->name() : call.project->settings().title;
  const CategoryResult result = call.project->with_state([&](const CrowdState& state) {
    const StateSummary summary = state.summary();
    if (summary.classes.size() < 2 || summary.answers == 0) {
      throw Refusal(409, "there is nothing to report yet: it takes answers of two classes");
    }
    return state_result(state, call.project->name(), "serve", context);
  });
  HttpResponse response;
  if (shape == "json") {
    response.body = report_json(result, options, context);
  } else {
    response.type = "text/html; charset=utf-8";
    response.body = report_html(result, options, context);
    // The page has a stricter policy of its own; this one keeps others from framing it.
    response.headers.emplace_back("Content-Security-Policy", "frame-ancestors 'none'");
  }
  call.reply(std::move(response));
}

}  // namespace wisecrowd::service
