#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "service/background.hpp"
#include "service/committer.hpp"
#include "service/hooks.hpp"
#include "service/http.hpp"
#include "service/log.hpp"
#include "service/metrics.hpp"
#include "service/project.hpp"
#include "service/studios.hpp"
#include "service/tokens.hpp"
#include "wisecrowd/service.hpp"

namespace wisecrowd::service {

class Service;

/// A request on its way to an answer.
struct Call {
  HttpRequest request;
  Reply reply;
  Caller caller;
  std::shared_ptr<Project> project;  ///< that the path names, if it does
  std::vector<std::string> names;    ///< what stands in the other places of the path
};

/// A place of the API.
struct Route {
  const char* method;
  const char* path;  ///< {project} and {name} stand for one segment
  const char* name;  ///< for metrics
  Scope scope;
  void (Service::*handle)(Call& call);
};

/// All projects of a folder; a name becomes a folder only if it is a plain one.
class Projects {
 public:
  explicit Projects(std::filesystem::path folder);
  [[nodiscard]] std::shared_ptr<Project> find(std::string_view name) const;
  [[nodiscard]] std::vector<std::shared_ptr<Project>> all() const;
  /// Throws Refusal 409 when there is one.
  std::shared_ptr<Project> make(const std::string& name, const ProjectSettings& settings);
  /// For a project whose journal says that it is removed.
  void remove(const std::shared_ptr<Project>& project);

 private:
  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Project>> leaving_;
  std::map<std::string, std::shared_ptr<Project>, std::less<>> projects_;
};

/// So much per second of one client, with bursts.
class RateLimit {
 public:
  RateLimit(double per_second, double burst) : per_second_(per_second), burst_(burst) {}
  /// Takes one, if there is one.
  [[nodiscard]] bool take(const std::string& client);
  [[nodiscard]] bool has(const std::string& client);

 private:
  struct Bucket {
    double left = 0;
    double at = 0;
  };
  Bucket& refilled(const std::string& client);
  double per_second_, burst_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

/// The API: takes requests apart, asks projects, and answers. It knows nothing of sockets.
class Service final : public HttpHandler {
 public:
  explicit Service(const ServiceOptions& options);
  ~Service() override;

  [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& head) override;
  void handle(HttpRequest request, Reply reply) override;
  void note_refused(std::string_view why) override;
  void note_connections(std::size_t open, std::size_t streams) override;
  /// Ends what was begun; every request gets its answer. Before the server goes that takes the answers.
  void finish();
  /// Now and then, from whoever waits for the end: tokens that changed, gauges.
  void look_around();
  [[nodiscard]] const Log& log() const noexcept { return log_; }
  /// All routes, as the document of the API must have them.
  [[nodiscard]] static std::span<const Route> routes();

 private:
  // api_projects.cpp
  void list_projects(Call& call);
  void make_project(Call& call);
  void show_project(Call& call);
  void change_project(Call& call);
  void remove_project(Call& call);
  void refit_project(Call& call);
  void watch_events(Call& call);
  // api_rows.cpp
  void take_answers(Call& call);
  void take_gold(Call& call);
  void take_tasks(Call& call);
  void take_rows(Call& call, Rows rows);
  // api_labels.cpp
  void list_labels(Call& call);
  void show_task(Call& call);
  void show_report(Call& call);
  // api_workers.cpp
  void list_workers(Call& call);
  void show_worker(Call& call);
  void change_worker(Call& call);
  void show_agreement(Call& call);
  void list_alerts(Call& call);
  void list_disagreements(Call& call);
  void apply_rules(const std::shared_ptr<Project>& project);
  void store_worker(const std::shared_ptr<Project>& project, const std::string& name, const WorkerSettings& settings);
  // api_next.cpp
  void choose_next(Call& call);
  // api_studio.cpp
  void connect_studio(Call& call);
  void show_studio(Call& call);
  void leave_studio(Call& call);
  void reconcile_studio(Call& call);
  void studio_health(Call& call);
  void studio_version(Call& call);
  void studio_predict(Call& call);
  void studio_webhook(Call& call);
  [[nodiscard]] std::shared_ptr<StudioLink> studio_of(Call& call);
  // api_argilla.cpp
  void connect_argilla(Call& call);
  void argilla_webhook(Call& call);
  void push_argilla(Call& call);
  // api_webhooks.cpp
  void list_webhooks(Call& call);
  void add_webhook(Call& call);
  void remove_webhook(Call& call);
  // api_payments.cpp
  void list_payments(Call& call);
  // api_about.cpp
  void show_page(Call& call);
  void show_page_part(Call& call);
  void show_openapi(Call& call);
  void show_metrics(Call& call);
  void show_health(Call& call);
  void show_readiness(Call& call);
  void open_session(Call& call);
  void show_session(Call& call);
  void close_session(Call& call);

  struct Found {
    const Route* route = nullptr;
    std::string project;
    std::vector<std::string> names;
    std::string allowed;  ///< methods of the path, if it is there but not for this method
  };
  [[nodiscard]] static Found find_route(const HttpRequest& request);
  [[nodiscard]] Receipt write_and_wait(const std::shared_ptr<Project>& project, Batch batch);
  [[nodiscard]] Caller authorised(const HttpRequest& request, const Found& found);
  void require_own_page(const HttpRequest& request) const;
  void run(Call& call, const Route& route);
  void work();

  ServiceOptions options_;
  Log log_;
  Metrics metrics_;
  Tokens tokens_;
  Sessions sessions_;
  RateLimit requests_, refusals_;
  Projects projects_;
  Background background_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Studios> studios_;
  std::unique_ptr<Hooks> hooks_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

/// Reads a whole number of the query; throws Refusal 400 when it is none or out of range.
[[nodiscard]] std::int64_t query_integer(const HttpRequest& request, std::string_view name, std::int64_t usual,
                                         std::int64_t low, std::int64_t high);
[[nodiscard]] double query_number(const HttpRequest& request, std::string_view name, double usual, double low,
                                  double high);
/// Throws Refusal 400 unless the query names nothing but these.
void allow_query(const HttpRequest& request, std::initializer_list<std::string_view> names);
/// Throws Refusal 415 unless the body is of this kind.
void require_json(const HttpRequest& request);
/// Waits for what the request says that it has been told (`after`); throws Refusal 503 when that takes too long.
void await_position(const Call& call);

/// A file of the live page (web/live): its text and type; empty when there is none of that name.
struct PagePart {
  std::string_view text, type;
};
[[nodiscard]] PagePart page_part(std::string_view name) noexcept;

/// The OpenAPI document.
[[nodiscard]] std::string_view openapi_document() noexcept;

}  // namespace wisecrowd::service
