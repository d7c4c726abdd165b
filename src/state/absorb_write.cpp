#include <algorithm>
#include <numeric>

#include "state/absorption.hpp"

namespace wisecrowd::absorption {

void Absorption::write_tasks() {
  Statement insert(file_.database(), "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)");
  Statement update(file_.database(),
                   "UPDATE task SET label = ?, probability = ?, entropy = ?, posterior = ? WHERE id = ?");
  std::vector<std::size_t> order(tasks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tasks_[a].id < tasks_[b].id; });
  for (const std::size_t t : order) {
    const TouchedTask& task = tasks_[t];
    const auto posterior = model_->posterior_of(TaskId(t));
    const TaskColumns columns = columns_of(posterior);
    if (task.is_new) {
      insert.bind(1, task.id).bind(2, data_.task_names()[t]).bind(3, columns.label).bind(4, columns.probability);
      insert.bind(5, columns.entropy).bind_blob(6, posterior).run();
    } else if (!std::equal(posterior.begin(), posterior.end(), task.before.begin(), task.before.end())) {
      update.bind(1, columns.label).bind(2, columns.probability).bind(3, columns.entropy);
      update.bind_blob(4, posterior).bind(5, task.id).run();
    }
    if (t >= data_.task_count() || !data_.labels_of(TaskId(t)).empty()) ++absorbed_.tasks_touched;
    if (!task.known.empty() && columns.label != task.label_before) ++absorbed_.labels_changed;
  }
}

void Absorption::write_answers() {
  Statement remove(file_.database(), "DELETE FROM answer WHERE task = ? AND worker = ?");
  for (const auto& [task, worker] : removed_) remove.bind(1, task).bind(2, worker).run();
  Statement insert(file_.database(), "INSERT INTO answer VALUES (?, ?, ?, ?)");
  Statement update(file_.database(), "UPDATE answer SET label = ? WHERE task = ? AND worker = ? AND turn = ?");
  for (const NewAnswer& answer : entered_) {
    if (answer.replaces) {
      update.bind(1, answer.label).bind(2, answer.task).bind(3, answer.worker).bind(4, answer.turn).run();
    } else {
      insert.bind(1, answer.task).bind(2, answer.worker).bind(3, answer.turn).bind(4, answer.label).run();
    }
  }
}

void Absorption::write_workers() {
  const std::size_t classes = classes_.size();
  Statement insert(file_.database(), "INSERT INTO worker VALUES (?, ?, ?, ?, ?, ?)");
  Statement update(file_.database(), "UPDATE worker SET answers = ?, right = ?, counts = ?, watch = ? WHERE id = ?");
  std::vector<std::string_view> new_names(absorbed_.new_workers);
  for (std::size_t w = 0; w < worker_of_.size(); ++w) {
    if (worker_of_[w] < first_new_worker_) continue;
    new_names[static_cast<std::size_t>(worker_of_[w] - first_new_worker_)] = data_.worker_names()[w];
  }
  for (std::size_t s = 0; s < workers_.size(); ++s) {
    const auto slot = WorkerId(s);
    const bool is_new = workers_[s] >= first_new_worker_;
    if (!is_new && !model_->changed(slot)) continue;
    const auto counts = model_->counts_of(slot);
    const auto answers = static_cast<std::int64_t>(model_->answers_of(slot));
    const auto fields = watches_[s].fields();
    const auto watch = std::span<const double>(fields).first(watches_[s].answers > 0 ? fields.size() : 0);
    if (is_new) {
      insert.bind(1, workers_[s]).bind(2, new_names[static_cast<std::size_t>(workers_[s] - first_new_worker_)]);
      insert.bind(3, answers)
          .bind(4, right_answers(counts, classes, static_cast<double>(answers)))
          .bind_blob(5, counts)
          .bind_blob(6, watch)
          .run();
    } else {
      update.bind(1, answers)
          .bind(2, right_answers(counts, classes, static_cast<double>(answers)))
          .bind_blob(3, counts)
          .bind_blob(4, watch)
          .bind(5, workers_[s])
          .run();
    }
  }
  Statement update_class(file_.database(), "UPDATE class SET tasks = ? WHERE id = ?");
  for (std::size_t k = 0; k < classes; ++k) {
    update_class.bind(1, model_->class_mass()[k]).bind(2, static_cast<std::int64_t>(k)).run();
  }
}

}  // namespace wisecrowd::absorption
