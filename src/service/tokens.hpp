#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "service/http.hpp"

namespace wisecrowd::service {

/// Each allows what the ones before it do.
enum class Scope { none = 0, read = 1, write = 2, admin = 3 };

/// Who asks, and what it may do.
struct Caller {
  std::string name;
  Scope scope = Scope::none;
  bool all_projects = false;
  std::set<std::string, std::less<>> projects;
  bool by_session = false;  ///< a browser, whose changes need a proof that our page made them
  std::string proof;        ///< that one

  [[nodiscard]] bool may(Scope wanted, std::string_view project) const {
    return scope >= wanted && (project.empty() ? (wanted < Scope::admin || all_projects) : sees(project));
  }
  [[nodiscard]] bool sees(std::string_view project) const {
    return all_projects || projects.find(project) != projects.end();
  }
};

/// The token file: lines of NAME SCOPE PROJECT,PROJECT|* SHA256, and comments. It holds no secrets. Read again when it
/// changes.
class Tokens {
 public:
  /// Without a file everybody who gets as far as here may do everything.
  explicit Tokens(std::string path);
  [[nodiscard]] bool needed() const noexcept { return !path_.empty(); }
  /// Whose secret it is; nothing when it is nobody's.
  [[nodiscard]] std::optional<Caller> find(std::string_view secret);
  /// Looks whether the file has changed; an unreadable one leaves what was known, and says why.
  [[nodiscard]] std::string refresh();

 private:
  struct Known {
    std::string digest;
    Caller caller;
  };
  std::string path_;
  std::mutex mutex_;
  std::vector<Known> known_;
  std::string stamp_;
};

/// Lines of a token file; throws bad_input that names the line.
[[nodiscard]] std::vector<std::pair<std::string, Caller>> parse_tokens(std::string_view text, const std::string& path);
/// The secret of an Authorization header: a bearer token, or the password of Basic. Nothing when there is none.
[[nodiscard]] std::optional<std::string> secret_of(std::string_view authorization);

/// Browsers that showed a token once. They get a cookie that programs on other pages cannot read or send.
class Sessions {
 public:
  struct Opened {
    std::string cookie, proof;
  };
  [[nodiscard]] Opened open(Caller caller);
  [[nodiscard]] std::optional<Caller> find(std::string_view cookie);
  void close(std::string_view cookie);

 private:
  static constexpr std::size_t kMost = 10'000;
  static constexpr double kHours = 12;
  struct Session {
    Caller caller;
    double ends = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Session, std::less<>> sessions_;  // by digest of the cookie
};

inline constexpr std::string_view kSessionCookie = "wisecrowd_session";

}  // namespace wisecrowd::service
