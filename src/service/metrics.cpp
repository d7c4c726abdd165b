#include "service/metrics.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace wisecrowd::service {
namespace {

struct Described {
  std::string_view name, type, help;
};

constexpr Described kMetrics[] = {
    {"wisecrowd_requests_total", "counter", "Requests, by route, method and status."},
    {"wisecrowd_request_seconds", "histogram", "Time from the end of a request to its answer, by route."},
    {"wisecrowd_refused_total", "counter", "Connections and requests that were turned away, by reason."},
    {"wisecrowd_connections", "gauge", "Open connections."},
    {"wisecrowd_event_streams", "gauge", "Open streams of events."},
    {"wisecrowd_entries_accepted_total", "counter", "Answers, withdrawals, truths and tasks that were acknowledged."},
    {"wisecrowd_commits_total", "counter", "Transactions of journals."},
    {"wisecrowd_commit_seconds", "histogram", "Time of a transaction of a journal, with its flush to the device."},
    {"wisecrowd_commit_failures_total", "counter", "Transactions of journals that failed."},
    {"wisecrowd_entries_absorbed_total", "counter", "Entries that estimates know of."},
    {"wisecrowd_backlog_entries", "gauge", "Acknowledged entries that estimates do not know of yet, by project."},
    {"wisecrowd_refits_total", "counter", "Fits to all answers of a project."},
    {"wisecrowd_refit_seconds", "histogram", "Time of a fit to all answers of a project."},
    {"wisecrowd_background_failures_total", "counter", "Work in the background that failed, by kind."},
    {"wisecrowd_outgoing_calls_total", "counter", "Calls to connected programs, by outcome."},
    {"wisecrowd_webhooks_total", "counter", "Webhooks that were sent, by outcome."},
    {"wisecrowd_projects", "gauge", "Projects."},
    {"wisecrowd_uptime_seconds", "gauge", "Time since the start."},
    {"process_resident_memory_bytes", "gauge", "Memory in use."},
};

}  // namespace

void Metrics::add(std::string_view name, const std::string& labels, double amount) {
  const std::lock_guard lock(mutex_);
  numbers_[std::string(name)][labels] += amount;
}

void Metrics::set(std::string_view name, const std::string& labels, double value) {
  const std::lock_guard lock(mutex_);
  numbers_[std::string(name)][labels] = value;
}

void Metrics::observe(std::string_view name, const std::string& labels, double seconds) {
  const std::lock_guard lock(mutex_);
  Histogram& histogram = histograms_[std::string(name)][labels];
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  histogram.counts[static_cast<std::size_t>(bucket)] += 1;
  histogram.sum += seconds;
}

void Metrics::forget(std::string_view name, const std::string& labels) {
  const std::lock_guard lock(mutex_);
  numbers_[std::string(name)].erase(labels);
}

double Metrics::value(std::string_view name, const std::string& labels) const {
  const std::lock_guard lock(mutex_);
  const auto series = numbers_.find(name);
  if (series == numbers_.end()) return 0;
  const auto found = series->second.find(labels);
  return found == series->second.end() ? 0 : found->second;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  const auto braced = [](const std::string& labels) { return labels.empty() ? labels : "{" + labels + "}"; };
  for (const Described& metric : kMetrics) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", metric.name, metric.help, metric.name, metric.type);
    if (const auto numbers = numbers_.find(metric.name); numbers != numbers_.end()) {
      for (const auto& [labels, value] : numbers->second)
        text += fmt::format("{}{} {}\n", metric.name, braced(labels), value);
    }
    const auto histograms = histograms_.find(metric.name);
    if (histograms == histograms_.end()) continue;
    for (const auto& [labels, histogram] : histograms->second) {
      double total = 0;
      const std::string more = labels.empty() ? "" : labels + ",";
      for (std::size_t b = 0; b <= kBounds.size(); ++b) {
        total += histogram.counts[b];
        const std::string bound = b < kBounds.size() ? fmt::format("{}", kBounds[b]) : "+Inf";
        text += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", metric.name, more, bound, total);
      }
      text += fmt::format("{}_sum{} {}\n{}_count{} {}\n", metric.name, braced(labels), histogram.sum, metric.name,
                          braced(labels), total);
    }
  }
  return text;
}

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace wisecrowd::service
