// Stream sockets with time limits: how ranks that are processes find and reach each other. Internal to this folder.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <catena/training/communicators/endpoint.h>

namespace training::communicators::internal {

// A descriptor, closed by the destructor.
class Socket {
 public:
  Socket() noexcept = default;
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  Socket(Socket&& o) noexcept : descriptor_(std::exchange(o.descriptor_, -1)) {}
  Socket& operator=(Socket&& o) noexcept {
    std::swap(descriptor_, o.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// "host:port", "[address]:port", or the path of a Unix socket, which has a slash. ValueError for other texts, with
// `variable`, the name of what has it.
struct Address {
  std::string host, port;  // empty for a Unix socket
  std::string path;

  static Address parse(std::string_view text, const char* variable);
  bool is_path() const noexcept { return !path.empty(); }
  std::string text() const;
};

// RuntimeError, with the address and the system's reason. The address "host:0" is any free port.
Socket listen_at(const Address& address);
// The address of this side of a TCP socket, in numbers.
Address local_address(const Socket& socket);
// Tries again until somebody listens. An empty socket after the time limit.
Socket connect_to(const Address& address, const Deadline& deadline);
Socket accept_from(const Socket& listening, const Deadline& deadline);

enum class Transfer { done, ended, late };
// A text with its length before it.
Transfer write_text(const Socket& socket, std::string_view text, const Deadline& deadline);
// At most `longest` bytes; a longer one is taken as one that has ended.
Transfer read_text(const Socket& socket, std::string& text, std::size_t longest, const Deadline& deadline);

std::string host_name();
std::string system_reason(int error);

}  // namespace training::communicators::internal
