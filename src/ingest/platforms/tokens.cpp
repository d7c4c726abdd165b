#include "ingest/platforms/tokens.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest {
namespace {

bool is_blank_character(char32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xA0 || (c >= 0x2000 && c <= 0x200B) || c == 0x3000;
}

bool is_word_character(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c >= 0x80;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text, bool code_points) {
  std::vector<Token> tokens;
  std::uint64_t place = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = first_character(text.substr(at));
    const std::uint64_t next = place + (!code_points && c.code > 0xFFFF ? 2 : 1);
    if (is_blank_character(c.code)) {
      in_word = false;
    } else if (in_word && is_word_character(c.code)) {
      tokens.back().end = next;
      tokens.back().text = {tokens.back().text.data(), tokens.back().text.size() + c.bytes};
    } else {
      tokens.push_back({place, next, text.substr(at, c.bytes)});
      in_word = is_word_character(c.code);
    }
    place = next;
    at += c.bytes;
  }
  return tokens;
}

std::vector<std::string> bio_tags(const std::vector<Token>& tokens, std::vector<Span> spans, std::string& failure) {
  std::vector<std::string> tags(tokens.size(), "O");
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (const Span& span : spans) {
    bool first = true;
    for (std::size_t i = 0; i < tokens.size() && tokens[i].begin < span.end; ++i) {
      if (tokens[i].end <= span.begin) continue;
      if (tags[i] != "O") {
        failure = fmt::format("spans overlap at '{}': a token has one tag, so keep one of them",
                              printable(tokens[i].text, 30));
        return {};
      }
      tags[i] = (first ? "B-" : "I-") + span.type;
      first = false;
    }
    if (first) {
      failure = fmt::format("the span from {} to {} touches no word of the text: is it of another text?", span.begin,
                            span.end);
      return {};
    }
  }
  return tags;
}

}  // namespace wisecrowd::ingest
