#include <catena/training/communicators/rendezvous.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/training/parallel/worker_process.h>

namespace training::communicators::internal {
namespace {

using catena::check;
using catena::concat;
using catena::RuntimeError;
using training::internal::MessageReader;
using training::internal::MessageWriter;

constexpr const char* kOp = "socket_transport";
constexpr std::string_view kGreeting = "catena ranks 1";  // with the version of the messages
constexpr std::size_t kLongest = std::size_t(1) << 26;    // bytes of a message: the addresses of all ranks
// A stranger who connects and sends nothing must not hold up the others.
constexpr double kPatience = 5;

// The first message of a rank on a new connection.
struct Hello {
  int rank = -1, size = 0;
  std::string host = {}, address = {};  // of its machine, and where it listens

  std::string written() const {
    MessageWriter w;
    w.put_text(kGreeting);
    w.put(rank);
    w.put(size);
    w.put_text(host);
    w.put_text(address);
    return w.take();
  }
  // The rank is -1 if the text is none of a rank.
  static Hello read(std::string_view text) {
    Hello hello;
    try {
      MessageReader r(text);
      if (r.get_text() != kGreeting) return hello;
      hello.rank = r.get<int>();
      hello.size = r.get<int>();
      hello.host = r.get_text();
      hello.address = r.get_text();
    } catch (const RuntimeError&) {
      hello.rank = -1;
    }
    return hello;
  }
};

std::string missing_ranks(const std::vector<Socket>& sockets, int first) {
  std::string text;
  for (int r = first; r < static_cast<int>(sockets.size()); ++r)
    if (!sockets[static_cast<std::size_t>(r)]) text += concat(text.empty() ? "" : ", ", "rank ", r);
  return text;
}

// Removes the path of a Unix socket, also when joining fails.
struct PathRemover {
  const Address& address;
  ~PathRemover() {
    if (address.is_path()) ::unlink(address.path.c_str());
  }
};

class Joining {
 public:
  explicit Joining(const SocketTransportOptions& options) : options_(options), deadline_(options.timeout) {
    if (options.size > 1) at_ = Address::parse(options.rendezvous, kOp);
    if (at_.is_path()) Address::parse(concat(at_.path, ".", options.size - 1), kOp);  // the longest path of a rank
    mesh_.sockets.resize(static_cast<std::size_t>(options.size));
    mesh_.hosts.resize(static_cast<std::size_t>(options.size));
    mesh_.hosts[static_cast<std::size_t>(options.rank)] = host_name();
  }

  Mesh run() {
    if (options_.size > 1) options_.rank == 0 ? welcome() : come();
    return std::move(mesh_);
  }

 private:
  // Rank 0.
  void welcome() {
    const Socket listening = listen_at(at_);
    const PathRemover remover{at_};
    std::vector<std::string> addresses(mesh_.sockets.size());
    accept_ranks(listening, 1, &addresses);
    MessageWriter w;
    for (std::size_t r = 0; r < addresses.size(); ++r) {
      w.put_text(mesh_.hosts[r]);
      w.put_text(addresses[r]);
    }
    const std::string table = w.take();
    for (std::size_t r = 1; r < addresses.size(); ++r)
      finish(write_text(mesh_.sockets[r], table, deadline_), static_cast<int>(r));
  }

  // Another rank.
  void come() {
    Socket root = connect_to(at_, deadline_);
    if (!root) fail_missing("rank 0");
    Address own;
    if (at_.is_path()) {
      own.path = concat(at_.path, ".", options_.rank);
    } else {
      own = local_address(root);
      own.port = "0";
    }
    const Socket listening = listen_at(own);
    const PathRemover remover{own};
    if (!own.is_path()) own = local_address(listening);
    const Hello hello{options_.rank, options_.size, host_name(), own.text()};
    finish(write_text(root, hello.written(), deadline_), 0);
    std::string table;
    const Transfer read = read_text(root, table, kLongest, deadline_);
    if (read == Transfer::late)
      throw TimeoutError(concat(kOp, ": rank ", options_.rank, " has joined the run at ", at_.text(),
                                ", but not all other ranks have within ", deadline_.seconds(), " s"));
    finish(read, 0);
    mesh_.sockets[0] = std::move(root);

    MessageReader r(table);
    std::vector<std::string> addresses;
    for (std::string& host : mesh_.hosts) {
      host = r.get_text();
      addresses.emplace_back(r.get_text());
    }
    for (int other = 1; other < options_.rank; ++other) {
      Socket socket = connect_to(Address::parse(addresses[static_cast<std::size_t>(other)], kOp), deadline_);
      if (!socket) fail_missing(concat("rank ", other));
      finish(write_text(socket, hello.written(), deadline_), other);
      mesh_.sockets[static_cast<std::size_t>(other)] = std::move(socket);
    }
    accept_ranks(listening, options_.rank + 1, nullptr);
  }

  // Accepts the ranks from `first` on.
  void accept_ranks(const Socket& listening, int first, std::vector<std::string>* addresses) {
    for (std::string missing; !(missing = missing_ranks(mesh_.sockets, first)).empty();) {
      Socket socket = accept_from(listening, deadline_);
      if (!socket) fail_missing(missing);
      std::string text;
      if (read_text(socket, text, kLongest, Deadline(kPatience)) != Transfer::done) continue;
      const Hello hello = Hello::read(text);
      if (hello.rank < 0) continue;
      check<RuntimeError>(hello.size == options_.size && hello.rank < options_.size, kOp, "rank ", options_.rank,
                          " is one of ", options_.size, ", rank ", hello.rank, " one of ", hello.size);
      const auto r = static_cast<std::size_t>(hello.rank);
      check<RuntimeError>(hello.rank >= first && !mesh_.sockets[r], kOp, "rank ", hello.rank, " came twice to ",
                          at_.text());
      mesh_.sockets[r] = std::move(socket);
      mesh_.hosts[r] = hello.host;
      if (addresses != nullptr) (*addresses)[r] = hello.address;
    }
  }

  [[noreturn]] void fail_missing(std::string_view who) const {
    throw TimeoutError(concat(kOp, ": rank ", options_.rank, " waits for ", who, " to join the run at ", at_.text(),
                              " for more than ", deadline_.seconds(), " s"));
  }
  void finish(Transfer transfer, int other) const {
    if (transfer == Transfer::late) fail_missing(concat("rank ", other));
    check<RuntimeError>(transfer == Transfer::done, kOp, "rank ", other, " has ended while the ranks of the run at ",
                        at_.text(), " came together");
  }

  const SocketTransportOptions& options_;
  Address at_;
  Deadline deadline_;
  Mesh mesh_;
};

}  // namespace

Mesh join_mesh(const SocketTransportOptions& options) { return Joining(options).run(); }

}  // namespace training::communicators::internal
