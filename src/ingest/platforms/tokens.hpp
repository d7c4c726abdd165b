#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/platforms/json_reading.hpp"

namespace wisecrowd::ingest {

/// A word, or a sign by itself, with its place in the text.
struct Token {
  std::uint64_t begin, end;
  std::string_view text;
};

/// Words (letters, digits, underscores and all that is not ASCII) and single signs; blanks divide. Places count
/// characters, or else UTF-16 units, as browsers do.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text, bool code_points);

/// Tags of the BIO scheme, one per token. A token belongs to a span that it touches. `failure` says why not, with the
/// remedy: spans overlap, or end behind the text.
[[nodiscard]] std::vector<std::string> bio_tags(const std::vector<Token>& tokens, std::vector<Span> spans,
                                                std::string& failure);

}  // namespace wisecrowd::ingest
