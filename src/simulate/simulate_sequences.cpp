#include "wisecrowd/simulate_sequences.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kMostTags = 4e9;

NameTable names_of(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}_{:06}", prefix, i));
  return NameTable(names);
}

NameTable type_names_of(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t x = 0; x < count; ++x) names.push_back(fmt::format("T{:02}", x + 1));
  return NameTable(names);
}

/// 1, 2, 3 … with this mean.
std::uint32_t draw_length(Rng& rng, double mean) {
  std::uint32_t length = 1;
  while (length < 1000 && rng.uniform() * mean > 1) ++length;
  return length;
}

void draw_truth(Rng& rng, std::size_t length, std::size_t types, double density, double span_length,
                std::vector<TagId>& tags) {
  tags.assign(length, kOutside);
  for (std::size_t t = 0; t < length; ++t) {
    if (rng.uniform() >= density) continue;
    const std::size_t type = rng.below(types);
    const std::size_t end = std::min<std::size_t>(length, t + draw_length(rng, span_length));
    tags[t] = begin_tag(type);
    for (++t; t < end; ++t) tags[t] = inside_tag(type);
    --t;
  }
}

/// A share near `mean` that differs from worker to worker.
double draw_share(Rng& rng, double mean, double spread) {
  const double logit = math::log(std::max(mean, 1e-9) / std::max(1 - mean, 1e-9)) + spread * rng.normal();
  return 1 / (1 + math::exp(-logit));
}

void mark(std::vector<TagId>& tags, std::size_t first, std::size_t end, std::size_t type) {
  tags[first] = begin_tag(type);
  for (std::size_t t = first + 1; t < end; ++t) tags[t] = inside_tag(type);
}

/// What one worker makes of a document.
class Annotator {
 public:
  Annotator(const SequenceSimulation& crowd, std::size_t worker, const Parameters& parameters)
      : crowd_(crowd), worker_(worker), parameters_(parameters) {}

  void tag(Rng& rng, std::span<const TagId> truth, std::vector<TagId>& tags) const {
    const std::size_t types = crowd_.size.types;
    tags.assign(truth.size(), kOutside);
    if (crowd_.worker_kind[worker_] == "guesser") {
      draw_truth(rng, truth.size(), types, parameters_.real("density"), parameters_.real("span_length"), tags);
      return;
    }
    std::vector<Span> spans;
    append_spans(TaskId{0}, truth, spans);
    std::size_t free_from = 0;
    for (const Span& span : spans) {
      for (std::size_t t = free_from; t < span.first; ++t) invent(rng, t, tags);
      free_from = span.end;
      if (rng.uniform() >= crowd_.recall[worker_]) continue;
      std::size_t first = span.first, end = span.end, type = span.type;
      if (rng.uniform() < crowd_.boundary[worker_]) move_end(rng, truth.size(), first, end);
      if (types > 1 && rng.uniform() < crowd_.wrong_type[worker_]) type = (type + 1 + rng.below(types - 1)) % types;
      mark(tags, first, end, type);
      free_from = std::max(free_from, end);
    }
    for (std::size_t t = free_from; t < truth.size(); ++t) invent(rng, t, tags);
  }

 private:
  void invent(Rng& rng, std::size_t t, std::vector<TagId>& tags) const {
    if (rng.uniform() < parameters_.real("false_spans")) tags[t] = begin_tag(rng.below(crowd_.size.types));
  }
  static void move_end(Rng& rng, std::size_t length, std::size_t& first, std::size_t& end) {
    if (end - first > 1 && rng.uniform() < 0.7) {  // people cut spans more often than they stretch them
      rng.uniform() < 0.5 ? ++first : --end;
    } else if (rng.uniform() < 0.5 && end < length) {
      ++end;
    } else if (first > 0) {
      --first;
    }
  }

  const SequenceSimulation& crowd_;
  std::size_t worker_;
  const Parameters& parameters_;
};

void draw_annotators(SequenceSimulation& out, const Parameters& parameters, const RunContext& context) {
  Rng rng = context.rng("simulate workers");
  const double spread = parameters.real("spread");
  for (std::size_t w = 0; w < out.size.workers; ++w) {
    out.worker_kind.emplace_back(rng.uniform() < parameters.real("guessers") ? "guesser" : "honest");
    out.recall.push_back(draw_share(rng, parameters.real("recall"), spread));
    out.boundary.push_back(draw_share(rng, parameters.real("boundary_errors"), spread));
    out.wrong_type.push_back(draw_share(rng, parameters.real("type_errors"), spread));
  }
}

void check_size(const SequenceSimulationSize& size, double mean_length) {
  if (size.types == 0 || size.types > kMaxSpanTypes) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} types of spans: at least one is needed, at most {}", size.types, kMaxSpanTypes));
  }
  if (size.answers_per_document > size.workers) {
    throw Error(ErrorCode::bad_parameter, fmt::format("{} answers per document need as many workers, not {}",
                                                      size.answers_per_document, size.workers));
  }
  if (static_cast<double>(size.documents) * static_cast<double>(size.answers_per_document) * mean_length > kMostTags) {
    throw Error(ErrorCode::unsupported, "more tags than one data set can hold: take fewer documents or answers");
  }
}

}  // namespace

std::string sequence_simulation_summary() {
  return "Answers are tags of documents: workers overlook spans, move their ends and confuse their types; some guess.";
}

const std::vector<ParameterSpec>& sequence_simulation_parameters() {
  static const std::vector<ParameterSpec> specs = {
      ParameterSpec::real("length", 100, 1, 1e6, "tokens of a document, on average"),
      ParameterSpec::real("density", 0.1, 0, 1, "probability that a span begins at a token outside of spans"),
      ParameterSpec::real("span_length", 2, 1, 100, "tokens of a span, on average"),
      ParameterSpec::real("recall", 0.75, 0, 1, "share of the spans that the typical worker notices"),
      ParameterSpec::real("boundary_errors", 0.15, 0, 1, "share of these whose first or last token it moves"),
      ParameterSpec::real("type_errors", 0.1, 0, 1, "share of these that get another type"),
      ParameterSpec::real("false_spans", 0.01, 0, 1, "probability of a span where none is, per token"),
      ParameterSpec::real("spread", 1, 0, 10, "how much workers differ in these: deviation of the log odds"),
      ParameterSpec::real("guessers", 0, 0, 1, "share of the workers whose spans have nothing to do with the text"),
      ParameterSpec::real("partial", 0, 0, 1, "share of the answers that cover half of their document"),
  };
  return specs;
}

SequenceSimulation simulate_sequences(const SequenceSimulationSize& size, const Parameters& parameters,
                                      const RunContext& context) {
  check_size(size, parameters.real("length"));
  SequenceSimulation out;
  out.size = size;
  out.seed = context.seed();
  for (const auto& [name, value] : parameters.all()) out.parameters.emplace_back(name, value);
  draw_annotators(out, parameters, context);
  std::vector<std::vector<TagId>> said;
  std::vector<SequenceAnswer> answers;
  std::vector<std::uint32_t> lengths, order(size.workers);
  std::vector<TagId> truth;
  const Rng stream = context.rng("simulate answers");
  for (std::size_t d = 0; d < size.documents; ++d) {
    if (context.cancelled()) {
      out.status = Status::cancelled;
      out.data = {};
      return out;
    }
    Rng rng = stream.fork("document", d);
    const auto length =
        static_cast<std::uint32_t>(std::max(1.0, std::round(parameters.real("length") * (0.5 + rng.uniform()))));
    draw_truth(rng, length, size.types, parameters.real("density"), parameters.real("span_length"), truth);
    lengths.push_back(length);
    out.data.gold.insert(out.data.gold.end(), truth.begin(), truth.end());
    for (std::uint32_t w = 0; w < order.size(); ++w) order[w] = w;
    for (std::size_t i = 0; i < size.answers_per_document; ++i) {
      std::swap(order[i], order[i + rng.below(size.workers - i)]);
      Annotator(out, order[i], parameters).tag(rng, truth, said.emplace_back());
      std::uint32_t first = 0;
      if (rng.uniform() < parameters.real("partial") && length > 1) {
        auto& tags = said.back();
        first = rng.uniform() < 0.5 ? length / 2 : 0;
        tags = std::vector<TagId>(tags.begin() + first, first == 0 ? tags.begin() + length / 2 : tags.end());
      }
      answers.push_back({TaskId(d), WorkerId(order[i]), first, {}});
    }
  }
  for (std::size_t a = 0; a < answers.size(); ++a) answers[a].tags = said[a];
  out.data.answers = make_sequence_answers(
      answers, {names_of("doc", size.documents), names_of("worker", size.workers), type_names_of(size.types)}, lengths);
  return out;
}

}  // namespace wisecrowd
