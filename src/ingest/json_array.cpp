#include "ingest/json_array.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "ingest/columns.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kHead = 4096;
constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Follows strings and brackets, and nothing else: what is wrong with an element is found when its line is parsed.
class ArrayLines final : public ByteSource {
 public:
  ArrayLines(std::unique_ptr<ByteSource> source, std::string file, std::string head)
      : source_(std::move(source)), file_(std::move(file)), block_(std::move(head)) {}

  std::size_t read(char* to, std::size_t wanted) override {
    std::size_t done = 0;
    while (done < wanted) {
      if (taken_ == lines_.size()) {
        lines_.clear();
        taken_ = 0;
        if (!refill()) break;
      }
      const std::size_t now = std::min(wanted - done, lines_.size() - taken_);
      std::memcpy(to + done, lines_.data() + taken_, now);
      done += now;
      taken_ += now;
    }
    return done;
  }
  [[nodiscard]] std::uint64_t position() const override { return source_->position(); }
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }

 private:
  /// False at the end.
  bool refill() {
    if (block_.empty()) {
      block_.resize(kBlock);
      block_.resize(source_->read(block_.data(), block_.size()));
    }
    if (block_.empty()) {
      if (depth_ > 0) {
        throw Error(
            ErrorCode::bad_input,
            fmt::format("{}: the JSON array is never closed: the file is cut short, or its last ] is missing", file_));
      }
      return false;
    }
    for (const char c : block_) take(c);
    block_.clear();
    return true;
  }

  void take(char c) {
    if (inside_string_) {
      // A bare line break in a string is no JSON; a tab there is none either, but ends no line.
      lines_ += c == '\n' || c == '\r' ? '\t' : c;
      inside_string_ = c != '"' || escaped_;
      escaped_ = c == '\\' && !escaped_;
      return;
    }
    if (c == '\n') {
      ++breaks_;
      if (element_) lines_ += ' ';
      return;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      if (element_) lines_ += ' ';
      return;
    }
    if (depth_ == 0 && !opened_) {
      opened_ = true;
      depth_ = 1;
      return;
    }
    if (depth_ == 1 && (c == ',' || c == ']')) {
      // An element is missing before this comma, or after the last one: its line must be refused.
      if (!element_ && (c == ',' || after_comma_)) begin_element(',');
      element_ = false;
      after_comma_ = c == ',';
      if (c == ']') depth_ = 0;
      return;
    }
    if (!element_) {
      begin_element(c);
    } else {
      lines_ += c;
    }
    if (c == '"') inside_string_ = true;
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && depth_ > 1) --depth_;
  }

  void begin_element(char first) {
    lines_.append(any_ ? std::max<std::size_t>(breaks_, 1) : breaks_, '\n');
    lines_ += first;
    breaks_ = 0;
    any_ = element_ = true;
  }

  std::unique_ptr<ByteSource> source_;
  std::string file_;
  std::string block_;
  std::string lines_;  // what was made of blocks
  std::size_t taken_ = 0;
  std::size_t breaks_ = 0;  // line breaks that were not written yet
  std::size_t depth_ = 0;
  bool opened_ = false;       // the array's bracket
  bool any_ = false;          // some element was there
  bool element_ = false;      // we are in one
  bool after_comma_ = false;  // nothing since a comma
  bool inside_string_ = false;
  bool escaped_ = false;
};

/// Gives back what was looked at.
class Looked final : public ByteSource {
 public:
  Looked(std::unique_ptr<ByteSource> source, std::string head) : source_(std::move(source)), head_(std::move(head)) {}
  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t now = std::min(wanted, head_.size() - taken_);
    std::memcpy(to, head_.data() + taken_, now);
    taken_ += now;
    return now + (now < wanted ? source_->read(to + now, wanted - now) : 0);
  }
  [[nodiscard]] std::uint64_t position() const override { return source_->position(); }
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  std::size_t taken_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> without_array(std::unique_ptr<ByteSource> source, const std::string& file,
                                          TableFormat asked) {
  std::string head(kHead, '\0');
  head.resize(source->read(head.data(), head.size()));
  std::string_view text = head;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool bracket = first != std::string_view::npos && text[first] == '[';
  if (!bracket || detect_format(file, text, asked) != TableFormat::jsonl) {
    return std::make_unique<Looked>(std::move(source), std::move(head));
  }
  return std::make_unique<ArrayLines>(std::move(source), file, std::string(text));
}

}  // namespace wisecrowd::ingest
