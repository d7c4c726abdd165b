// libwisecrowd_tls.so: the client's side of TLS by OpenSSL (service/tls_entry.hpp).
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>

#include "service/tls_entry.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::service {
namespace {

struct GiveBack {
  void operator()(SSL_CTX* held) const { SSL_CTX_free(held); }
  void operator()(SSL* held) const { SSL_free(held); }
};
using Context = std::unique_ptr<SSL_CTX, GiveBack>;
using Connection = std::unique_ptr<SSL, GiveBack>;

std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "the connection broke" : reason;
}

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::io, "TLS: " + why); }

bool is_address(const std::string& host) {
  in6_addr room{};
  return ::inet_pton(AF_INET, host.c_str(), &room) == 1 || ::inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

/// Read once: authorities of the machine, or those that SSL_CERT_FILE and SSL_CERT_DIR name.
SSL_CTX* context() {
  static const Context made = [] {
    Context fresh(SSL_CTX_new(TLS_client_method()));
    if (!fresh || SSL_CTX_set_min_proto_version(fresh.get(), TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(fresh.get()) != 1) {
      fail(last_error());
    }
    SSL_CTX_set_verify(fresh.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(fresh.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return fresh;
  }();
  return made.get();
}

class OpenSslStream final : public TlsStream {
 public:
  OpenSslStream(int socket, const std::string& host) : connection_(SSL_new(context())) {
    SSL* const ssl = connection_.get();
    if (ssl == nullptr || SSL_set_fd(ssl, socket) != 1) fail(last_error());
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    const bool named = is_address(host)
                           ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1
                           : SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
    if (!named) fail("the name of the host cannot stand in a certificate");
  }

  TlsStep handshake() override {
    ERR_clear_error();
    const int code = SSL_connect(connection_.get());
    if (code == 1) return {};
    const long verdict = SSL_get_verify_result(connection_.get());
    const TlsStep step = step_of(code, false);
    if (step.kind != TlsStep::Kind::cut_off) return step;
    if (verdict != X509_V_OK)
      fail(std::string("the certificate is not accepted: ") + X509_verify_cert_error_string(verdict));
    fail(last_error());
  }
  TlsStep write(std::string_view bytes) override {
    ERR_clear_error();
    const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX));
    const int sent = SSL_write(connection_.get(), bytes.data(), size);
    if (sent > 0) return {TlsStep::Kind::done, static_cast<std::size_t>(sent)};
    const TlsStep step = step_of(sent, false);
    if (step.kind == TlsStep::Kind::cut_off) fail(last_error());
    return step;
  }
  TlsStep read(std::span<char> room) override {
    ERR_clear_error();
    const int size = static_cast<int>(std::min<std::size_t>(room.size(), INT_MAX));
    const int got = SSL_read(connection_.get(), room.data(), size);
    if (got > 0) return {TlsStep::Kind::done, static_cast<std::size_t>(got)};
    return step_of(got, true);
  }

 private:
  /// An end without a goodbye is `cut_off`: whoever reads must know by itself whether it has all.
  TlsStep step_of(int code, bool reading) {
    switch (SSL_get_error(connection_.get(), code)) {
      case SSL_ERROR_WANT_READ: return {TlsStep::Kind::wants_read, 0};
      case SSL_ERROR_WANT_WRITE: return {TlsStep::Kind::wants_write, 0};
      case SSL_ERROR_ZERO_RETURN: return {TlsStep::Kind::closed, 0};
      case SSL_ERROR_SYSCALL: return {TlsStep::Kind::cut_off, 0};
      default: break;
    }
    const bool ended = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    if (reading && !ended) fail(last_error());
    return {TlsStep::Kind::cut_off, 0};
  }

  Connection connection_;
};

std::unique_ptr<TlsStream> open_stream(int socket, const std::string& host) {
  return std::make_unique<OpenSslStream>(socket, host);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const TlsPlugin* wisecrowd_tls_plugin() {
  static const TlsPlugin plugin{WISECROWD_VERSION, kTlsInterface, open_stream};
  return &plugin;
}

}  // namespace wisecrowd::service
