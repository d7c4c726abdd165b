#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd::service {

/// Numbers for Prometheus. Names and help stand in one table (metrics.cpp); labels are written as they stand in the
/// text: `route="answers",status="202"`.
class Metrics {
 public:
  void add(std::string_view name, const std::string& labels, double amount = 1);
  void set(std::string_view name, const std::string& labels, double value);
  /// Into a histogram of seconds.
  void observe(std::string_view name, const std::string& labels, double seconds);
  /// Numbers about something that is no more.
  void forget(std::string_view name, const std::string& labels);
  [[nodiscard]] double value(std::string_view name, const std::string& labels) const;
  /// The text format 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  struct Histogram {
    std::array<double, kBounds.size() + 1> counts{};
    double sum = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, double>, std::less<>> numbers_;
  std::map<std::string, std::map<std::string, Histogram>, std::less<>> histograms_;
};

/// A value inside the quotes of a label.
[[nodiscard]] std::string label_value(std::string_view text);

}  // namespace wisecrowd::service
