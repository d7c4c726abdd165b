#include <algorithm>

#include "base/csv_rows.hpp"
#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest {
namespace {

/// Collects the paths of the keys of the first object in JSON text that may be cut short. Lists are passed through, and
/// nothing is checked: a file that is recognised is parsed properly.
class KeyPaths {
 public:
  explicit KeyPaths(std::string_view text) : text_(text) {}

  std::set<std::string> find() {
    while (at_ < text_.size() && paths_.size() < kMostPaths) {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' && open_.size() < kDeepest) open_.push_back({path(), true});
      if (c == '[' && open_.size() < kDeepest) open_.push_back({path(), false});
      if ((c == '{' || c == '[') && open_.size() == kDeepest) break;
      if (c == '}' || c == ']') {
        if (!open_.empty()) open_.pop_back();
        if (c == '}' && objects() == 0) break;
      }
      if (c == ',') key_.clear();
      ++at_;
    }
    return std::move(paths_);
  }

 private:
  static constexpr std::size_t kDeepest = 40, kMostPaths = 2000;
  struct Open {
    std::string path;
    bool object;
  };

  [[nodiscard]] std::size_t objects() const {
    return static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [](const Open& o) { return o.object; }));
  }
  /// Of what begins now.
  [[nodiscard]] std::string path() const {
    if (open_.empty()) return "";
    if (!open_.back().object) return open_.back().path;
    return open_.back().path.empty() ? key_ : open_.back().path + "/" + key_;
  }
  void string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::size_t end = std::min(at_, text_.size());
    at_ = end + 1;
    std::size_t next = at_;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    if (open_.empty() || !open_.back().object || next >= text_.size() || text_[next] != ':') return;
    key_ = text_.substr(begin, end - begin);
    paths_.insert(path());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::string key_;
  std::set<std::string> paths_;
};

}  // namespace

bool FileHead::has_column(std::string_view column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

bool FileHead::has_column_like(std::string_view beginning) const {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& c) { return c.starts_with(beginning); });
}

FileHead head_of(const std::string& name, std::string_view bytes) {
  FileHead head{.name = name.substr(name.find_last_of('/') + 1)};
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return head;
  bytes.remove_prefix(first);
  if (bytes.front() == '[' || bytes.front() == '{') {
    head.is_json = true;
    head.keys = KeyPaths(bytes).find();
    return head;
  }
  const std::string_view line = bytes.substr(0, bytes.find_first_of("\r\n"));
  if (line.find('\t') != std::string_view::npos) {
    for (std::size_t at = 0; at <= line.size();) {
      const auto end = std::min(line.find('\t', at), line.size());
      head.columns.emplace_back(line.substr(at, end - at));
      at = end + 1;
    }
    return head;
  }
  CsvRows rows(line);
  if (rows.next()) head.columns = rows.fields();
  return head;
}

}  // namespace wisecrowd::ingest
