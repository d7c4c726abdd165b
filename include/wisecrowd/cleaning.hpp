#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Whose answers a method does not see.
struct CleaningRequest {
  bool spammers = false;   ///< their answers do not depend on the truth
  bool copies = false;     ///< of workers who answer as one, all but one
  bool colluders = false;  ///< groups who contradict the others with one voice
  [[nodiscard]] bool any() const noexcept { return spammers || copies || colluders; }
};
/// From a list of these names, "spammers,copies"; empty: nobody. Throws bad_parameter that lists them.
[[nodiscard]] CleaningRequest cleaning_request(std::string_view list);
[[nodiscard]] std::string to_string(const CleaningRequest& request);

/// A worker whose answers were left out, and why.
struct LeftOutWorker {
  std::string name;
  WorkerId worker{};          ///< its id in the data; not known of a result that was read back
  std::string reason;         ///< "spammer", "copy" or "colluder"
  std::string why;            ///< in words without a full stop
  std::uint64_t answers = 0;  ///< that the method did not see
  std::uint64_t kept = 0;     ///< to tasks that would have had no answer
};

/// What was left out of a crowd.
struct Cleaning {
  std::string without;                 ///< what was asked for, as in a list
  std::vector<LeftOutWorker> workers;  ///< in the order of their ids
  std::uint64_t answers = 0;           ///< that the method did not see
  std::uint64_t kept = 0;              ///< answers of such workers that stay, because a task would have none
  std::vector<std::string> notes;      ///< how they were found, or why nobody was: sentences
  [[nodiscard]] std::uint64_t count_of(std::string_view reason) const noexcept;
};

/// The same data without the answers of such workers. Tasks, workers and classes keep their ids, and a task keeps the
/// answer of the best of them if there is no other. Trusted workers stay.
struct Cleaned {
  CategoryData data;
  Cleaning cleaning;
};
[[nodiscard]] Cleaned cleaned(const CategoryData& data, const CleaningRequest& request, const RunContext& context);

/// A fit to cleaned data knows nothing of those who were left out: gives them the tables that its labels and their
/// answers imply.
void describe_left_out(const CategoryData& all, const Cleaning& cleaning, CategoryFit& fit);

/// A value per answer of cleaned data, as one per answer of all: NaN for those that were left out.
[[nodiscard]] std::vector<float> values_of_all(const CategoryAnswers& all, const CategoryAnswers& cleaned,
                                               std::span<const float> values);

/// One sentence for a summary: who was left out, or that nobody was.
[[nodiscard]] Warning cleaning_note(const Cleaning& cleaning, std::size_t workers);

}  // namespace wisecrowd
