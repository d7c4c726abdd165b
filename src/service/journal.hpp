#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/rows.hpp"
#include "state/database.hpp"

namespace wisecrowd::service {

/// An annotation of another program, which names it by a number when it is changed or deleted.
struct Annotation {
  std::int64_t id = 0;
  std::string task, worker;
  std::string label;  ///< empty: it is no answer, because it was skipped or not understood
};

/// What one request adds. It goes in whole or not at all.
struct Batch {
  std::vector<Entry> entries;
  std::string key;                      ///< Idempotency-Key, or empty
  std::string digest;                   ///< of what came with it: a key that comes with something else is refused
  std::vector<Annotation> annotations;  ///< to remember
  std::vector<std::int64_t> forgotten;  ///< annotations that are gone: the answers that they stand for go, too
  std::vector<std::pair<std::string, std::string>> settings;  ///< to store
};

/// What became of a batch.
struct Receipt {
  enum class Kind { accepted, repeated, key_reused, failed } kind = Kind::accepted;
  std::int64_t position = 0;   ///< of its last entry, or of the last one that was there
  std::uint64_t accepted = 0;  ///< entries
  std::string error;           ///< failed: why
};

/// A task whose label a fit to all answers changed.
struct Revision {
  std::int64_t number = 0;  ///< they are counted as they come
  std::string task;
};

/// Not empty while a fit to all answers is under way, whose revisions are not written yet.
inline constexpr const char* kRefittingSetting = "refitting";

/// Everything that a project was told, in the order in which it came: one SQLite file, to which entries are only ever
/// added. What is in it is true; a crowd's state follows it and can always be made anew from it.
///
/// One object belongs to one thread; several may have the same file open.
class Journal {
 public:
  /// Opens, and makes it if it is not there.
  static Journal open(const std::string& path);

  /// Adds batches in one transaction, which is on the device when it returns: what many requests wait for is paid
  /// once. Receipts are in the order of the batches. Throws when the whole failed; then nothing was added.
  std::vector<Receipt> append(const std::vector<const Batch*>& batches);

  [[nodiscard]] std::int64_t last_position() const;
  /// At most `limit` entries after a position, in order.
  [[nodiscard]] std::vector<Entry> read(std::int64_t after, std::size_t limit) const;
  /// Every entry, in order.
  void read_all(const std::function<void(const Entry&)>& use) const;

  /// At most `limit` answers after a position that were neither taken back nor replaced, in order. Looks at all.
  [[nodiscard]] std::vector<Entry> standing(std::int64_t after, std::size_t limit) const;

  void store(std::string_view name, std::string_view value);
  /// Tasks whose labels a fit changed that knew the entries up to a position; it is no longer under way.
  void note_revised(std::int64_t position, const std::vector<std::string>& tasks);
  /// Revisions by fits of position `since` or later, those after number `after`.
  [[nodiscard]] std::vector<Revision> revised(std::int64_t since, std::int64_t after, std::size_t limit) const;

  [[nodiscard]] std::optional<std::string> setting(std::string_view name) const;
  /// Those whose names begin so, without that.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings(std::string_view prefix) const;
  [[nodiscard]] std::optional<Annotation> annotation(std::int64_t id) const;
  [[nodiscard]] std::vector<Annotation> annotations() const;
  [[nodiscard]] std::string link(std::string_view task) const;

  /// Moves the log into the file, as far as nobody is in the way. For a thread that nobody waits for.
  void tidy() const;

 private:
  explicit Journal(std::unique_ptr<Database> database);
  Receipt append_one(const Batch& batch);
  void insert(const Entry& entry);
  std::uint64_t forget(std::int64_t annotation);

  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> insert_, find_key_, put_key_, put_setting_, put_annotation_, drop_annotation_,
      find_annotation_, find_other_, put_link_;
};

}  // namespace wisecrowd::service
