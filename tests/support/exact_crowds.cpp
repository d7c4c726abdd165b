#include "support/exact_crowds.hpp"

#include <fmt/core.h>

#include "support/crowds.hpp"

namespace wisecrowd::testing {

ExactCrowd exact_crowd(const std::vector<std::vector<std::vector<std::size_t>>>& counts,
                       const std::vector<std::size_t>& class_copies) {
  const std::size_t workers = counts.size(), classes = class_copies.size();
  std::size_t faces = 0;
  for (const std::size_t c : counts[0][0]) faces += c;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  CategoryAnswersBuilder builder(names);
  ExactCrowd crowd;
  std::size_t throws = 1;
  for (std::size_t w = 0; w < workers; ++w) throws *= faces;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t copy = 0; copy < class_copies[k]; ++copy) {
      for (std::size_t n = 0; n < throws; ++n) {
        const std::string task = std::to_string(crowd.truth.size());
        crowd.truth.push_back(ClassId{static_cast<std::uint16_t>(k)});
        std::size_t rest = n;
        for (std::size_t w = 0; w < workers; ++w, rest /= faces) {
          std::size_t label = 0, reached = counts[w][k][0];
          while (rest % faces >= reached) reached += counts[w][k][++label];
          builder.add(task, fmt::format("w{}", w), names[label]);
        }
      }
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

double real_accuracy(const std::string& set, const std::string& method, const std::vector<std::string>& settings) {
  const auto folder = real_data_folder();
  if (!folder) return -1;
  const std::string path = *folder + "/aggregate/" + set;
  CategoryData data = read_dataset(path + "/labels.csv", path + "/gold.csv", {}, RunContext());
  std::vector<ClassId> gold;
  gold.swap(data.gold);
  Parameters parameters(aggregation_method(method).parameters);
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    parameters.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  const auto result = aggregate(data, method, parameters, RunContext());
  double right = 0, all = 0;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    if (gold[t] == kNoClass) continue;
    all += 1;
    right += gold[t] == result.labels[t] ? 1 : 0;
  }
  return right / all;
}

}  // namespace wisecrowd::testing
