#include "service/service.hpp"

namespace wisecrowd::service {

std::span<const Route> Service::routes() {
  static constexpr Route kRoutes[] = {
      {"GET", "/", "page", Scope::none, &Service::show_page},
      {"GET", "/live/{part}", "page", Scope::none, &Service::show_page_part},
      {"GET", "/healthz", "health", Scope::none, &Service::show_health},
      {"GET", "/readyz", "readiness", Scope::none, &Service::show_readiness},
      {"GET", "/openapi.json", "openapi", Scope::none, &Service::show_openapi},
      {"GET", "/metrics", "metrics", Scope::read, &Service::show_metrics},
      {"GET", "/session", "session", Scope::read, &Service::show_session},
      {"POST", "/session", "session", Scope::none, &Service::open_session},
      {"DELETE", "/session", "session", Scope::read, &Service::close_session},
      {"GET", "/v1/projects", "projects", Scope::read, &Service::list_projects},
      {"POST", "/v1/projects", "projects", Scope::admin, &Service::make_project},
      {"GET", "/v1/projects/{project}", "project", Scope::read, &Service::show_project},
      {"PATCH", "/v1/projects/{project}", "project", Scope::admin, &Service::change_project},
      {"DELETE", "/v1/projects/{project}", "project", Scope::admin, &Service::remove_project},
      {"POST", "/v1/projects/{project}/answers", "answers", Scope::write, &Service::take_answers},
      {"POST", "/v1/projects/{project}/tasks", "tasks", Scope::write, &Service::take_tasks},
      {"PUT", "/v1/projects/{project}/gold", "gold", Scope::write, &Service::take_gold},
      {"GET", "/v1/projects/{project}/labels", "labels", Scope::read, &Service::list_labels},
      {"GET", "/v1/projects/{project}/tasks/{task}", "task", Scope::read, &Service::show_task},
      {"GET", "/v1/projects/{project}/workers", "workers", Scope::read, &Service::list_workers},
      {"GET", "/v1/projects/{project}/workers/{worker}", "worker", Scope::read, &Service::show_worker},
      {"PATCH", "/v1/projects/{project}/workers/{worker}", "worker", Scope::write, &Service::change_worker},
      {"GET", "/v1/projects/{project}/agreement", "agreement", Scope::read, &Service::show_agreement},
      {"GET", "/v1/projects/{project}/disagreements", "disagreements", Scope::read, &Service::list_disagreements},
      {"GET", "/v1/projects/{project}/alerts", "alerts", Scope::read, &Service::list_alerts},
      {"POST", "/v1/projects/{project}/next", "next", Scope::read, &Service::choose_next},
      {"POST", "/v1/projects/{project}/refit", "refit", Scope::write, &Service::refit_project},
      {"GET", "/v1/projects/{project}/report", "report", Scope::read, &Service::show_report},
      {"GET", "/v1/projects/{project}/events", "events", Scope::read, &Service::watch_events},
      {"GET", "/v1/projects/{project}/payments", "payments", Scope::read, &Service::list_payments},
      {"GET", "/v1/projects/{project}/webhooks", "webhooks", Scope::admin, &Service::list_webhooks},
      {"POST", "/v1/projects/{project}/webhooks", "webhooks", Scope::admin, &Service::add_webhook},
      {"DELETE", "/v1/projects/{project}/webhooks/{webhook}", "webhook", Scope::admin, &Service::remove_webhook},
      {"POST", "/v1/label-studio", "connect", Scope::admin, &Service::connect_studio},
      {"GET", "/v1/projects/{project}/label-studio", "connection", Scope::read, &Service::show_studio},
      {"DELETE", "/v1/projects/{project}/label-studio", "connection", Scope::admin, &Service::leave_studio},
      {"POST", "/v1/projects/{project}/label-studio/reconcile", "reconcile", Scope::write, &Service::reconcile_studio},
      {"PUT", "/v1/projects/{project}/argilla", "argilla", Scope::admin, &Service::connect_argilla},
      {"POST", "/v1/projects/{project}/argilla/suggestions", "suggestions", Scope::write, &Service::push_argilla},
      {"POST", "/argilla/{project}/webhook", "argilla_webhook", Scope::none, &Service::argilla_webhook},
      // For Label Studio, which shows a secret of its own.
      {"GET", "/label-studio/{project}/health", "studio_health", Scope::none, &Service::studio_health},
      {"POST", "/label-studio/{project}/setup", "studio_setup", Scope::none, &Service::studio_version},
      {"GET", "/label-studio/{project}/versions", "studio_versions", Scope::none, &Service::studio_version},
      {"POST", "/label-studio/{project}/validate", "studio_other", Scope::none, &Service::studio_version},
      {"POST", "/label-studio/{project}/job_status", "studio_other", Scope::none, &Service::studio_version},
      {"POST", "/label-studio/{project}/delete", "studio_other", Scope::none, &Service::studio_version},
      {"POST", "/label-studio/{project}/duplicate_model", "studio_other", Scope::none, &Service::studio_version},
      {"POST", "/label-studio/{project}/predict", "studio_predict", Scope::none, &Service::studio_predict},
      {"POST", "/label-studio/{project}/webhook", "studio_webhook", Scope::none, &Service::studio_webhook},
  };
  return kRoutes;
}

}  // namespace wisecrowd::service
