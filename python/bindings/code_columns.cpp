#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "coding.hpp"
#include "many_names.hpp"

namespace wisecrowd::python {
namespace {

/// Does all jobs, each once, in order as threads come free. The first exception is thrown again here.
void do_jobs(const std::vector<std::function<void()>>& jobs, unsigned threads) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t job = next++; job < jobs.size(); job = next++) {
      try {
        jobs[job]();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < threads && t < jobs.size(); ++t) others.emplace_back(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::vector<std::optional<std::size_t>> code_strings(std::span<const std::span<Object* const>> columns,
                                                     std::span<Coded> results, unsigned threads) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::optional<std::size_t>> foreign(columns.size());
  std::vector<std::unique_ptr<ManyNames>> many(columns.size());
  std::vector<std::function<void()>> jobs;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (ManyNames::fits(columns[c])) {
      many[c] = std::make_unique<ManyNames>(columns[c]);
    } else {
      jobs.emplace_back([&, c] { foreign[c] = code_strings(columns[c], results[c]); });
    }
  }
  // The columns with few names, one job each, go first: they are the longest jobs.
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!many[c]) continue;
    for (std::size_t round = 0; round < many[c]->rounds(); ++round) {
      many[c]->begin_round(round);
      for (std::size_t b = 0; b < many[c]->blocks(); ++b) jobs.emplace_back([&, c, b] { many[c]->deal(b); });
      do_jobs(jobs, threads);
      jobs.clear();
      for (std::size_t p = 0; p < ManyNames::kParts; ++p) jobs.emplace_back([&, c, p] { many[c]->code(p); });
      do_jobs(jobs, threads);
      jobs.clear();
      for (std::size_t b = 0; b < many[c]->blocks(); ++b) jobs.emplace_back([&, c, b] { many[c]->settle(b); });
      do_jobs(jobs, threads);
      jobs.clear();
    }
  }
  do_jobs(jobs, threads);
  jobs.clear();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!many[c]) continue;
    foreign[c] = many[c]->foreign();
    if (!foreign[c]) jobs.emplace_back([&, c] { many[c]->sort(); });
  }
  do_jobs(jobs, threads);
  jobs.clear();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!many[c] || foreign[c]) continue;
    jobs.emplace_back([&, c] { many[c]->name(); });
    for (std::size_t b = 0; b < many[c]->all_blocks(); ++b) jobs.emplace_back([&, c, b] { many[c]->rank(b); });
  }
  do_jobs(jobs, threads);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (many[c] && !foreign[c]) results[c] = std::move(*many[c]).take();
  }
  return foreign;
}

}  // namespace wisecrowd::python
