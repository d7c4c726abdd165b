#include "ingest/decompress.hpp"

#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kPackedBlock = std::size_t{1} << 18;
constexpr std::size_t kAheadBlock = std::size_t{1} << 20;
constexpr std::size_t kBlocksAhead = 8;

[[noreturn]] void fail_packed(const std::string& name, std::string_view what, std::uint64_t unpacked) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: {} after {} unpacked bytes: fetch or pack the file again", name, what, unpacked));
}

/// What both unpackers share: a buffer of packed bytes.
class Unpacker : public ByteSource {
 public:
  Unpacker(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), buffer_(kPackedBlock) {}
  [[nodiscard]] std::uint64_t position() const override { return packed_->position(); }
  [[nodiscard]] std::uint64_t size() const override { return packed_->size(); }

 protected:
  /// True when at least one packed byte is at hand.
  bool refill() {
    if (used_ < filled_) return true;
    used_ = 0;
    filled_ = packed_->read(buffer_.data(), buffer_.size());
    return filled_ > 0;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t used_ = 0, filled_ = 0;
  std::uint64_t unpacked_ = 0;
};

class Gunzip final : public Unpacker {
 public:
  Gunzip(std::unique_ptr<ByteSource> packed, std::string name) : Unpacker(std::move(packed), std::move(name)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() override { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  std::size_t read(char* to, std::size_t wanted) override {
    std::size_t made = 0;
    while (made < wanted && !finished_) {
      if (!refill()) fail_packed(name_, "the gzip data end too early", unpacked_);
      const auto room = std::min<std::size_t>(wanted - made, std::size_t{1} << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data() + used_);
      stream_.avail_in = static_cast<uInt>(filled_ - used_);
      stream_.next_out = reinterpret_cast<Bytef*>(to + made);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      used_ = filled_ - stream_.avail_in;
      made += room - stream_.avail_out;
      unpacked_ += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail_packed(name_, "the gzip data are damaged", unpacked_);
      }
    }
    return made;
  }

 private:
  /// Tools pad with zeros; anything else after a member must be another one.
  void next_member() {
    while (refill() && buffer_[used_] == 0) ++used_;
    if (!refill()) {
      finished_ = true;
      return;
    }
    if (buffer_[used_] != '\x1F') fail_packed(name_, "something that is not gzip follows the gzip data", unpacked_);
    inflateReset(&stream_);
  }

  z_stream stream_{};
  bool finished_ = false;
};

class Unzstd final : public Unpacker {
 public:
  Unzstd(std::unique_ptr<ByteSource> packed, std::string name)
      : Unpacker(std::move(packed), std::move(name)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Unzstd() override { ZSTD_freeDStream(stream_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  std::size_t read(char* to, std::size_t wanted) override {
    std::size_t made = 0;
    while (made < wanted) {
      // Between frames nothing is pending, and the end of the file is the end of the data.
      if (!refill() && !pending_) {
        if (inside_frame_) fail_packed(name_, "the zstd data end too early", unpacked_);
        break;
      }
      ZSTD_inBuffer in{buffer_.data(), filled_, used_};
      ZSTD_outBuffer out{to, wanted, made};
      const std::size_t status = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(status) != 0) {
        fail_packed(name_, fmt::format("the zstd data are damaged ({})", ZSTD_getErrorName(status)), unpacked_);
      }
      inside_frame_ = status != 0;
      pending_ = inside_frame_ && out.pos == out.size;
      used_ = in.pos;
      unpacked_ += out.pos - made;
      made = out.pos;
    }
    return made;
  }

 private:
  ZSTD_DStream* stream_;
  bool inside_frame_ = false;
  bool pending_ = false;  // the decoder may hold more output than there was room for
};

class ReadAhead final : public ByteSource {
 public:
  explicit ReadAhead(std::unique_ptr<ByteSource> source) : source_(std::move(source)), size_(source_->size()) {
    try {
      thread_ = std::thread([this] { produce(); });
    } catch (const std::system_error&) {
      // No thread to be had: every block is read when it is wanted.
    }
  }
  ~ReadAhead() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  std::size_t read(char* to, std::size_t wanted) override {
    if (!thread_.joinable()) {
      const std::size_t got = source_->read(to, wanted);
      position_.store(source_->position(), std::memory_order_relaxed);
      return got;
    }
    std::size_t made = 0;
    while (made < wanted) {
      if (used_ == current_.size() && !next_block()) break;
      const std::size_t part = std::min(wanted - made, current_.size() - used_);
      std::memcpy(to + made, current_.data() + used_, part);
      used_ += part;
      made += part;
    }
    return made;
  }
  [[nodiscard]] std::uint64_t position() const override { return position_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  bool next_block() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !blocks_.empty() || finished_; });
    if (blocks_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return false;
    }
    current_ = std::move(blocks_.front());
    blocks_.pop_front();
    used_ = 0;
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void produce() {
    try {
      for (bool more = true; more;) {
        std::vector<char> block(kAheadBlock);
        block.resize(source_->read(block.data(), block.size()));
        more = block.size() == kAheadBlock;
        position_.store(source_->position(), std::memory_order_relaxed);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || blocks_.size() < kBlocksAhead; });
        if (stop_) return;
        if (!block.empty()) blocks_.push_back(std::move(block));
        changed_.notify_all();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  std::unique_ptr<ByteSource> source_;
  std::uint64_t size_;
  std::atomic<std::uint64_t> position_{0};
  std::vector<char> current_;
  std::size_t used_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<char>> blocks_;
  std::exception_ptr failure_;
  bool finished_ = false;
  bool stop_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> packed, std::string name) {
  return std::make_unique<Gunzip>(std::move(packed), std::move(name));
}
std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> packed, std::string name) {
  return std::make_unique<Unzstd>(std::move(packed), std::move(name));
}
std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ReadAhead>(std::move(source));
}

}  // namespace wisecrowd::ingest
