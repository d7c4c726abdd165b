#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// A tag of the BIO scheme: 0 is O (outside of every span), then B-x (a span of type x begins) and I-x (it goes on) for
/// each type x in turn.
enum class TagId : std::uint16_t {};
inline constexpr TagId kOutside{0};
/// Marks a token that a worker did not tag, or whose truth is unknown.
inline constexpr TagId kNoTag{0xFFFF};
/// Tag ids are 16 bits wide and the last value is kNoTag.
inline constexpr std::size_t kMaxSpanTypes = 0x7FFE;

[[nodiscard]] constexpr TagId begin_tag(std::size_t type) noexcept { return TagId(2 * type + 1); }
[[nodiscard]] constexpr TagId inside_tag(std::size_t type) noexcept { return TagId(2 * type + 2); }
[[nodiscard]] constexpr bool is_begin(TagId tag) noexcept { return tag != kNoTag && index(tag) % 2 == 1; }
[[nodiscard]] constexpr bool is_inside(TagId tag) noexcept { return tag != kOutside && index(tag) % 2 == 0; }
/// Of a tag that is neither outside nor unknown.
[[nodiscard]] constexpr std::size_t type_of(TagId tag) noexcept { return (index(tag) - 1) / 2; }
/// False for I-x after O, or after a tag of another type. At the start of a document, `previous` is outside.
[[nodiscard]] constexpr bool may_follow(TagId previous, TagId tag) noexcept {
  return !is_inside(tag) || (previous != kOutside && previous != kNoTag && type_of(previous) == type_of(tag));
}
/// "O", "B-x", "I-x".
[[nodiscard]] std::string tag_name(TagId tag, const NameTable& types);

/// What a tag says: outside, or a type and whether a span begins.
struct ParsedTag {
  bool outside = false;
  bool begins = false;
  std::string_view type;
};
/// False when the text is no tag of the scheme; `kBioScheme` then says what one is.
[[nodiscard]] bool parse_tag(std::string_view text, ParsedTag& tag) noexcept;
inline constexpr const char* kBioScheme =
    "tags are O (outside of every span), B-type (a span of that type begins) and I-type (it goes on), as in B-PER";

/// A stretch of tokens with a type. Positions are counted within the document, from 0; `end` is the one after the last.
struct Span {
  TaskId document;
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::uint32_t type = 0;
  bool operator==(const Span&) const = default;
};
/// The spans of one document: B-x and the I-x that follow it. An I-x after O, or after another type, begins a span of
/// its own; kNoTag ends one.
void append_spans(TaskId document, std::span<const TagId> tags, std::vector<Span>& spans);

/// One worker's tags of one document; `tags` starts at position `first`, has kNoTag where the worker skipped a token,
/// and refers to storage of somebody else.
struct SequenceAnswer {
  TaskId task;
  WorkerId worker;
  std::uint32_t first = 0;
  std::span<const TagId> tags;
};

/// The crowd's answers where each is a tag for every token of a document, or of a part of it: the graph of documents
/// and workers, the length of every document, and a stretch of tags per edge.
class SequenceAnswers : public AnswerGraph {
 public:
  SequenceAnswers();

  /// Types of spans; tags are made of them.
  [[nodiscard]] const NameTable& type_names() const noexcept;
  [[nodiscard]] std::size_t tag_count() const noexcept { return 2 * type_names().size() + 1; }

  /// Documents + 1: tokens of all documents one after the other.
  [[nodiscard]] std::span<const std::uint64_t> token_offsets() const noexcept;
  [[nodiscard]] std::size_t token_count() const noexcept { return token_offsets().back(); }
  [[nodiscard]] std::size_t length(TaskId document) const noexcept;

  /// The position where an answer begins, and its tags from there on; the first and the last of them are known.
  [[nodiscard]] std::uint32_t first(AnswerIndex answer) const noexcept;
  [[nodiscard]] std::span<const TagId> tags(AnswerIndex answer) const noexcept;
  /// How many tags all answers have together.
  [[nodiscard]] std::uint64_t tag_answer_count() const noexcept;

  /// A 64-bit fingerprint of answers and names, the same on every machine, for any number of threads and whatever the
  /// order of rows. Computed on first use.
  [[nodiscard]] std::uint64_t content_hash() const;

  struct Column;
  SequenceAnswers(AnswerGraph graph, std::shared_ptr<const Column> column);

 private:
  std::shared_ptr<const Column> column_;
};

/// Names that go with the indices of a list of answers.
struct SequenceAnswerNames {
  NameTable documents;
  NameTable workers;
  NameTable types;
};

/// Builds them from answers; ids stay as given. `lengths` has the number of tokens of each document; empty: documents
/// are as long as their answers reach. Throws bad_input when an index is out of range, an answer has no tag, or a
/// worker tagged a token twice.
[[nodiscard]] SequenceAnswers make_sequence_answers(std::span<const SequenceAnswer> answers, SequenceAnswerNames names,
                                                    std::span<const std::uint32_t> lengths = {});

/// Collects answers by name, for programs that read no file. Ids follow the order of names ("d2" before "d10").
class SequenceAnswersBuilder {
 public:
  SequenceAnswersBuilder();
  ~SequenceAnswersBuilder();
  SequenceAnswersBuilder(SequenceAnswersBuilder&&) noexcept;
  SequenceAnswersBuilder& operator=(SequenceAnswersBuilder&&) noexcept;

  /// The tags of a stretch of tokens; an empty text is a token that was skipped. Throws bad_input at a text that is no
  /// tag.
  SequenceAnswersBuilder& add(std::string_view document, std::string_view worker, std::span<const std::string> tags,
                              std::uint32_t first = 0);
  /// Makes a document known, and how long it is.
  SequenceAnswersBuilder& add_document(std::string_view document, std::uint32_t length);
  /// Makes a worker known who has not answered.
  SequenceAnswersBuilder& add_worker(std::string_view worker);
  /// Makes a type of spans known.
  SequenceAnswersBuilder& add_type(std::string_view type);
  /// Throws bad_input when a worker tagged a token twice.
  [[nodiscard]] SequenceAnswers build() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wisecrowd
