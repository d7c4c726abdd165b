#include "service/tokens.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/digest.hpp"
#include "service/log.hpp"
#include "service/words.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/service.hpp"

namespace wisecrowd {
namespace service {
namespace {

constexpr std::string_view kScopeNames[] = {"none", "read", "write", "admin"};

std::vector<std::string> words_of(std::string_view text, std::string_view dividers) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(dividers);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = text.find_first_of(dividers);
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size()));
  }
  return words;
}

std::optional<Scope> scope_named(std::string_view name) {
  for (const Scope scope : {Scope::read, Scope::write, Scope::admin}) {
    if (name == kScopeNames[static_cast<int>(scope)]) return scope;
  }
  return std::nullopt;
}

std::string stamp_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return "";
  return fmt::format("{} {} {} {}", file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

std::string whole_file(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) {
    throw Error(ErrorCode::io, fmt::format("cannot read the token file {}: make one with wisecrowd token", path));
  }
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(ErrorCode::io, fmt::format("others may write to the token file {}: chmod go-w {}", path, path));
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error(ErrorCode::io, fmt::format("cannot read the token file {}", path));
  return text.str();
}

}  // namespace

std::vector<std::pair<std::string, Caller>> parse_tokens(std::string_view text, const std::string& path) {
  std::vector<std::pair<std::string, Caller>> tokens;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::vector<std::string> words = words_of(line, " \t\r");
    if (words.empty() || words[0].starts_with('#')) continue;
    const auto fail = [&](std::string_view why) {
      throw Error(ErrorCode::bad_input, fmt::format("{}, line {}: {}; a line is NAME SCOPE PROJECT,…|* SHA256, as "
                                                    "wisecrowd token writes it",
                                                    path, number, why));
    };
    if (words.size() != 4) fail(fmt::format("it has {} words instead of four", words.size()));
    Caller caller;
    caller.name = words[0];
    const auto scope = scope_named(words[1]);
    if (!scope) fail(fmt::format("'{}' is none of read, write, admin", printable(words[1])));
    caller.scope = scope.value_or(Scope::none);
    for (const std::string& project : words_of(words[2], ",")) {
      if (project != "*" && !is_project_name(project)) fail(fmt::format("'{}' names no project", printable(project)));
      if (project == "*") caller.all_projects = true;
      caller.projects.insert(project);
    }
    const auto digest = from_hex(words[3]);
    if (!digest || digest->size() != 32) fail("the last word is no SHA-256");
    tokens.emplace_back(digest.value_or(""), std::move(caller));
  }
  return tokens;
}

Tokens::Tokens(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  stamp_ = stamp_of(path_);
  for (auto& [digest, caller] : parse_tokens(whole_file(path_), path_)) known_.push_back({digest, caller});
  if (known_.empty())
    throw Error(ErrorCode::bad_input, fmt::format("{} holds no token: add one with wisecrowd token", path_));
}

std::string Tokens::refresh() {
  if (path_.empty()) return {};
  const std::string stamp = stamp_of(path_);
  const std::lock_guard lock(mutex_);
  if (stamp == stamp_) return {};
  stamp_ = stamp;
  try {
    std::vector<Known> fresh;
    for (auto& [digest, caller] : parse_tokens(whole_file(path_), path_)) fresh.push_back({digest, caller});
    known_ = std::move(fresh);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::optional<Caller> Tokens::find(std::string_view secret) {
  const Sha256 digest = sha256(secret);
  const std::lock_guard lock(mutex_);
  std::optional<Caller> found;
  for (const Known& known : known_) {  // all of them, whichever fits
    if (equal_in_constant_time(known.digest, bytes_of(digest))) found = known.caller;
  }
  return found;
}

std::optional<std::string> secret_of(std::string_view authorization) {
  const std::size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  std::string scheme(authorization.substr(0, blank));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string_view rest = authorization.substr(blank + 1);
  if (scheme == "bearer") return std::string(rest);
  if (scheme != "basic") return std::nullopt;
  const auto pair = from_base64(rest);
  const std::size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

Sessions::Opened Sessions::open(Caller caller) {
  Opened opened{hex(random_bytes(32)), hex(random_bytes(32))};
  caller.by_session = true;
  caller.proof = opened.proof;
  const double now = seconds_since_1970();
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [&](const auto& one) { return one.second.ends < now; });
  if (sessions_.size() >= kMost) throw Refusal(503, "too many browsers are logged in: try again later");
  const Sha256 digest = sha256(opened.cookie);
  sessions_[std::string(bytes_of(digest))] = {std::move(caller), now + kHours * 3600};
  return opened;
}

std::optional<Caller> Sessions::find(std::string_view cookie) {
  const Sha256 digest = sha256(cookie);
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(bytes_of(digest));
  if (found == sessions_.end() || found->second.ends < seconds_since_1970()) return std::nullopt;
  return found->second.caller;
}

void Sessions::close(std::string_view cookie) {
  const Sha256 digest = sha256(cookie);
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(bytes_of(digest));
  if (found != sessions_.end()) sessions_.erase(found);
}

}  // namespace service

NewToken make_token(const std::string& name, const std::vector<std::string>& scopes,
                    const std::vector<std::string>& projects) {
  if (!service::is_project_name(name)) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("'{}' is no name for a token: use letters, digits, - and _", printable(name)));
  }
  service::Scope highest = service::Scope::none;
  for (const std::string& scope : scopes) {
    const auto known = service::scope_named(scope);
    if (!known)
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("there is no scope '{}': choose read, write or admin", printable(scope)));
    highest = std::max(highest, *known);
  }
  if (highest == service::Scope::none)
    throw Error(ErrorCode::bad_parameter, "a token needs a scope: read, write or admin");
  std::string listed;
  for (const std::string& project : projects) {
    if (project != "*" && !service::is_project_name(project)) {
      throw Error(
          ErrorCode::bad_parameter,
          fmt::format("'{}' cannot be a project: use letters, digits, - and _, or * for all", printable(project)));
    }
    listed += (listed.empty() ? "" : ",") + project;
  }
  NewToken token;
  token.secret = "wc_" + hex(random_bytes(24));
  const Sha256 digest = sha256(token.secret);
  token.line = fmt::format("{} {} {} {}", name, service::kScopeNames[static_cast<int>(highest)],
                           listed.empty() ? "*" : listed, hex(bytes_of(digest)));
  return token;
}

}  // namespace wisecrowd
