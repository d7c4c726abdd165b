#pragma once

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd::group_dawid_skene {

/// How groups are found where the data do not name them.
enum class Discovery {
  guarded,  ///< groups that agree beyond doubt: find_dependence
  linkage,  ///< clusters of workers by likelihood alone: voices_by_linkage
};
inline constexpr auto kDiscoveryNames =
    enum_names<Discovery>({{Discovery::guarded, "guarded"}, {Discovery::linkage, "linkage"}});

struct Options {
  Discovery discovery = Discovery::guarded;
  std::size_t most_groups = 12;
  VoiceFitOptions em;
  TieRule ties = TieRule::lowest;
};

/// Dawid and Skene's model over groups of dependent workers: a group speaks once, by a hidden answer of its own.
class GroupDawidSkene final : public CategoryAggregator {
 public:
  explicit GroupDawidSkene(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const CategoryData& data, std::span<const CategoryAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  /// Who counts as one voice. What the search found goes to `found`, if it was asked.
  [[nodiscard]] std::vector<std::uint32_t> voices(const CategoryData& data, const RunContext& context,
                                                  std::optional<Dependence>& found) const;
  Options options_;
};

}  // namespace wisecrowd::group_dawid_skene
