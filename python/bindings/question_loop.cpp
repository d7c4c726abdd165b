#include "features.hpp"
#include "support.hpp"
#include "wisecrowd/live_loop.hpp"

namespace wisecrowd::python {
namespace {

using Rows = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

/// A loop that asks, waits and learns, kept in memory: its network is the caller's.
class QuestionLoop {
 public:
  QuestionLoop(const std::string& policy, const py::dict& settings, const py::dict& network) {
    memory_.settings.policy = policy;
    py::dict own, model;
    for (const auto& [name, value] : settings) {
      const auto known =
          std::any_of(live_loop_parameters().begin(), live_loop_parameters().end(),
                      [name = name.cast<std::string>()](const ParameterSpec& spec) { return spec.name == name; });
      (known ? own : model)[name] = value;
    }
    memory_.settings.loop = parameters_from(live_loop_parameters(), own);
    memory_.settings.model = parameters_from(learning_method("dalc").parameters, model);
    memory_.settings.network = network_from(network);
  }

  /// `in_pool` says per task whether it may be asked about; costs, capacities (-1 without limit) and chances of a
  /// response stand per worker, cost 0 for one who is not offered.
  py::dict next(const Answers& answers, const py::object& features, const py::array& row_names, const Rows& row_of_task,
                const py::array_t<bool>& in_pool, const std::vector<double>& cost,
                const std::vector<std::int64_t>& capacity, const std::vector<double>& response, double budget,
                std::size_t most, std::int64_t now, std::uint64_t seed, unsigned threads, const py::object& progress) {
    LearningData data;
    data.crowd.answers = answers.annotations;
    data.features = features_from(features);
    data.row_names = names_from(row_names);
    data.split.assign(data.features.rows, Split::train);
    data.row_of_task.assign(row_of_task.data(), row_of_task.data() + row_of_task.size());
    std::vector<WorkerOffer> offers;
    for (std::size_t j = 0; j < cost.size(); ++j) {
      offers.push_back({.cost = cost[j] > 0 ? cost[j] : 1,
                        .capacity = capacity[j] < 0 ? kUnlimited : static_cast<std::uint32_t>(capacity[j]),
                        .available = cost[j] > 0,
                        .response = response[j]});
    }
    const std::vector<bool> pool(in_pool.data(), in_pool.data() + in_pool.size());
    LiveRequest request{.budget = budget, .questions = most, .offers = offers, .now = now};
    request.can_ask = [&pool](TaskId task, WorkerId) { return static_cast<bool>(pool[index(task)]); };
    Work work(seed, threads, progress);
    LiveMemory changed = memory_;  // nothing is lost if a round fails
    const LiveRound round =
        work.run([&](const RunContext& context) { return next_live_round(data, changed, request, context); });
    memory_ = std::move(changed);
    std::vector<std::uint32_t> tasks, workers;
    std::vector<double> doubt, reliability, price;
    for (const LiveQuestion& question : round.questions) {
      tasks.push_back(static_cast<std::uint32_t>(index(question.task)));
      workers.push_back(static_cast<std::uint32_t>(index(question.worker)));
      doubt.push_back(question.doubt);
      reliability.push_back(question.reliability);
      price.push_back(question.cost);
    }
    py::dict dict;
    dict["task"] = to_array(std::move(tasks));
    dict["worker"] = to_array(std::move(workers));
    dict["uncertainty"] = to_array(std::move(doubt));
    dict["reliability"] = to_array(std::move(reliability));
    dict["cost"] = to_array(std::move(price));
    dict["by_chance"] = round.by_chance;
    dict["trained"] = round.trained;
    dict["new_answers"] = round.new_answers;
    dict["given_up"] = round.given_up;
    dict["waiting"] = round.waiting;
    return dict;
  }

  [[nodiscard]] py::tuple weights() const {
    return py::make_tuple(to_array(std::vector(memory_.session.weights)),
                          to_array(std::vector(memory_.session.buffers)));
  }

 private:
  LiveMemory memory_;
};

}  // namespace

void define_question_loop(py::module_& module) {
  py::class_<QuestionLoop>(module, "QuestionLoop", "What to ask next, while a network of the caller's learns.")
      .def(py::init<const std::string&, const py::dict&, const py::dict&>(), py::arg("policy"), py::arg("settings"),
           py::arg("network"))
      .def("next", &QuestionLoop::next, py::arg("answers"), py::arg("features"), py::arg("row_names"),
           py::arg("row_of_task"), py::arg("in_pool"), py::arg("cost"), py::arg("capacity"), py::arg("response"),
           py::arg("budget"), py::arg("most"), py::arg("now"), py::arg("seed"), py::arg("threads"), py::arg("progress"))
      .def_property_readonly("weights", &QuestionLoop::weights);
}

}  // namespace wisecrowd::python
