#include "service/http.hpp"

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {

std::string_view HttpRequest::header(std::string_view lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const auto byte = i + 2 < text.size() ? from_hex(text.substr(i + 1, 2)) : std::nullopt;
      if (!byte || byte->size() != 1) return std::nullopt;
      decoded += *byte;
      i += 2;
    } else {
      decoded += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (!decoded.empty() && !name_problem(decoded).empty()) return std::nullopt;
  return decoded;
}

std::string split_target(std::string_view target, HttpRequest& request) {
  if (!target.starts_with('/')) return "the target must be a path that begins with /";
  for (const char c : target) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F || c == '#' || c == '\\') {
      return "the target holds characters that must be escaped";
    }
  }
  const std::size_t question = target.find('?');
  std::string_view path = target.substr(1, question == std::string_view::npos ? question : question - 1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const auto segment = percent_decoded(path.substr(0, slash), false);
    if (!segment) return "the path holds an escape that is cut short, or bytes that are no UTF-8";
    request.segments.push_back(*segment);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
    if (path.empty()) request.segments.emplace_back();  // it ends with a slash
  }
  std::string_view query = question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    const std::size_t equals = part.find('=');
    const auto name = percent_decoded(part.substr(0, equals), true);
    const auto value =
        percent_decoded(equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1), true);
    if (!name || !value) return "the query holds an escape that is cut short, or bytes that are no UTF-8";
    if (!part.empty() && !request.query.emplace(*name, *value).second) {
      return "the query names '" + printable(*name) + "' twice";
    }
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return {};
}

Fields cookies_of(std::string_view header) {
  Fields cookies;
  while (!header.empty()) {
    const std::size_t end = header.find(';');
    std::string_view part = header.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) cookies.emplace(part.substr(0, equals), part.substr(equals + 1));
    if (end == std::string_view::npos) break;
    header.remove_prefix(end + 1);
  }
  return cookies;
}

HttpResponse json_response(int status, const nlohmann::ordered_json& body) {
  HttpResponse response;
  response.status = status;
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return response;
}

HttpResponse problem(int status, std::string_view detail) {
  HttpResponse response =
      json_response(status, {{"title", reason_phrase(status)}, {"status", status}, {"detail", detail}});
  response.type = "application/problem+json";
  return response;
}

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 424: return "Failed Dependency";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return status < 400 ? "OK" : status < 500 ? "Bad Request" : "Internal Server Error";
  }
}

}  // namespace wisecrowd::service
