#include "wisecrowd/sequence_answers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "data/content_hash.hpp"
#include "data/graph_build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "data/sequence_column.hpp"
#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd {
namespace {

/// A tag within its bucket; what it says stays where it is until the end.
class TagPacking {
 public:
  using Payload = std::uint32_t;
  struct Word {
    std::uint32_t place, worker, position, row;
  };
  using Entry = std::uint32_t;

  explicit TagPacking(std::span<const std::uint32_t> positions) : positions_(positions) {}

  [[nodiscard]] Word pack(std::uint32_t place, std::uint32_t worker, std::uint32_t row) const noexcept {
    return {place, worker, positions_[row], row};
  }
  static std::size_t place_of(const Word& tag) noexcept { return tag.place; }
  static std::uint32_t worker_of(const Word& tag) noexcept { return tag.worker; }
  static Entry entry_of(const Word& tag) noexcept { return tag.row; }
  static bool before(const Word& a, const Word& b) noexcept {
    if (a.worker != b.worker) return a.worker < b.worker;
    return a.position != b.position ? a.position < b.position : a.row < b.row;
  }
  static bool same(const Word& a, const Word& b) noexcept { return a.row == b.row; }

 private:
  std::span<const std::uint32_t> positions_;
};

NameTable types_in_order(const Interner& types, std::vector<std::uint32_t>& place) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < types.size(); ++i) names.push_back(types[i]);
  const auto order = class_order(names);
  place.resize(order.size());
  std::vector<std::string> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.emplace_back(names[order[i]]);
  }
  return NameTable(sorted);
}

}  // namespace

std::string tag_name(TagId tag, const NameTable& types) {
  if (tag == kOutside) return "O";
  if (tag == kNoTag) return "";
  return fmt::format("{}-{}", is_begin(tag) ? 'B' : 'I', types[type_of(tag)]);
}

bool parse_tag(std::string_view text, ParsedTag& tag) noexcept {
  tag = {};
  tag.outside = text == "O";
  if (tag.outside) return true;
  if (text.size() < 3 || text[1] != '-' || (text[0] != 'B' && text[0] != 'I')) return false;
  tag.begins = text[0] == 'B';
  tag.type = text.substr(2);
  return true;
}

void append_spans(TaskId document, std::span<const TagId> tags, std::vector<Span>& spans) {
  TagId previous = kOutside;
  bool open = false;
  for (std::uint32_t t = 0; t < tags.size(); ++t) {
    const TagId tag = tags[t];
    const bool marked = tag != kOutside && tag != kNoTag;
    if (open && (!marked || is_begin(tag) || !may_follow(previous, tag))) {
      spans.back().end = t;
      open = false;
    }
    if (marked && !open) {
      spans.push_back({document, t, t + 1, static_cast<std::uint32_t>(type_of(tag))});
      open = true;
    }
    previous = tag;
  }
  if (open) spans.back().end = static_cast<std::uint32_t>(tags.size());
}

SequenceAnswers::SequenceAnswers() {
  static const auto empty = [] {
    auto column = std::make_shared<Column>();
    column->token_offsets.assign(1, 0);
    column->tag_offsets.assign(1, 0);
    return column;
  }();
  column_ = empty;
}
SequenceAnswers::SequenceAnswers(AnswerGraph graph, std::shared_ptr<const Column> column)
    : AnswerGraph(std::move(graph)), column_(std::move(column)) {}

const NameTable& SequenceAnswers::type_names() const noexcept { return column_->types; }
std::span<const std::uint64_t> SequenceAnswers::token_offsets() const noexcept { return column_->token_offsets; }
std::size_t SequenceAnswers::length(TaskId document) const noexcept {
  return token_offsets()[index(document) + 1] - token_offsets()[index(document)];
}
std::uint32_t SequenceAnswers::first(AnswerIndex answer) const noexcept { return column_->first[answer]; }
std::span<const TagId> SequenceAnswers::tags(AnswerIndex answer) const noexcept {
  const auto& offsets = column_->tag_offsets;
  return {column_->tags.data() + offsets[answer], offsets[answer + 1] - offsets[answer]};
}
std::uint64_t SequenceAnswers::tag_answer_count() const noexcept { return column_->tagged; }

std::uint64_t SequenceAnswers::content_hash() const {
  std::call_once(column_->hash_once, [this] {
    const auto hash_of = [](const SequenceAnswers& answers) {
      const Column& column = *answers.column_;
      ContentHash hash;
      hash.add_graph(answers);
      hash.add(column.token_offsets.data(), column.token_offsets.size() * sizeof(std::uint64_t));
      hash.add(column.first.data(), column.first.size() * sizeof(std::uint32_t));
      hash.add(column.tag_offsets.data(), column.tag_offsets.size() * sizeof(std::uint64_t));
      hash.add(column.tags.data(), column.tags.size() * sizeof(TagId));
      hash.add_names(answers.task_names());
      hash.add_names(answers.worker_names());
      hash.add_names(answers.type_names());
      return hash.value();
    };
    ThreadPool pool(1);
    const auto tasks = ranks_in_order(task_names(), pool), workers = ranks_in_order(worker_names(), pool);
    if (tasks.empty() && workers.empty()) {
      column_->hash = hash_of(*this);
      return;
    }
    const auto ranked = [](const std::vector<std::uint32_t>& ranks, std::size_t id) {
      return ranks.empty() ? id : ranks[id];
    };
    std::vector<SequenceAnswer> answers;
    std::vector<std::uint32_t> lengths(task_count());
    for (std::size_t d = 0; d < task_count(); ++d) {
      lengths[ranked(tasks, d)] = static_cast<std::uint32_t>(length(TaskId(d)));
      for (AnswerIndex a = task_offsets()[d]; a < task_offsets()[d + 1]; ++a) {
        answers.push_back(
            {TaskId(ranked(tasks, d)), WorkerId(ranked(workers, index(this->workers()[a]))), first(a), this->tags(a)});
      }
    }
    column_->hash = hash_of(make_sequence_answers(
        answers, {reordered(task_names(), tasks, pool), reordered(worker_names(), workers, pool), type_names()},
        lengths));
  });
  return column_->hash;
}

SequenceAnswers build_sequence_answers(std::vector<SequencePiece> pieces, const TagRows& rows,
                                       SequenceAnswerNames names, std::span<const std::uint32_t> lengths,
                                       ThreadPool& pool, std::vector<RepeatedToken>& repeated) {
  if (names.types.size() > kMaxSpanTypes) {
    throw Error(ErrorCode::unsupported, fmt::format("{} types of spans are more than the {} that one data set can hold",
                                                    names.types.size(), kMaxSpanTypes));
  }
  const TagPacking packing(rows.positions);
  const std::size_t documents = names.documents.size();
  GraphBuild<TagPacking> build(packing, std::move(pieces), documents, DuplicatePolicy::repeat, pool);
  build.run();
  auto graph = std::make_shared<AnswerGraph::Storage>();
  auto column = std::make_shared<SequenceAnswers::Column>();
  graph->task_names = std::move(names.documents);
  graph->worker_names = std::move(names.workers);
  graph->task_offsets.assign(documents + 1, 0);
  column->types = std::move(names.types);
  column->token_offsets.assign(documents + 1, 0);
  column->tag_offsets.assign(1, 0);
  column->tags.reserve(build.column.size());
  const auto& by_row = *build.graph;
  for (std::size_t d = 0; d < documents; ++d) {
    column->token_offsets[d + 1] = column->token_offsets[d] + lengths[d];
    std::uint32_t last_row = 0, next = 0;  // of the answer that is being collected: the position after its last tag
    for (std::size_t i = by_row.task_offsets[d]; i < by_row.task_offsets[d + 1]; ++i) {
      const std::uint32_t row = build.column[i], position = rows.positions[row];
      if (i == by_row.task_offsets[d] || by_row.workers[i] != by_row.workers[i - 1]) {
        if (!graph->workers.empty()) column->tag_offsets.push_back(column->tags.size());
        graph->workers.push_back(by_row.workers[i]);
        column->first.push_back(position);
        next = position;
      } else if (position < next) {
        repeated.push_back({last_row, row});
        continue;
      }
      column->tags.resize(column->tags.size() + (position - next), kNoTag);
      column->tags.push_back(rows.tags[row]);
      ++column->tagged;
      next = position + 1;
      last_row = row;
    }
    graph->task_offsets[d + 1] = static_cast<AnswerIndex>(graph->workers.size());
  }
  if (!graph->workers.empty()) column->tag_offsets.push_back(column->tags.size());
  std::sort(repeated.begin(), repeated.end());
  return {AnswerGraph(std::move(graph)), std::move(column)};
}

SequenceAnswers make_sequence_answers(std::span<const SequenceAnswer> answers, SequenceAnswerNames names,
                                      std::span<const std::uint32_t> lengths) {
  const std::size_t documents = names.documents.size(), tags = 2 * names.types.size() + 1;
  std::vector<std::uint32_t> reach(lengths.begin(), lengths.end());
  reach.resize(documents, 0);
  std::vector<SequencePiece> pieces(1);
  std::vector<std::uint32_t> positions;
  std::vector<TagId> said;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const SequenceAnswer& a = answers[i];
    require_index(i, index(a.task), documents, "document");
    require_index(i, index(a.worker), names.workers.size(), "worker");
    const std::size_t before = said.size();
    for (std::size_t t = 0; t < a.tags.size(); ++t) {
      if (a.tags[t] == kNoTag) continue;
      require_index(i, index(a.tags[t]), tags, "tag");
      const auto position = static_cast<std::uint32_t>(a.first + t);
      auto& length = reach[index(a.task)];
      if (!lengths.empty()) require_index(i, position, length, "token");
      length = std::max(length, position + 1);
      pieces[0].tasks.push_back(static_cast<std::uint32_t>(a.task));
      pieces[0].workers.push_back(static_cast<std::uint32_t>(a.worker));
      pieces[0].payload.push_back(static_cast<std::uint32_t>(said.size()));
      positions.push_back(position);
      said.push_back(a.tags[t]);
    }
    if (said.size() == before) throw Error(ErrorCode::bad_input, fmt::format("answer {} has no tag: leave it out", i));
  }
  ThreadPool pool(1);
  std::vector<RepeatedToken> repeated;
  SequenceAnswers built =
      build_sequence_answers(std::move(pieces), {positions, said}, std::move(names), reach, pool, repeated);
  if (!repeated.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("a worker tagged a token twice (position {}, as '{}' and '{}'): keep "
                            "one of the two",
                            positions[repeated[0].later], tag_name(said[repeated[0].earlier], built.type_names()),
                            tag_name(said[repeated[0].later], built.type_names())));
  }
  return built;
}

struct SequenceAnswersBuilder::State {
  Interner documents, workers, types;
  struct Added {
    std::uint32_t document, worker, first;
    std::vector<TagId> tags;  // by types in order of appearance
  };
  std::vector<Added> added;
  std::vector<std::uint32_t> lengths;  // by document

  void reach(std::uint32_t document, std::size_t length) {
    if (lengths.size() <= document) lengths.resize(document + 1, 0);
    lengths[document] = std::max(lengths[document], static_cast<std::uint32_t>(length));
  }
};

SequenceAnswersBuilder::SequenceAnswersBuilder() : state_(std::make_unique<State>()) {}
SequenceAnswersBuilder::~SequenceAnswersBuilder() = default;
SequenceAnswersBuilder::SequenceAnswersBuilder(SequenceAnswersBuilder&&) noexcept = default;
SequenceAnswersBuilder& SequenceAnswersBuilder::operator=(SequenceAnswersBuilder&&) noexcept = default;

SequenceAnswersBuilder& SequenceAnswersBuilder::add(std::string_view document, std::string_view worker,
                                                    std::span<const std::string> tags, std::uint32_t first) {
  State::Added added{0, 0, first, {}};
  for (const std::string& text : tags) {
    ParsedTag tag;
    if (text.empty()) {
      added.tags.push_back(kNoTag);
    } else if (!parse_tag(text, tag)) {
      throw Error(ErrorCode::bad_input, fmt::format("worker '{}' says '{}' in document '{}', which is no tag: {}",
                                                    worker, text, document, kBioScheme));
    } else if (tag.outside) {
      added.tags.push_back(kOutside);
    } else {
      const std::size_t type = state_->types.intern(tag.type);
      added.tags.push_back(tag.begins ? begin_tag(type) : inside_tag(type));
    }
  }
  added.document = state_->documents.intern(document);
  added.worker = state_->workers.intern(worker);
  state_->reach(added.document, first + tags.size());
  if (std::any_of(added.tags.begin(), added.tags.end(), [](TagId tag) { return tag != kNoTag; })) {
    state_->added.push_back(std::move(added));
  }
  return *this;
}

SequenceAnswersBuilder& SequenceAnswersBuilder::add_document(std::string_view document, std::uint32_t length) {
  state_->reach(state_->documents.intern(document), length);
  return *this;
}
SequenceAnswersBuilder& SequenceAnswersBuilder::add_worker(std::string_view worker) {
  state_->workers.intern(worker);
  return *this;
}
SequenceAnswersBuilder& SequenceAnswersBuilder::add_type(std::string_view type) {
  state_->types.intern(type);
  return *this;
}

SequenceAnswers SequenceAnswersBuilder::build() const {
  ThreadPool pool(1);
  std::vector<std::uint32_t> place;
  SequenceAnswerNames names{state_->documents.table(), state_->workers.table(), types_in_order(state_->types, place)};
  const auto documents = ranks_in_order(names.documents, pool), workers = ranks_in_order(names.workers, pool);
  names.documents = reordered(std::move(names.documents), documents, pool);
  names.workers = reordered(std::move(names.workers), workers, pool);
  const auto ranked = [](const std::vector<std::uint32_t>& ranks, std::uint32_t id) {
    return ranks.empty() ? id : ranks[id];
  };
  std::vector<std::uint32_t> lengths(names.documents.size(), 0);
  for (std::uint32_t d = 0; d < state_->lengths.size(); ++d) lengths[ranked(documents, d)] = state_->lengths[d];
  std::vector<std::vector<TagId>> tags;
  tags.reserve(state_->added.size());
  std::vector<SequenceAnswer> answers;
  for (const auto& added : state_->added) {
    auto& own = tags.emplace_back(added.tags);
    for (TagId& tag : own) {
      if (tag == kOutside || tag == kNoTag) continue;
      tag = is_begin(tag) ? begin_tag(place[type_of(tag)]) : inside_tag(place[type_of(tag)]);
    }
    answers.push_back(
        {TaskId(ranked(documents, added.document)), WorkerId(ranked(workers, added.worker)), added.first, own});
  }
  return make_sequence_answers(answers, std::move(names), lengths);
}

void validate(const SequenceData& data) {
  const std::size_t tokens = data.answers.token_count();
  if (!data.gold.empty() && data.gold.size() != tokens) {
    throw Error(ErrorCode::bad_input, fmt::format("gold has {} tags: there are {} tokens", data.gold.size(), tokens));
  }
  if (data.tokens.size() != 0 && data.tokens.size() != tokens) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} texts of tokens: there are {} tokens", data.tokens.size(), tokens));
  }
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] != kNoTag && index(data.gold[t]) >= data.answers.tag_count()) {
      throw Error(ErrorCode::bad_input, fmt::format("gold of token {} is tag {}: there are {}", t, index(data.gold[t]),
                                                    data.answers.tag_count()));
    }
  }
}

}  // namespace wisecrowd
