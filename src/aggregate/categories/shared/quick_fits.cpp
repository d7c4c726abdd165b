#include "wisecrowd/quick_fits.hpp"

#include <array>
#include <chrono>

#include "aggregate/registry.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// From no knowledge of workers to a table for each, with and without strength shared between them.
constexpr std::array kQuickMethods = {"majority_vote", "wawa", "one_coin", "dawid_skene", "hierarchical_dawid_skene",
                                      "ibcc"};

}  // namespace

std::vector<NamedFit> quick_fits(const CategoryData& data, std::string_view but, const RunContext& context) {
  std::vector<NamedFit> fits;
  for (const std::string_view name : kQuickMethods) {
    if (name == but) continue;
    if (context.cancelled()) return fits;
    NamedFit& entry = fits.emplace_back();
    entry.method = name;
    const auto begin = std::chrono::steady_clock::now();
    try {
      entry.fit = aggregate(data, name, Parameters(aggregation_method(name).parameters), context);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      entry.refusal = error.what();
    }
    entry.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return fits;
}

}  // namespace wisecrowd
