#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace wisecrowd::service {

// What the program and the plugin libwisecrowd_tls.so say to each other (base/plugin.hpp).

/// To be raised whenever something in this file changes its layout.
inline constexpr int kTlsInterface = 1;

/// How far a step came on a socket that does not wait.
struct TlsStep {
  enum class Kind { done, wants_read, wants_write, closed, cut_off } kind = Kind::done;
  std::size_t bytes = 0;  ///< that were taken or given
};

/// The client's side of an encrypted connection. Failures throw Error io that says why.
class TlsStream {
 public:
  virtual ~TlsStream() = default;
  /// Until it is done. The certificate must be one for the host, by an authority that this machine trusts.
  virtual TlsStep handshake() = 0;
  virtual TlsStep write(std::string_view bytes) = 0;
  virtual TlsStep read(std::span<char> room) = 0;
};

/// What the program may ask of the plugin.
struct TlsPlugin {
  const char* version;
  int interface_number;
  /// `socket` is connected, does not wait, and stays the caller's.
  std::unique_ptr<TlsStream> (*open)(int socket, const std::string& host);
};

/// The one symbol of the plugin, a function without arguments.
inline constexpr const char* kTlsEntryName = "wisecrowd_tls_plugin";

}  // namespace wisecrowd::service
