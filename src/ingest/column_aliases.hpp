#pragma once

#include <string_view>
#include <utility>

namespace wisecrowd::ingest {

// In order of preference, in lower case; blanks, hyphens and dots of a header count as underscores.
inline constexpr std::string_view kTaskAliases[] = {
    "task",    "task_id",   "taskid",     "item",        "item_id",
    "itemid",  "example",   "example_id", "question",    "question_id",
    "object",  "object_id", "instance",   "instance_id", "unit",
    "unit_id", "_unit_id",  "document",   "document_id", "doc_id",
    "sample",  "sample_id", "hitid",      "hit_id",      "assignment:task_id"};
inline constexpr std::string_view kWorkerAliases[] = {
    "worker",       "worker_id",      "workerid",       "annotator",
    "annotator_id", "rater",          "rater_id",       "performer",
    "performer_id", "user",           "user_id",        "userid",
    "username",     "labeler",        "labeler_id",     "labeller",
    "labeller_id",  "coder",          "coder_id",       "judge",
    "judge_id",     "contributor",    "contributor_id", "_worker_id",
    "participant",  "participant_id", "respondent",     "assignment:worker_id"};
inline constexpr std::string_view kLabelAliases[] = {"label",      "answer",   "rating",    "value",
                                                     "response",   "class",    "category",  "vote",
                                                     "annotation", "judgment", "judgement", "choice"};
inline constexpr std::string_view kTruthAliases[] = {"truth",        "true_label", "gold",       "gold_label",    "gt",
                                                     "ground_truth", "target",     "true_class", "correct_answer"};
inline constexpr std::string_view kOutcomeAliases[] = {
    "label", "winner",   "outcome",   "choice",   "answer", "preference", "result", "preferred",
    "vote",  "judgment", "judgement", "response", "truth",  "true_label", "gold",   "gold_label"};
/// Names of the two items of a pair, as they come together.
inline constexpr std::pair<std::string_view, std::string_view> kPairAliases[] = {{"left", "right"},
                                                                                 {"model_a", "model_b"},
                                                                                 {"item_a", "item_b"},
                                                                                 {"item1", "item2"},
                                                                                 {"item_1", "item_2"},
                                                                                 {"model_1", "model_2"},
                                                                                 {"model1", "model2"},
                                                                                 {"left_item", "right_item"},
                                                                                 {"option_a", "option_b"},
                                                                                 {"response_a", "response_b"},
                                                                                 {"first", "second"},
                                                                                 {"a", "b"},
                                                                                 {"candidate_a", "candidate_b"}};
inline constexpr std::pair<std::string_view, std::string_view> kChosenAliases[] = {{"chosen", "rejected"},
                                                                                   {"winner", "loser"}};
inline constexpr std::string_view kPositionAliases[] = {"position", "pos",      "token_position", "token_index",
                                                        "token_id", "token_no", "index",          "token_number",
                                                        "idx",      "offset"};
/// Names of the two ends of a span, as they come together. `last` belongs to the span, an end does not.
inline constexpr std::pair<std::string_view, std::string_view> kSpanAliases[] = {{"start", "end"},
                                                                                 {"begin", "end"},
                                                                                 {"first", "last"},
                                                                                 {"start_char", "end_char"},
                                                                                 {"char_start", "char_end"},
                                                                                 {"start_offset", "end_offset"},
                                                                                 {"begin_offset", "end_offset"},
                                                                                 {"token_start", "token_end"},
                                                                                 {"start_token", "end_token"}};
inline constexpr std::string_view kTokenAliases[] = {"token", "word", "text", "form", "token_text"};
inline constexpr std::string_view kPredictionAliases[] = {"agg_label", "consensus_label", "prediction",
                                                          "predicted_label", "cluster"};

/// Names of the columns of a box, and of a point, as they come together.
inline constexpr std::string_view kBoxAliases[][4] = {
    {"x1", "y1", "x2", "y2"},          {"x", "y", "width", "height"},        {"x", "y", "w", "h"},
    {"xmin", "ymin", "xmax", "ymax"},  {"x_min", "y_min", "x_max", "y_max"}, {"left", "top", "right", "bottom"},
    {"left", "top", "width", "height"}};
inline constexpr std::string_view kPointAliases[] = {"x", "y"};

/// What columns of sets are called beside the names of labels and truth.
inline constexpr std::string_view kSetAliases[] = {"labels", "answers", "classes",    "tags",       "choices",
                                                   "set",    "accept",  "categories", "annotations"};

}  // namespace wisecrowd::ingest
