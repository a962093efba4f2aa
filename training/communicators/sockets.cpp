#include <catena/training/communicators/sockets.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>

namespace training::communicators::internal {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;

std::string system_reason(int error) { return std::error_code(error, std::generic_category()).message(); }

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// ---- addresses ----------------------------------------------------------------------------------
Address Address::parse(std::string_view text, const char* variable) {
  Address a;
  if (text.find('/') != text.npos) {
    a.path = text;
    check<ValueError>(text.size() < sizeof(sockaddr_un::sun_path), variable, "the path ", text, " has ", text.size(),
                      " characters; a Unix socket takes ", sizeof(sockaddr_un::sun_path) - 1);
    return a;
  }
  const auto colon = text.rfind(':');
  check<ValueError>(colon != text.npos && colon > 0 && colon + 1 < text.size(), variable, "\"", text,
                    "\" is neither host:port nor a path with a slash");
  a.host = text.substr(0, colon);
  a.port = text.substr(colon + 1);
  if (a.host.front() == '[' && a.host.back() == ']') a.host = a.host.substr(1, a.host.size() - 2);
  return a;
}

std::string Address::text() const {
  if (is_path()) return path;
  return host.find(':') != host.npos ? "[" + host + "]:" + port : host + ":" + port;
}

namespace {

// A socket address of the system.
struct SystemAddress {
  sockaddr_storage bytes{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bytes); }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
};

// False, with the reason, if the host has no address (yet).
bool resolve(const Address& address, SystemAddress& out, std::string& reason) {
  if (address.is_path()) {
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    std::memcpy(un.sun_path, address.path.data(), address.path.size());
    std::memcpy(&out.bytes, &un, sizeof un);
    out.size = sizeof un;
    return true;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (error != 0) {
    reason = error == EAI_SYSTEM ? system_reason(errno) : ::gai_strerror(error);
    return false;
  }
  std::memcpy(&out.bytes, found->ai_addr, found->ai_addrlen);
  out.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return true;
}

// Small messages do not wait for more of them. A machine that has disappeared (a cable, its power) is noticed after
// about half a minute, whether something is under way to it or not.
void set_up(const Socket& socket) {
  const int on = 1, idle = 10, interval = 5, probes = 4, unanswered_ms = 30'000;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#ifdef TCP_USER_TIMEOUT
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
#endif
#ifdef SO_NOSIGPIPE
  ::setsockopt(socket.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

Socket new_socket(int family) {
  catena::reserve_standard_descriptors();
  Socket socket(::socket(family, SOCK_STREAM, 0));
  if (!socket) return socket;
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  set_up(socket);  // has no effect on Unix sockets, which need nothing of it
  return socket;
}

// Waits until the socket is ready, at most until the deadline.
bool wait_for(const Socket& socket, short events, const Deadline& deadline) {
  constexpr int kMilliseconds = 200;
  for (;;) {
    pollfd p{socket.get(), events, 0};
    if (::poll(&p, 1, kMilliseconds) > 0) return true;
    if (deadline.has_passed()) return false;
  }
}

bool connects(const Socket& socket, const SystemAddress& at, const Deadline& deadline) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  int error = ::connect(socket.get(), at.get(), at.size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    if (!wait_for(socket, POLLOUT, deadline)) return false;
    socklen_t size = sizeof error;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  ::fcntl(socket.get(), F_SETFL, flags);
  return error == 0;
}

}  // namespace

Socket listen_at(const Address& address) {
  constexpr int kWaiting = 1024;
  SystemAddress at;
  std::string reason;
  check<RuntimeError>(resolve(address, at, reason), address.text(), reason);
  Socket socket = new_socket(at.get()->sa_family);
  check<RuntimeError>(bool(socket), address.text(), "cannot make a socket: ", system_reason(errno));
  const int on = 1;
  if (!address.is_path()) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  check<RuntimeError>(::bind(socket.get(), at.get(), at.size) == 0 && ::listen(socket.get(), kWaiting) == 0,
                      address.text(), "cannot listen: ", system_reason(errno));
  return socket;
}

Address local_address(const Socket& socket) {
  SystemAddress at;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const bool found = ::getsockname(socket.get(), at.get(), &at.size) == 0 &&
                     ::getnameinfo(at.get(), at.size, host.data(), host.size(), port.data(), port.size(),
                                   NI_NUMERICHOST | NI_NUMERICSERV) == 0;
  check<RuntimeError>(found, "getnameinfo", "a socket has no address");
  Address address;
  address.host = host.data();
  address.port = port.data();
  return address;
}

Socket connect_to(const Address& address, const Deadline& deadline) {
  constexpr auto kStep = std::chrono::milliseconds(20);
  for (;;) {
    SystemAddress at;
    std::string reason;
    if (resolve(address, at, reason)) {
      Socket socket = new_socket(at.get()->sa_family);
      if (socket && connects(socket, at, deadline)) return socket;
    }
    if (deadline.has_passed()) return Socket();
    std::this_thread::sleep_for(kStep);
  }
}

Socket accept_from(const Socket& listening, const Deadline& deadline) {
  for (;;) {
    if (!wait_for(listening, POLLIN, deadline)) return Socket();
    Socket socket(::accept(listening.get(), nullptr, nullptr));
    if (!socket) {  // the other side has gone
      const int error = errno;
      check<RuntimeError>(error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM, "accept",
                          system_reason(error));
      if (deadline.has_passed()) return Socket();
      continue;
    }
    ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
    set_up(socket);
    return socket;
  }
}

// ---- texts --------------------------------------------------------------------------------------
namespace {

Transfer write_bytes(const Socket& socket, const void* bytes, std::size_t size, const Deadline& deadline) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    if (!wait_for(socket, POLLOUT, deadline)) return Transfer::late;
    const ssize_t n = ::send(socket.get(), at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return Transfer::ended;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return Transfer::done;
}

Transfer read_bytes(const Socket& socket, void* bytes, std::size_t size, const Deadline& deadline) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    if (!wait_for(socket, POLLIN, deadline)) return Transfer::late;
    const ssize_t n = ::recv(socket.get(), at, size, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return Transfer::ended;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return Transfer::done;
}

}  // namespace

Transfer write_text(const Socket& socket, std::string_view text, const Deadline& deadline) {
  const std::uint64_t size = text.size();
  const Transfer head = write_bytes(socket, &size, sizeof size, deadline);
  return head == Transfer::done ? write_bytes(socket, text.data(), text.size(), deadline) : head;
}

Transfer read_text(const Socket& socket, std::string& text, std::size_t longest, const Deadline& deadline) {
  std::uint64_t size = 0;
  const Transfer head = read_bytes(socket, &size, sizeof size, deadline);
  if (head != Transfer::done) return head;
  if (size > longest) return Transfer::ended;
  text.resize(size);
  return read_bytes(socket, text.data(), text.size(), deadline);
}

}  // namespace training::communicators::internal
