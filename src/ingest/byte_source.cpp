#include "ingest/byte_source.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/parallel.hpp"
#include "ingest/decompress.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kParallelPiece = std::size_t{1} << 20;

[[noreturn]] void fail_io(const std::string& name, std::string_view what, int code, std::string_view remedy) {
  throw Error(ErrorCode::io, fmt::format("{}: {}: {}{}", name, what, std::generic_category().message(code), remedy));
}

class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  ~Descriptor() {
    if (value_ > STDERR_FILENO) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return value_; }

 private:
  int value_;
};

/// A regular file, read by position so that several threads copy at once. Copying out of the page cache costs a small
/// part of parsing, keeps resident memory to the window, and, unlike a mapping, turns a file that shrinks under our
/// hands into a short read instead of a signal.
class RegularFile final : public ByteSource {
 public:
  RegularFile(std::string name, int descriptor, std::uint64_t size, std::uint64_t position, ThreadPool& pool)
      : name_(std::move(name)), file_(descriptor), size_(size), position_(position), pool_(pool) {
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  /// Requests of up to one piece stay in the calling thread, so unpackers may call from threads of their own.
  std::size_t read(char* to, std::size_t wanted) override {
    const Blocks pieces{wanted, kParallelPiece};
    std::atomic<std::uint64_t> shortest{wanted};
    std::atomic<int> failure{0};
    pool_.for_each_block(pieces.count(), [&](std::size_t p, unsigned) {
      std::size_t at = pieces.begin(p);
      while (at < pieces.end(p)) {
        const ssize_t got = pread(file_.get(), to + at, pieces.end(p) - at, static_cast<off_t>(position_ + at));
        if (got > 0) {
          at += static_cast<std::size_t>(got);
          continue;
        }
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) failure.store(errno);
        std::uint64_t known = shortest.load();
        while (at < known && !shortest.compare_exchange_weak(known, at)) {
        }
        return;
      }
    });
    if (failure.load() != 0) fail_io(name_, "cannot be read", failure.load(), "");
    position_ += shortest.load();
    return shortest.load();
  }
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  std::string name_;
  Descriptor file_;
  std::uint64_t size_;
  std::uint64_t position_;
  ThreadPool& pool_;
};

/// A pipe, a terminal or a device.
class Stream final : public ByteSource {
 public:
  Stream(std::string name, int descriptor, const RunContext& context)
      : name_(std::move(name)), file_(descriptor), context_(context) {}

  std::size_t read(char* to, std::size_t wanted) override {
    std::size_t at = 0;
    while (at < wanted) {
      const ssize_t got = ::read(file_.get(), to + at, wanted - at);
      if (got == 0) break;
      if (got > 0) {
        at += static_cast<std::size_t>(got);
      } else if (errno != EINTR) {
        fail_io(name_, "cannot be read", errno, "");
      } else if (context_.cancelled()) {
        throw Cancelled();  // nobody may ever write to the other end
      }
    }
    position_ += at;
    return at;
  }
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] std::uint64_t size() const override { return 0; }

 private:
  std::string name_;
  Descriptor file_;
  const RunContext& context_;
  std::uint64_t position_ = 0;
};

class Memory final : public ByteSource {
 public:
  explicit Memory(std::string_view bytes) noexcept : bytes_(bytes) {}
  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t given = std::min(wanted, bytes_.size() - position_);
    if (given > 0) std::memcpy(to, bytes_.data() + position_, given);
    position_ += given;
    return given;
  }
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

/// Gives bytes that were read ahead, for a look at them, before the rest.
class Pushback final : public ByteSource {
 public:
  Pushback(std::string head, std::unique_ptr<ByteSource> rest) : head_(std::move(head)), rest_(std::move(rest)) {}
  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t from_head = std::min(wanted, head_.size() - used_);
    std::memcpy(to, head_.data() + used_, from_head);
    used_ += from_head;
    return wanted == from_head ? from_head : from_head + rest_->read(to + from_head, wanted - from_head);
  }
  [[nodiscard]] std::uint64_t position() const override { return rest_->position(); }
  [[nodiscard]] std::uint64_t size() const override { return rest_->size(); }

 private:
  std::string head_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

/// What somebody else holds, too.
class Shared final : public ByteSource {
 public:
  explicit Shared(std::shared_ptr<ByteSource> source) : source_(std::move(source)) {}
  std::size_t read(char* to, std::size_t wanted) override { return source_->read(to, wanted); }
  [[nodiscard]] std::uint64_t position() const override { return source_->position(); }
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }

 private:
  std::shared_ptr<ByteSource> source_;
};

std::unique_ptr<ByteSource> from_descriptor(const std::string& name, int descriptor, const RunContext& context) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_io(name, "cannot be examined", errno, "");
  if (S_ISDIR(status.st_mode)) {
    if (descriptor > STDERR_FILENO) close(descriptor);
    throw Error(ErrorCode::io, fmt::format("{}: is a directory: name a file in it", name));
  }
  if (S_ISREG(status.st_mode)) {
    const off_t at = lseek(descriptor, 0, SEEK_CUR);
    return std::make_unique<RegularFile>(name, descriptor, static_cast<std::uint64_t>(status.st_size),
                                         at > 0 ? static_cast<std::uint64_t>(at) : 0, context.pool());
  }
  return std::make_unique<Stream>(name, descriptor, context);
}

/// Known beginnings of files that are no tables, with what to do about them.
void refuse_foreign(const std::string& name, std::string_view head) {
  struct Foreign {
    std::string_view magic;
    std::string_view what;
  };
  using namespace std::string_view_literals;
  static constexpr Foreign kForeign[] = {
      {"PK\x03\x04"sv, "a zip archive or a spreadsheet: unpack it, or export the sheet as CSV"},
      {"\xFD"
       "7zXZ"sv,
       "packed with xz: unpack it with 'xz -d', or pack it with gzip or zstd"},
      {"BZh"sv, "packed with bzip2: unpack it with 'bzip2 -d', or pack it with gzip or zstd"},
      {"PAR1"sv, "a Parquet file: export it as CSV"},
      {"\xD0\xCF\x11\xE0"sv, "an old spreadsheet: export the sheet as CSV"},
      {"\xFF\xFE"sv, "text in UTF-16: save it as UTF-8"},
      {"\xFE\xFF"sv, "text in UTF-16: save it as UTF-8"},
  };
  for (const auto& foreign : kForeign) {
    if (head.starts_with(foreign.magic)) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: this is {}", name, foreign.what));
    }
  }
}

}  // namespace

std::string display_name(const Input& input) { return input.name == "-" ? "standard input" : input.name; }

/// Where a file that is not there may be. Simulations used to write the answers into labels.csv.
std::string elsewhere(const std::string& path) {
  const std::string before = "labels.csv", now = "answers.csv";
  const bool by_its_old_name =
      path.ends_with(before) && (path.size() == before.size() || path[path.size() - before.size() - 1] == '/');
  if (by_its_old_name) {
    const std::string beside = path.substr(0, path.size() - before.size()) + now;
    if (access(beside.c_str(), R_OK) == 0) return "answers of simulations are in " + beside;
  }
  return "check the path";
}

std::unique_ptr<ByteSource> open_raw(const Input& input, const RunContext& context) {
  if (input.memory) return std::make_unique<Memory>(*input.memory);
  const std::string name = display_name(input);
  if (input.name == "-") return from_descriptor(name, STDIN_FILENO, context);
  const int descriptor = open(input.name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int code = errno;
    fail_io(name, "cannot be opened", code,
            code == ENOENT   ? ": " + elsewhere(input.name)
            : code == EACCES ? ": check the permissions"
                             : std::string());
  }
  return from_descriptor(name, descriptor, context);
}

std::unique_ptr<ByteSource> open_input(const Input& input, const RunContext& context) {
  if (input.opened) return std::make_unique<Shared>(input.opened);
  auto raw = open_raw(input, context);
  std::string head(8, '\0');
  head.resize(raw->read(head.data(), head.size()));
  const std::string name = display_name(input);
  refuse_foreign(name, head);
  const bool gzip = head.starts_with("\x1F\x8B");
  const bool zstd = head.starts_with("\x28\xB5\x2F\xFD") ||
                    (head.size() >= 4 && (head[0] & 0xF0) == 0x50 && head.substr(1, 3) == "\x2A\x4D\x18");
  // A thread that waits for a pipe could not be stopped, so only files are unpacked ahead.
  const bool never_waits = raw->size() > 0;
  std::unique_ptr<ByteSource> whole = std::make_unique<Pushback>(std::move(head), std::move(raw));
  if (!gzip && !zstd) return whole;
  whole = gzip ? gunzip(std::move(whole), name) : unzstd(std::move(whole), name);
  return never_waits ? read_ahead(std::move(whole)) : std::move(whole);
}

std::string look_at(Input& input, std::size_t wanted, const RunContext& context) {
  auto source = open_input(input, context);
  std::string head(wanted, '\0');
  head.resize(source->read(head.data(), head.size()));
  input.opened = std::make_shared<Pushback>(head, std::move(source));
  return head;
}

void refuse_one_input_twice(const Input& answers, const std::optional<Input>& gold) {
  if (!gold || gold->name != "-" || answers.name != "-" || gold->memory) return;
  throw Error(ErrorCode::bad_parameter, "answers and gold cannot both come from standard input: name a file for one");
}

}  // namespace wisecrowd::ingest
