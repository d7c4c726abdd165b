#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "service/log.hpp"
#include "service/project.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

[[noreturn]] void refuse(std::string_view field, std::string_view why) {
  throw Refusal(422, fmt::format("{}: {}", printable(field), why));
}

double number_in(const nlohmann::json& value, std::string_view field, double low, double high) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= low && number <= high)) refuse(field, fmt::format("it is no number from {:g} to {:g}", low, high));
  return number;
}

std::string text_in(const nlohmann::json& value, std::string_view field, std::size_t longest) {
  if (!value.is_string()) refuse(field, "it is no text");
  std::string text = value.get<std::string>();
  if (text.size() > longest) refuse(field, fmt::format("it is longer than {} bytes", longest));
  if (text.find('\0') != std::string::npos) refuse(field, "it holds a NUL");
  return text;
}

constexpr std::string_view kRuleNames[] = {"gold_accuracy", "accuracy", "median_seconds", "agreement"};

std::vector<Rule> rules_in(const nlohmann::json& value) {
  if (!value.is_array() || value.size() > 20) refuse("rules", "it is no list of at most 20 rules");
  std::vector<Rule> rules;
  for (const auto& item : value) {
    const bool shaped = item.is_object() && item.size() == 4 && item.contains("what") && item.contains("below") &&
                        item.contains("answers") && item.contains("then") && item["answers"].is_number_unsigned();
    if (!shaped) refuse("rules", "a rule has what, below, answers (a whole number) and then");
    Rule rule;
    const auto* const known =
        std::find(std::begin(kRuleNames), std::end(kRuleNames), text_in(item["what"], "rules", 40));
    if (known == std::end(kRuleNames)) refuse("rules", "what: gold_accuracy, accuracy, median_seconds or agreement");
    rule.what = static_cast<Rule::What>(known - std::begin(kRuleNames));
    rule.below = number_in(item["below"], "rules: below", 0, 1e6);
    rule.answers = item["answers"].get<std::uint64_t>();
    const std::string then = text_in(item["then"], "rules", 10);
    if (then != "pause" && then != "warn") refuse("rules", "then: pause or warn");
    rule.pause = then == "pause";
    rules.push_back(rule);
  }
  return rules;
}

std::vector<std::string> classes_in(const nlohmann::json& value) {
  constexpr std::size_t kMost = 1000;
  if (!value.is_array() || value.size() > kMost)
    refuse("classes", fmt::format("it is no list of at most {} texts", kMost));
  std::vector<std::string> classes;
  std::set<std::string> seen;
  for (const auto& item : value) {
    std::string name = text_in(item, "classes", kLongestServiceName);
    const std::string wrong = service_name_problem(name);
    if (!wrong.empty()) refuse("classes", wrong);
    if (!seen.insert(name).second) refuse("classes", fmt::format("'{}' is there twice", printable(name)));
    classes.push_back(std::move(name));
  }
  if (classes.size() == 1) refuse("classes", "a single class leaves nothing to decide: name two or more, or none");
  return classes;
}

}  // namespace

nlohmann::ordered_json to_json(const ProjectSettings& settings) {
  nlohmann::ordered_json rules = nlohmann::ordered_json::array();
  for (const Rule& rule : settings.rules) {
    rules.push_back({{"what", kRuleNames[static_cast<std::size_t>(rule.what)]},
                     {"below", rule.below},
                     {"answers", rule.answers},
                     {"then", rule.pause ? "pause" : "warn"}});
  }
  return {{"title", settings.title},
          {"classes", settings.classes},
          {"gold_for", settings.gold_use == GoldUse::inference ? "inference" : "evaluation"},
          {"sure", settings.sure},
          {"price", settings.price},
          {"link_template", settings.link_template},
          {"rules", rules},
          {"created", settings.created}};
}

void read_settings(const nlohmann::json& body, bool creating, ProjectSettings& settings) {
  if (!body.is_object()) throw Refusal(422, "the body is no object");
  for (const auto& [name, value] : body.items()) {
    if (name == "title") {
      settings.title = text_in(value, name, 200);
    } else if (name == "sure") {
      settings.sure = number_in(value, name, 0.5, 0.999999);
    } else if (name == "price") {
      settings.price = number_in(value, name, 0, 1e9);
    } else if (name == "link_template") {
      settings.link_template = text_in(value, name, 1000);
      if (!settings.link_template.empty() && !is_plain_link(settings.link_template)) {
        refuse(name, "it is no link that begins with http:// or https://; {task} stands for the name of the task");
      }
    } else if (name == "rules") {
      settings.rules = rules_in(value);
    } else if (name == "classes" && creating) {
      settings.classes = classes_in(value);
    } else if (name == "gold_for" && creating) {
      const std::string use = text_in(value, name, 20);
      if (use != "inference" && use != "evaluation") refuse(name, "it is neither inference nor evaluation");
      settings.gold_use = use == "inference" ? GoldUse::inference : GoldUse::evaluation;
    } else if (name == "classes" || name == "gold_for") {
      refuse(name, "it is fixed when the project is made");
    } else if (name != "name" && name != "created") {
      refuse(name, "there is no such field: there are title, classes, gold_for, sure, price, link_template, rules");
    }
  }
}

}  // namespace wisecrowd::service
