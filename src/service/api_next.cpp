#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "service/log.hpp"
#include "service/service.hpp"
#include "service/words.hpp"
#include "wisecrowd/asking.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostAsked = 1000, kMostOffers = 10'000;
constexpr int kLongestLease = 86'400;  // seconds
/// Of the most uncertain tasks so many are looked at for each answer that is wanted, and so many at least.
constexpr std::size_t kTasksPerAnswer = 10, kFewestTasks = 200;

struct NextRequest {
  std::size_t count = 1;
  double sure = 0;
  std::optional<NamedOffers> offers;
  std::string selector;
  double reserve = 0;  ///< seconds for which the tasks are kept for their workers; 0: not at all
};

double positive_in(const nlohmann::json& value, std::string_view field) {
  if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > 1e9) {
    throw Refusal(422, fmt::format("{}: it is no number above 0", field));
  }
  return value.get<double>();
}

/// {"worker": "w", "cost"?: 1, "capacity"?: 10}, or the name alone.
void add_offer(const nlohmann::json& item, NamedOffers& offers) {
  WorkerOffer offer;
  std::string name;
  if (item.is_string()) {
    name = item.get<std::string>();
  } else if (item.is_object() && item.contains("worker") && item["worker"].is_string()) {
    for (const auto& [field, value] : item.items()) {
      if (field == "worker") {
        name = value.get<std::string>();
      } else if (field == "cost") {
        offer.cost = positive_in(value, "cost");
      } else if (field == "capacity" && value.is_number_unsigned() && value.get<std::uint64_t>() < kUnlimited) {
        offer.capacity = value.get<std::uint32_t>();
      } else {
        throw Refusal(
            422, fmt::format("workers: {}: there are worker, cost and capacity (a whole number)", printable(field)));
      }
    }
  } else {
    throw Refusal(422, "workers: an item is neither a name nor an object with a worker");
  }
  const std::string wrong = service_name_problem(name);
  if (!wrong.empty()) throw Refusal(422, "workers: " + wrong);
  offers.workers.push_back(std::move(name));
  offers.offers.push_back(offer);
}

NextRequest next_request(const HttpRequest& request, double sure) {
  NextRequest next;
  next.sure = sure;
  next.selector = default_selector();
  if (request.body.empty()) return next;
  require_json(request);
  const nlohmann::json body = parse_json(request.body);
  if (!body.is_object()) throw Refusal(422, "the body is no object");
  if (body.contains("worker") && body.contains("workers")) throw Refusal(422, "give worker or workers, not both");
  for (const auto& [field, value] : body.items()) {
    if (field == "count" && value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 &&
        value.get<std::uint64_t>() <= kMostAsked) {
      next.count = value.get<std::size_t>();
    } else if (field == "sure" && value.is_number() && value.get<double>() >= 0.5 && value.get<double>() < 1) {
      next.sure = value.get<double>();
    } else if (field == "worker") {
      next.offers.emplace();
      add_offer(value, *next.offers);
    } else if (field == "workers" && value.is_array() && value.size() <= kMostOffers) {
      next.offers.emplace();
      for (const auto& item : value) add_offer(item, *next.offers);
    } else if (field == "reserve" && value.is_number() && value.get<double>() >= 1 &&
               value.get<double>() <= kLongestLease) {
      next.reserve = value.get<double>();
    } else if (field == "selector" && value.is_string()) {
      next.selector = value.get<std::string>();
      if (selector(next.selector).needs_passes || selector(next.selector).needs_reliability) {
        throw Refusal(422, "selector: this one needs a network, which the service has not");
      }
    } else {
      throw Refusal(
          422,
          fmt::format(
              "{}: there are count (1 to {}), worker, workers (a list), sure (from 0.5 to below 1), reserve (seconds "
              "from 1 to {}) and selector",
              printable(field), kMostAsked, kLongestLease));
    }
  }
  return next;
}

/// Those who may be asked: without those who are paused, and at the prices that people decided on.
NamedOffers open_offers(NextRequest& next, const std::vector<std::string>& known,
                        const std::map<std::string, WorkerSettings>& decided) {
  NamedOffers open;
  const auto add = [&](const std::string& name, WorkerOffer offer, bool priced) {
    const auto found = decided.find(name);
    if (found != decided.end() && found->second.paused) return;
    if (found != decided.end() && !priced) offer.cost = found->second.cost;
    open.workers.push_back(name);
    open.offers.push_back(offer);
  };
  if (next.offers) {
    for (std::size_t n = 0; n < next.offers->workers.size(); ++n) {
      add(next.offers->workers[n], next.offers->offers[n], next.offers->offers[n].cost != 1);
    }
  } else {
    for (const std::string& name : known) add(name, {}, false);
  }
  return open;
}

enum class Chosen { all, taken_by_others, nobody_to_ask };

/// One round of choosing. Somebody else may have taken what was chosen just before.
Chosen choose(Project& project, NextRequest& next, const CrowdState& state, Json& answer) {
  AskRequest request;
  const double now = steady_seconds();
  request.offers =
      open_offers(next, next.offers ? std::vector<std::string>() : state.workers().names, project.worker_settings());
  if (request.offers->workers.empty() || state.class_names().size() < 2) return Chosen::nobody_to_ask;
  double dearest = 0;
  for (const WorkerOffer& offer : request.offers->offers) dearest = std::max(dearest, offer.cost);
  request.budget = static_cast<double>(next.count) * dearest;
  request.candidates = std::max(kFewestTasks, kTasksPerAnswer * next.count) + project.leases().size();
  if (project.leases().size() > 0) {
    request.excluded = [&](std::string_view task, std::string_view worker) {
      return project.leases().is_taken(task, worker, now);
    };
  }
  Parameters parameters(selector(next.selector).parameters);
  for (const ParameterSpec& spec : selector(next.selector).parameters) {
    if (spec.name == "delta") parameters.set("delta", fmt::format("{}", 1 - next.sure));
    // Somebody who asks for tasks is there: all of them may go to one.
    if (spec.name == "spread") parameters.set("spread", "0");
  }
  const RunContext context(RunOptions{.threads = 1});
  const NamedSelection chosen = select_from_state(state, request, next.selector, parameters, context);
  const std::string link_template = project.settings().link_template;
  Json choices = Json::array();
  std::size_t lost = 0;
  for (const Choice& choice : chosen.selection.choices) {
    if (choices.size() >= next.count) break;
    const std::string& task = chosen.tasks[index(choice.task)];
    const std::string& worker = chosen.workers[index(choice.worker)];
    if (next.reserve > 0 && !project.leases().take(task, worker, now, now + next.reserve)) {
      ++lost;
      continue;
    }
    choices.push_back(
        {{"task", task},
         {"worker", worker},
         {"expected_gain", number_or_null(choice.expected_gain)},
         {"cost", number_or_null(choice.cost)},
         {"link", link_to(link_template, task)},
         {"reserved_until", next.reserve > 0 ? Json(utc_time(seconds_since_1970() + next.reserve)) : Json(nullptr)}});
  }
  answer["choices"] = std::move(choices);
  answer["settled"] = chosen.selection.settled;
  return lost > 0 ? Chosen::taken_by_others : Chosen::all;
}

}  // namespace

void Service::choose_next(Call& call) {
  allow_query(call.request, {"after"});
  await_position(call);
  NextRequest next = next_request(call.request, call.project->settings().sure);
  if (next.reserve > 0 && !call.caller.may(Scope::write, call.project->name()))
    throw Refusal(403, "reserve: this token may read alone, and who reserves tasks keeps others from them");
  Json answer = {{"choices", Json::array()}, {"settled", 0}, {"position", call.project->absorbed()}};
  const Chosen chosen = call.project->with_state([&](const CrowdState& state) {
    Chosen last = Chosen::taken_by_others;
    for (int round = 0; round < 3 && last == Chosen::taken_by_others; ++round)
      last = choose(*call.project, next, state, answer);
    return last;
  });
  if (chosen == Chosen::nobody_to_ask) answer["note"] = "nobody can be asked, or fewer than two classes are known";
  call.reply(json_response(200, answer));
}

}  // namespace wisecrowd::service
