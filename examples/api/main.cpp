// Four people sorted film reviews; "dee" is not reading them. What are the right labels, and whom can we believe?
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>
#include <wisecrowd/wisecrowd.hpp>

namespace wc = wisecrowd;

int main() {
  struct Answers {
    const char* worker;
    std::vector<const char*> labels;  // one per review
  };
  const std::vector<std::string> reviews = {"review 1", "review 2", "review 3", "review 4", "review 5", "review 6"};
  const std::vector<Answers> crowd = {
      {"ann", {"good", "bad", "good", "bad", "good", "bad"}},
      {"bob", {"good", "bad", "good", "bad", "good", "good"}},
      {"cem", {"good", "bad", "bad", "bad", "good", "bad"}},
      {"dee", {"bad", "bad", "bad", "good", "bad", "good"}},
  };

  wc::CategoryAnswersBuilder builder;
  for (const auto& [worker, labels] : crowd) {
    for (std::size_t i = 0; i < labels.size(); ++i) builder.add(reviews[i], worker, labels[i]);
  }
  const wc::CategoryData data{.answers = builder.build()};

  try {
    // Parameters are checked against the method's own table; an unknown name or value throws with a remedy.
    wc::Parameters parameters(wc::aggregation_method("dawid_skene").parameters);
    const wc::RunContext context({.seed = 1});
    const wc::CategoryFit result = wc::aggregate(data, "dawid_skene", parameters, context);

    std::cout << "wisecrowd " << WISECROWD_VERSION << ", " << result.iterations << " iterations, "
              << wc::to_string(result.status) << '\n';
    for (std::size_t t = 0; t < result.task_count; ++t) {
      const wc::ClassId label = result.labels[t];
      std::printf("%s: %s (%.2f)\n", std::string(data.answers.task_names()[t]).c_str(),
                  std::string(data.answers.class_names()[index(label)]).c_str(),
                  result.posterior_of(wc::TaskId(t))[index(label)]);
    }
    const auto confusion = [&](std::size_t worker) { return result.confusion_of(wc::WorkerId(worker)); };
    for (std::size_t w = 0; w < result.worker_count; ++w) {
      std::printf("%s says 'good' to %.0f %% of the good and %.0f %% of the bad reviews\n",
                  std::string(data.answers.worker_names()[w]).c_str(), 100 * confusion(w)[3], 100 * confusion(w)[1]);
    }
  } catch (const wc::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
