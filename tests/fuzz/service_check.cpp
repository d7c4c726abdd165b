#include "fuzz/service_check.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/digest.hpp"
#include "service/http.hpp"
#include "service/label_studio.hpp"
#include "service/outgoing.hpp"
#include "service/rows.hpp"
#include "service/tokens.hpp"
#include "service/words.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::fuzz {
namespace {

using namespace service;

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// Whatever comes, rows that are let through can be stored and shown.
void check_rows(const Rows& rows) {
  require(rows.errors.size() <= kMostShownErrors && rows.errors.size() <= rows.error_count, "errors are miscounted");
  require(rows.error_count > 0 || !rows.entries.empty(), "nothing was read, and nothing is wrong");
  for (const Entry& entry : rows.entries) {
    require(service_name_problem(entry.task).empty(), "a task of no name");
    require(entry.kind != EntryKind::answer || service_name_problem(entry.worker).empty(), "a worker of no name");
    require(entry.kind == EntryKind::withdrawal || entry.kind == EntryKind::task ||
                service_name_problem(entry.label).empty(),
            "a label of no name");
    require(entry.link.empty() || is_plain_link(entry.link), "a link that is none");
  }
}

void check_target(std::string_view bytes) {
  HttpRequest request;
  if (!split_target(bytes, request).empty()) return;
  std::string again;
  for (const std::string& segment : request.segments) again += "/" + percent_encoded(segment);
  HttpRequest second;
  require(split_target(again.empty() ? "/" : again, second).empty(), "a path that we wrote is refused");
  require(second.segments == request.segments, "a path changes when it is written and read");
}

/// Annotations that are let through have names that can be stored.
void check_studio(std::string_view bytes) {
  const auto payload = parse_json(bytes);
  for (const StudioAnnotation& made : studio_event(payload, "c").made) {
    require(service_name_problem(made.task).empty() && service_name_problem(made.worker).empty(),
            "an annotation of nobody");
    require(made.label.empty() || service_name_problem(made.label).empty(), "an annotation that says nothing");
  }
  (void)studio_export(bytes, "c");
}

}  // namespace

void check_service(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view rest = bytes.substr(1);
  try {
    switch (static_cast<unsigned char>(bytes[0]) % 11) {
      case 0: check_rows(parse_answers(rest, RowFormat::ndjson)); break;
      case 1: check_rows(parse_answers(rest, RowFormat::json)); break;
      case 2: check_rows(parse_gold(rest, RowFormat::json)); break;
      case 3: check_rows(parse_tasks(rest, RowFormat::ndjson)); break;
      case 4: check_target(rest); break;
      case 5:
        if (const auto plain = from_base64(rest)) require(from_base64(base64(*plain)) == plain, "base64 changes");
        (void)secret_of(rest);
        break;
      case 6: (void)parse_tokens(rest, "tokens"); break;
      case 7: (void)cookies_of(rest); break;
      case 8: check_studio(rest); break;
      case 9:
        if (const auto question = question_of(rest))
          require(question->choices.size() >= 2, "a question without a choice");
        break;
      default:
        (void)parse_answer(rest);
        (void)parse_url(rest);
        break;
    }
  } catch (const Refusal& refusal) {
    const int status = refusal.response().status;
    require(status >= 400 && status < 500, "a client is told that it is our fault");
  } catch (const Error&) {
  }
}

}  // namespace wisecrowd::fuzz
