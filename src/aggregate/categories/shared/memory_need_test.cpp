#include "aggregate/categories/shared/memory_need.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

CategoryData crowd(std::size_t tasks, std::size_t workers, std::size_t classes) {
  Rng rng(1);
  std::vector<CategoryAnswer> answers;
  for (std::size_t t = 0; t < tasks; ++t) {
    for (std::size_t a = 0; a < 3; ++a) {
      answers.push_back({TaskId(t), WorkerId((t + a * 17) % workers), ClassId(rng.below(classes))});
    }
  }
  const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
  return {make_category_answers(answers, {blank(tasks), blank(workers), blank(classes)}), {}, {}};
}

// The address sanitizer has a memory of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// What a child process answers; its memory is its own.
double in_a_child(const std::function<double()>& work) {
  int pipes[2];
  if (pipe(pipes) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double value = work();
    const bool told = write(pipes[1], &value, sizeof value) == sizeof value;
    std::_Exit(told ? 0 : 1);
  }
  close(pipes[1]);
  double value = -1;
  const bool heard = read(pipes[0], &value, sizeof value) == sizeof value;
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return heard && status == 0 ? value : -1;
}

double peak_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return 1024.0 * std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

double measured(const CategoryData& data, const char* method) {
  return in_a_child([&] {
    const RunContext context({.threads = 1});
    const double before = peak_bytes();
    Parameters parameters(aggregation_method(method).parameters);
    // Enough iterations for EM to be extrapolated.
    const std::string_view name = method;
    if (name != "majority_vote") {
      parameters.set("max_iterations", name == "glad" ? "2" : name == "hierarchical_dawid_skene" ? "14" : "7");
    }
    const CategoryFit result = aggregate(data, method, parameters, context);
    return result.posterior.empty() ? -1 : peak_bytes() - before;
  });
}

TEST(MemoryNeed, EstimatesAreWithinAFactorOfTwo) {
  struct Case {
    const char* method;
    CategoryData data;
  };
  const CategoryData many_tasks = crowd(100'000, 50, 60), many_workers = crowd(3000, 150, 250);
  const Case cases[] = {{"majority_vote", many_tasks},
                        {"glad", many_tasks},
                        {"one_coin", many_tasks},
                        {"dawid_skene", many_workers},
                        {"one_coin", many_workers},
                        {"ibcc", many_workers},
                        {"hierarchical_dawid_skene", many_workers}};
  for (const auto& [method, data] : cases) {
    const double need = memory_needed(method, shape_of(data.answers, RunContext({.threads = 1})));
    const double took = measured(data, method);
    EXPECT_GT(took, 20e6) << method << ": too little to judge";
    EXPECT_LT(need, 2 * took) << method << " took " << took;
    EXPECT_GT(need, took / 2) << method << " took " << took;
  }
}

TEST(MemoryNeed, TooMuchIsRefusedBeforeTheFit) {
  const CategoryData data = crowd(2000, 1000, 400);  // 1.3 GB for the tables alone
  const auto refused = [&] {
    const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 2.0;
    try {
      const RunContext context({.threads = 1});
      (void)aggregate(data, "dawid_skene", Parameters(aggregation_method("dawid_skene").parameters), context);
    } catch (const Error& error) {
      const std::string message = error.what();
      const bool whole =
          error.code() == ErrorCode::unsupported && message.find("dawid_skene needs about") != std::string::npos &&
          message.find("are free: choose a method that fits (automatic, majority_vote") != std::string::npos;
      return whole ? 1.0 : 3.0;
    } catch (const std::bad_alloc&) {
      return 4.0;
    }
    return 0.0;
  };
  EXPECT_EQ(in_a_child(refused), 1);
}

#endif

TEST(MemoryNeed, GrowsWithTheData) {
  for (const MethodInfo& info : aggregation_methods()) {
    const double small = memory_needed(info.name, {.tasks = 100, .workers = 10, .classes = 2, .answers = 500});
    const double large = memory_needed(info.name, {.tasks = 10'000, .workers = 100, .classes = 2, .answers = 50'000});
    EXPECT_GE(small, 100 * 2 * 8) << info.name << ": the posterior alone";
    EXPECT_GT(large, 5 * small) << info.name;
  }
}

}  // namespace
}  // namespace wisecrowd
