#include "wisecrowd/run_context.hpp"

#include <algorithm>
#include <thread>

#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {

RunContext::RunContext(RunOptions options) : options_(std::move(options)) {
  const unsigned wanted = options_.threads != 0 ? options_.threads : std::thread::hardware_concurrency();
  pool_ = std::make_unique<ThreadPool>(std::clamp(wanted, 1U, 256U));
}

RunContext::~RunContext() = default;

unsigned RunContext::threads() const noexcept { return pool_->size(); }

Rng RunContext::rng(std::string_view purpose, std::uint64_t index) const {
  return Rng(options_.seed).fork(purpose, index);
}

std::string_view to_string(Status status) noexcept {
  switch (status) {
    case Status::converged: return "converged";
    case Status::iteration_limit: return "iteration_limit";
    case Status::cancelled: return "cancelled";
  }
  return "unknown";
}

}  // namespace wisecrowd
