#include "wisecrowd/read_sequences.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "data/sequence_column.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/span_tables.hpp"
#include "ingest/tag_file.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

/// Of gold and tokens: what was found there counts with the rest.
TagFile open_beside(const Input& input, const TagColumns& columns, TableFormat format, const ReadOptions& options,
                    const Tuning& tuning, const RunContext& context, DataReport& report) {
  ReadOptions reading = options;
  reading.format = format;
  DataReport notes;
  TagFile file = open_tags(input, columns, reading, tuning, context, notes);
  file.flatten();
  report.rows_dropped += notes.rows_dropped;
  report.problem_count += notes.problem_count;
  report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());
  if (columns.has_tag) report.gold_rows = notes.rows;
  return file;
}

void add_problem(DataReport& report, DataProblem problem) {
  ++report.problem_count;
  if (report.problems.size() < kMostProblemsShown) report.problems.push_back(std::move(problem));
}

/// Problems that were found after the rows were read: strict, they are an error; lenient, they count with the others.
void settle_found(const std::string& file, bool lenient, DataReport& found, DataReport& notes) {
  if (found.problem_count == 0) return;
  found.rows = notes.rows;
  settle_problems(file, lenient, found);
  notes.rows_dropped += found.rows_dropped;
  notes.problem_count += found.problem_count;
  notes.problems.insert(notes.problems.end(), found.problems.begin(), found.problems.end());
  notes.warnings.insert(notes.warnings.end(), found.warnings.begin(), found.warnings.end());
}

/// Puts the files of one crowd together.
class SequenceReader {
 public:
  SequenceReader(const SequenceFiles& files, const ReadOptions& options, const Tuning& tuning,
                 const RunContext& context, DataReport& notes)
      : files_(files), options_(options), tuning_(tuning), context_(context), notes_(notes) {}

  SequenceData read(const SequenceInputs& inputs) {
    answers_.emplace(open_tags(inputs.answers,
                               {options_.task_column, files_.position_column, options_.worker_column,
                                options_.label_column, true, true, false, options_.layout == TableLayout::wide},
                               options_, tuning_, context_, notes_));
    ThreadPool& pool = context_.pool();
    NameTable workers = answers_->table.workers.release(pool);
    change_workers(options_, answers_->table, workers, notes_);
    answers_->flatten();
    tag_names_.add(answers_->table.classes);
    documents_ = answers_->table.tasks.size();
    reach_.assign(documents_, {});
    add_reach(*answers_, answers_->documents);
    if (inputs.gold) read_gold(*inputs.gold);
    if (inputs.tokens) {
      read_tokens(*inputs.tokens, {}, TableFormat::automatic);
    } else if (answers_->table.plan.beside.size() > 1) {
      read_own_tokens(inputs.answers);
    }
    find_first_position();

    SequenceData data;
    data.first_position = base_;
    SequenceAnswerNames names{answers_->table.tasks.release(pool), std::move(workers), tag_names_.order()};
    if (options_.safe_names) {
      for (NameTable* of : {&names.documents, &names.workers, &names.types}) *of = safe_names(*of);
    }
    refuse_gaps(names.documents);
    std::vector<SequencePiece> pieces = pieces_of_answers();
    const NewIds order = put_in_order(names.documents, names.workers, pieces, pool);
    place_documents(order.tasks);
    const auto ids = tag_names_.ids(answers_->table.classes);
    std::vector<TagId> tags;
    tags.reserve(answers_->size());
    for (const std::uint16_t code : answers_->codes) tags.push_back(ids[code]);
    for (std::uint32_t& position : answers_->positions) position -= base_;
    std::vector<RepeatedToken> repeated;
    data.answers = build_sequence_answers(std::move(pieces), {answers_->positions, tags}, std::move(names), lengths_,
                                          pool, repeated);
    note_repeated(data.answers, tags, repeated);
    if (gold_) data.gold = gold_tags();
    if (tokens_) data.tokens = token_texts(data.answers.token_count());
    return data;
  }

 private:
  struct Reach {
    std::uint32_t least = 0xFFFFFFFF, most = 0;
    std::uint64_t rows = 0;
  };
  void add_reach(const TagFile& file, const std::vector<std::uint32_t>& documents) {
    for (std::size_t r = 0; r < file.size(); ++r) {
      if (documents[r] == KeyTable::kAbsent) continue;
      Reach& reach = reach_[documents[r]];
      reach.least = std::min(reach.least, file.positions[r]);
      reach.most = std::max(reach.most, file.positions[r]);
      ++reach.rows;
    }
  }
  /// The documents of a file beside the answers, by row, as the answers number them; kAbsent where nobody answered.
  std::vector<std::uint32_t> documents_of(TagFile& file, std::uint64_t& unknown, std::string& example,
                                          std::size_t& count) {
    const NameTable names = file.table.tasks.release(context_.pool());
    std::vector<std::uint32_t> of(names.size());
    count = names.size();
    for (std::size_t d = 0; d < names.size(); ++d) {
      of[d] = answers_->table.tasks.find(names[d]);
      if (of[d] == KeyTable::kAbsent && unknown++ == 0) example = printable(names[d]);
    }
    std::vector<std::uint32_t> rows(file.size());
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = of[file.documents[r]];
    return rows;
  }

  void read_gold(const Input& input) {
    gold_.emplace(open_beside(
        input,
        {options_.gold_task_column, files_.gold_position_column, "", options_.gold_label_column, false, true, false},
        TableFormat::automatic, options_, tuning_, context_, notes_));
    tag_names_.add(gold_->table.classes);
    std::uint64_t unknown = 0;
    std::size_t count = 0;
    std::string example;
    gold_documents_ = documents_of(*gold_, unknown, example, count);
    add_reach(*gold_, gold_documents_);
    if (unknown == 0) return;
    const bool all = unknown == count;
    notes_.warnings.push_back(
        {"gold_without_answers",
         all ? fmt::format(
                   "{}: none of its {} gold documents, for example '{}', has answers, so gold is of no use here",
                   gold_->table.file, count, example)
             : fmt::format("{}: {} of {} gold documents, for example '{}', have no answers and are ignored",
                           gold_->table.file, unknown, count, example),
         all ? "are its columns swapped, or its documents spelled otherwise?" : "",
         all ? Severity::serious : Severity::note});
  }

  /// A wide table may hold the tokens, too.
  void read_own_tokens(const Input& answers) {
    if (answers.name == "-" && !answers.memory) {
      notes_.warnings.push_back({"tokens_not_read",
                                 "the texts of the tokens are not shown, because the table came from standard input",
                                 "name the file, or give the tokens in another one", Severity::note});
      return;
    }
    const ColumnPlan& plan = answers_->table.plan;
    read_tokens({answers.name, answers.memory},
                {plan.names[plan.task], plan.names[plan.beside[0]], plan.names[plan.beside[1]], "", true, false, true},
                options_.format);
  }

  void read_tokens(const Input& input, TagColumns columns, TableFormat format) {
    columns.has_tag = false;
    columns.worker_is_token = true;
    tokens_.emplace(open_beside(input, columns, format, options_, tuning_, context_, notes_));
    std::uint64_t unknown = 0;
    std::size_t count = 0;
    std::string example;
    token_documents_ = documents_of(*tokens_, unknown, example, count);
    if (unknown == count) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: none of its {} documents, for example '{}', has answers: are documents spelled alike "
                      "in both files?",
                      tokens_->table.file, count, example));
    }
    add_reach(*tokens_, token_documents_);
  }

  void find_first_position() {
    std::uint32_t least = 1;
    for (const Reach& reach : reach_) {
      if (reach.rows > 0) least = std::min(least, reach.least);
    }
    base_ = least;
    lengths_.assign(documents_, 0);
    for (std::size_t d = 0; d < documents_; ++d) {
      if (reach_[d].rows > 0) lengths_[d] = reach_[d].most + 1 - base_;
    }
  }

  /// Every token must be named by some row: else documents are numbered otherwise than we think.
  void refuse_gaps(const NameTable& names) {
    std::vector<std::uint64_t> offsets(documents_ + 1, 0);
    std::vector<bool> too_long(documents_, false);
    for (std::size_t d = 0; d < documents_; ++d) {
      too_long[d] = lengths_[d] > reach_[d].rows;
      offsets[d + 1] = offsets[d] + (too_long[d] ? 0 : lengths_[d]);
    }
    std::vector<bool> there(offsets.back(), false);
    const auto mark = [&](const TagFile& file, const std::vector<std::uint32_t>& documents) {
      for (std::size_t r = 0; r < file.size(); ++r) {
        const std::uint32_t d = documents[r];
        if (d != KeyTable::kAbsent && !too_long[d]) there[offsets[d] + file.positions[r] - base_] = true;
      }
    };
    mark(*answers_, answers_->documents);
    if (gold_) mark(*gold_, gold_documents_);
    if (tokens_) mark(*tokens_, token_documents_);
    std::vector<bool> broken = too_long;
    bool any = false;
    for (std::size_t d = 0; d < documents_; ++d) {
      for (std::uint64_t t = offsets[d]; t < offsets[d + 1] && !broken[d]; ++t) broken[d] = !there[t];
      any = any || broken[d];
    }
    if (any) refuse_documents(names, broken);
  }

  /// Throws with one problem for each document: the first row that follows a gap. Dropping rows would not help.
  void refuse_documents(const NameTable& names, const std::vector<bool>& broken) {
    DataReport found;
    std::vector<std::vector<std::uint32_t>> positions(documents_);
    const auto collect = [&](const TagFile& file, const std::vector<std::uint32_t>& documents) {
      for (std::size_t r = 0; r < file.size(); ++r) {
        if (documents[r] != KeyTable::kAbsent && broken[documents[r]]) {
          positions[documents[r]].push_back(file.positions[r]);
        }
      }
    };
    collect(*answers_, answers_->documents);
    if (gold_) collect(*gold_, gold_documents_);
    if (tokens_) collect(*tokens_, token_documents_);
    std::vector<std::uint32_t> after(documents_, 0), missing(documents_, 0);
    for (std::size_t d = 0; d < documents_; ++d) {
      auto& own = positions[d];
      std::sort(own.begin(), own.end());
      std::uint32_t expected = base_;
      for (const std::uint32_t position : own) {
        if (position > expected) {
          missing[d] = expected;
          after[d] = position;
          break;
        }
        expected = position + 1;
      }
    }
    std::vector<bool> noted(documents_, false);
    const auto note = [&](const TagFile& file, const std::vector<std::uint32_t>& documents) {
      for (std::size_t r = 0; r < file.size(); ++r) {
        const std::uint32_t d = documents[r];
        if (d == KeyTable::kAbsent || !broken[d] || noted[d] || file.positions[r] != after[d]) continue;
        noted[d] = true;
        add_problem(found,
                    {file.table.file, file.line(r), printable(file.position_name()), std::to_string(after[d]),
                     fmt::format("document '{}' has this token, but none at position {}: number tokens without gaps "
                                 "and give those outside of spans the tag O, or list all tokens in a file (`tokens`)",
                                 printable(names[d]), missing[d])});
      }
    };
    note(*answers_, answers_->documents);
    if (gold_) note(*gold_, gold_documents_);
    if (tokens_) note(*tokens_, token_documents_);
    std::string message =
        fmt::format("{}: {} with gaps", answers_->table.file,
                    found.problem_count == 1 ? "1 document" : fmt::format("{} documents", found.problem_count));
    for (const DataProblem& problem : found.problems) message += "\n  " + problem.text();
    if (found.problem_count > found.problems.size()) {
      message += fmt::format("\n  … and {} more", found.problem_count - found.problems.size());
    }
    throw Error(ErrorCode::bad_input, message);
  }

  std::vector<SequencePiece> pieces_of_answers() {
    std::vector<SequencePiece> pieces(1);
    pieces[0].tasks.assign(answers_->documents.begin(), answers_->documents.end());
    pieces[0].workers.assign(answers_->workers.begin(), answers_->workers.end());
    pieces[0].payload.resize(answers_->size());
    for (std::uint32_t r = 0; r < answers_->size(); ++r) pieces[0].payload[r] = r;
    return pieces;
  }

  /// Lengths, and the documents of gold and tokens, by the final ids.
  void place_documents(const std::vector<std::uint32_t>& ranks) {
    if (!ranks.empty()) {
      std::vector<std::uint32_t> lengths(documents_);
      for (std::size_t d = 0; d < documents_; ++d) lengths[ranks[d]] = lengths_[d];
      lengths_ = std::move(lengths);
      for (auto* documents : {&gold_documents_, &token_documents_}) {
        for (std::uint32_t& d : *documents) d = d == KeyTable::kAbsent ? d : ranks[d];
      }
    }
    token_offsets_.assign(documents_ + 1, 0);
    for (std::size_t d = 0; d < documents_; ++d) token_offsets_[d + 1] = token_offsets_[d] + lengths_[d];
  }

  void note_repeated(const SequenceAnswers& answers, const std::vector<TagId>& tags,
                     const std::vector<RepeatedToken>& repeated) {
    DataReport found;
    for (const RepeatedToken& token : repeated) {
      add_problem(found, {answers_->table.file, answers_->line(token.later), printable(answers_->position_name()),
                          std::to_string(answers_->positions[token.later] + base_),
                          fmt::format("the same worker tagged this token in line {} as '{}', here as '{}': keep one of "
                                      "the two",
                                      answers_->line(token.earlier),
                                      printable(tag_name(tags[token.earlier], answers.type_names())),
                                      printable(tag_name(tags[token.later], answers.type_names())))});
    }
    found.rows_dropped = notes_.duplicates_dropped = repeated.size();
    settle_found(answers_->table.file, options_.lenient, found, notes_);
  }

  std::vector<TagId> gold_tags() {
    const auto ids = tag_names_.ids(gold_->table.classes);
    std::vector<std::uint32_t> row_of(token_offsets_.back(), kNoRow);
    std::vector<TagId> gold(token_offsets_.back(), kNoTag);
    DataReport found;
    for (std::uint32_t r = 0; r < gold_->size(); ++r) {
      if (gold_documents_[r] == KeyTable::kAbsent) continue;
      const std::uint64_t token = token_offsets_[gold_documents_[r]] + gold_->positions[r] - base_;
      const TagId tag = ids[gold_->codes[r]];
      if (row_of[token] == kNoRow) {
        row_of[token] = r;
        gold[token] = tag;
      } else if (gold[token] != tag) {
        ++found.rows_dropped;
        add_problem(found, {gold_->table.file, gold_->line(r), printable(gold_->position_name()),
                            std::to_string(gold_->positions[r]),
                            fmt::format("contradicts line {}, which has the same token: keep one of them",
                                        gold_->line(row_of[token]))});
      }
    }
    settle_found(gold_->table.file, options_.lenient, found, notes_);
    return gold;
  }

  NameTable token_texts(std::size_t tokens) {
    const NameTable texts = tokens_->table.workers.release(context_.pool());
    std::vector<std::uint32_t> row_of(tokens, kNoRow);
    for (std::uint32_t r = 0; r < tokens_->size(); ++r) {
      if (token_documents_[r] == KeyTable::kAbsent) continue;
      row_of[token_offsets_[token_documents_[r]] + tokens_->positions[r] - base_] = r;
    }
    std::string characters;
    std::vector<std::uint64_t> offsets{0};
    for (const std::uint32_t r : row_of) {
      if (r != kNoRow) characters += texts[tokens_->workers[r]];
      offsets.push_back(characters.size());
    }
    return {std::move(characters), std::move(offsets)};
  }

  const SequenceFiles& files_;
  const ReadOptions& options_;
  const Tuning& tuning_;
  const RunContext& context_;
  DataReport& notes_;
  std::optional<TagFile> answers_, gold_, tokens_;
  std::vector<std::uint32_t> gold_documents_, token_documents_;  // by row
  TagNames tag_names_;
  std::size_t documents_ = 0;
  std::vector<Reach> reach_;
  std::uint32_t base_ = 0;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> token_offsets_;
};

void refuse_two_streams(const SequenceInputs& inputs) {
  int streams = inputs.answers.name == "-" && !inputs.answers.memory ? 1 : 0;
  for (const auto* input : {&inputs.gold, &inputs.tokens}) {
    streams += *input && (*input)->name == "-" && !(*input)->memory ? 1 : 0;
  }
  if (streams > 1) {
    throw Error(ErrorCode::bad_parameter, "only one file can come from standard input: name the others");
  }
}

}  // namespace

SequenceData read_sequences(const SequenceInputs& inputs, const SequenceFiles& files, const ReadOptions& options,
                            const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  refuse_two_streams(inputs);
  if (!options.classes.empty()) {
    throw Error(ErrorCode::bad_parameter,
                "answers that are sequences have tags, not classes: leave the class list out");
  }
  if (options.duplicates == DuplicatePolicy::repeat) {
    throw Error(ErrorCode::bad_parameter,
                "a worker tags a token once: answers that are sequences cannot be read with repeats");
  }
  return SequenceReader(files, options, tuning, context, notes).read(inputs);
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

SequenceData read_sequences(const SequenceFiles& files, const ReadOptions& options, const RunContext& context,
                            DataReport* report) {
  const auto prepared = ingest::prepare_inputs(files.answers, files.gold, Sequences::name, false, options, context);
  ingest::SequenceInputs inputs{prepared.answers, prepared.gold, prepared.tokens};
  if (files.tokens) inputs.tokens = ingest::Input{*files.tokens, std::nullopt};
  ingest::refuse_two_streams(inputs);
  const ingest::Tuning tuning;
  const auto tags = ingest::tags_of_spans(std::move(inputs), prepared.options, tuning, context);
  SequenceData data = ingest::read_sequences(tags.inputs, files, tags.options, tuning, context, report);
  prepared.tell(report);
  if (report != nullptr) {
    report->rows_dropped += tags.found.rows_dropped;
    report->problem_count += tags.found.problem_count;
    report->warnings.insert(report->warnings.begin(), tags.found.warnings.begin(), tags.found.warnings.end());
  }
  return data;
}

}  // namespace wisecrowd
