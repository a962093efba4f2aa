// Transports: messages between ranks that are threads, over queues and over sockets; limits of time, ranks that end.
#include <catena/training/communicators/socket_transport.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <catena/tests/support/ranks.h>

using namespace test;
using catena::RuntimeError;
using catena::Shared;
using catena::ValueError;
using training::Communicator;
using training::communicators::socket_transport;
using training::communicators::TimeoutError;
using training::communicators::Transport;

namespace {

void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::span<std::byte> bytes(std::string& text) { return std::as_writable_bytes(std::span(text)); }

// "127.0.0.1:port", with a port that was free just now.
std::string free_address() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  BOOST_REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&at), size) == 0);
  BOOST_REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  ::close(socket);
  return "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
}

// Runs f(transport) on n ranks over sockets. Returns the messages of the exceptions, by rank; empty: none.
template <class F>
std::vector<std::string> over_sockets(int n, const std::string& rendezvous, F f, double timeout = 60) {
  std::vector<std::string> errors(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      try {
        f(socket_transport({.rank = r, .size = n, .rendezvous = rendezvous, .timeout = timeout}));
      } catch (const std::exception& e) {
        errors[static_cast<std::size_t>(r)] = e.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return errors;
}

// The demands on every transport.
void exchange_messages(Transport& t) {
  const int n = t.size(), self = t.rank();
  // In the order of the sends, whether the receive is started before or after; with empty and with long messages.
  for (int other = 0; other < n; ++other) {
    if (other == self) continue;
    const std::string a = "a" + std::to_string(self), b, c(300'000, char('a' + self));
    std::string from_a(2, ' '), from_b, from_c(300'000, ' ');
    auto first = t.start_send(other, bytes(a)), second = t.start_send(other, bytes(b)),
         third = t.start_send(other, bytes(c));
    auto r1 = t.start_receive(other, bytes(from_a)), r2 = t.start_receive(other, bytes(from_b)),
         r3 = t.start_receive(other, bytes(from_c));
    r3->wait();
    while (!r1->is_done()) pause(1);
    r2->wait();
    first->wait();
    second->wait();
    third->wait();
    catena::check<ValueError>(
        from_a == "a" + std::to_string(other) && from_c == std::string(300'000, char('a' + other)), "exchange_messages",
        "wrong bytes");
  }
  Communicator comm("naive", t.split(0, -self), {.timeout = 60});
  catena::check<ValueError>(comm.rank() == n - 1 - self, "split", "wrong order");
  const std::vector<double> sum = values(comm.allreduce(autograd::arrays::full({1000}, self + 1)));
  catena::check<ValueError>(sum == std::vector<double>(1000, n * (n + 1) / 2.), "allreduce", "wrong sum");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transports)

BOOST_AUTO_TEST_CASE(messages_in_memory) {
  for (const int n : {1, 2, 5})
    training::communicators::run_thread_ranks(n, [](Shared<Transport> t) { exchange_messages(*t); });
}

BOOST_AUTO_TEST_CASE(messages_over_sockets) {
  const TemporaryFolder folder("sockets");
  for (const int n : {1, 2, 5}) {
    for (const std::string& rendezvous : {folder / "ranks", free_address()}) {
      const auto errors = over_sockets(n, rendezvous, [&](Shared<Transport> t) {
        catena::check<ValueError>(t->hosts() == std::vector<std::string>(std::size_t(n), t->hosts()[0]), "hosts",
                                  "they differ");
        exchange_messages(*t);
      });
      for (const std::string& error : errors) BOOST_TEST(error == "");
      BOOST_TEST(std::filesystem::is_empty(folder.path), "a socket was left behind");
    }
  }
}

BOOST_AUTO_TEST_CASE(lengths_that_differ) {
  const auto run = [](Shared<Transport> t) {
    std::string text(t->rank() == 0 ? 3 : 5, 'x');
    if (t->rank() == 0) t->start_send(1, bytes(std::as_const(text)))->wait();
    else t->start_receive(0, bytes(text))->wait();
    // Rank 0 stays until rank 1 has seen the message.
    std::string done(1, 'd');
    if (t->rank() == 0) t->start_receive(1, bytes(done))->wait();
  };
  const std::string expected =
      "rank 0 sent 3 bytes to rank 1, which expects 5: the ranks do not make the same calls in the same order";
  BOOST_TEST(message_of<RuntimeError>([&] { training::communicators::run_thread_ranks(2, run); }) == expected);
  const TemporaryFolder folder("lengths");
  BOOST_TEST(over_sockets(2, folder / "ranks", run)[1] == expected);
}

BOOST_AUTO_TEST_CASE(limits_of_time) {
  const auto run = [](Shared<Transport> t) {
    std::string text(1, 'x');
    t->set_timeout(0.05);
    if (t->rank() == 0) t->start_receive(1, bytes(text))->wait();
    else pause(300);
  };
  const std::string expected = "rank 0 waits for rank 1 for more than 0.05 s (CommunicatorOptions::timeout)";
  BOOST_TEST(message_of<TimeoutError>([&] { training::communicators::run_thread_ranks(2, run); }) == expected);
  const TemporaryFolder folder("limits");
  BOOST_TEST(over_sockets(2, folder / "ranks", run)[0] == expected);
}

BOOST_AUTO_TEST_CASE(ranks_that_end) {
  const TemporaryFolder folder("ends");
  const auto errors = over_sockets(3, folder / "ranks", [](Shared<Transport> t) {
    std::string text(100, 'x');
    if (t->rank() == 1) return;
    t->start_receive(1, bytes(text))->wait();
  });
  for (const int rank : {0, 2})
    BOOST_TEST(errors[std::size_t(rank)] == catena::concat("rank ", rank, " waits for rank 1, which has ended"));
}

// The message of the rank reaches those that wait for another one, too.
BOOST_AUTO_TEST_CASE(announced_aborts) {
  const auto run = [](Shared<Transport> t) {
    std::string text(1, 'x');
    if (t->rank() == 2) {
      t->announce_abort("no such file");
      pause(200);
    } else {
      t->start_receive(1 - t->rank(), bytes(text))->wait();
    }
  };
  const TemporaryFolder folder("aborts");
  const auto errors = over_sockets(3, folder / "ranks", run);
  for (const int rank : {0, 1}) BOOST_TEST(errors[std::size_t(rank)] == "rank 2 has aborted: no such file");
  BOOST_TEST(message_of<RuntimeError>([&] { training::communicators::run_thread_ranks(3, run); }) ==
             "rank 2 has aborted: no such file");
  BOOST_TEST(message_of<RuntimeError>([] {
               training::communicators::run_thread_ranks(1, [](Shared<Transport> t) { t->abort("enough"); });
             }) == "rank 0 has aborted: enough");
}

// A receive that was given up takes its message, so that the next one gets the next.
BOOST_AUTO_TEST_CASE(requests_that_are_given_up) {
  const TemporaryFolder folder("given_up");
  const auto errors = over_sockets(2, folder / "ranks", [](Shared<Transport> t) {
    std::string first(9, '1'), second(9, '2'), go(1, 'g');
    if (t->rank() == 0) {
      t->start_receive(1, bytes(go))->wait();
      t->start_send(1, bytes(std::as_const(first)));  // given up at once, but it has been announced
      t->start_send(1, bytes(std::as_const(second)))->wait();
      t->start_receive(1, bytes(go))->wait();
    } else {
      std::string got(9, ' ');
      { const auto lost = t->start_receive(0, bytes(got)); }
      auto request = t->start_receive(0, bytes(got));
      t->start_send(0, bytes(std::as_const(go)))->wait();
      request->wait();
      t->start_send(0, bytes(std::as_const(go)))->wait();
      catena::check<ValueError>(got == second, "given_up", got);
    }
  });
  for (const std::string& error : errors) BOOST_TEST(error == "");
}

BOOST_AUTO_TEST_CASE(ranks_that_do_not_join) {
  const TemporaryFolder folder("join");
  const std::string at = folder / "ranks";
  BOOST_TEST(
      message_of<TimeoutError>([&] { socket_transport({.rank = 0, .size = 3, .rendezvous = at, .timeout = 0.1}); }) ==
      "socket_transport: rank 0 waits for rank 1, rank 2 to join the run at " + at + " for more than 0.1 s");
  BOOST_TEST(!std::filesystem::exists(at));  // the next run can listen there
  BOOST_TEST(
      has(message_of<TimeoutError>([&] { socket_transport({.rank = 1, .size = 2, .rendezvous = at, .timeout = 0.1}); }),
          "rank 1 waits for rank 0 to join"));
}

// A stranger who sends something else is ignored; a second rank of one number is not.
BOOST_AUTO_TEST_CASE(strangers_and_second_ranks) {
  const std::string at = free_address();
  std::string twice, other_size;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    twice = message_if_thrown<RuntimeError>(
        [&] { socket_transport({.rank = 0, .size = 3, .rendezvous = at, .timeout = 20}); });
  });
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(at.substr(at.rfind(':') + 1))));
  const int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  while (::connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) pause(5);
  BOOST_TEST(::send(stranger, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL) == 18);
  ::close(stranger);
  const int second_stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  BOOST_TEST(::connect(second_stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  BOOST_TEST(::send(second_stranger, "\4\0\0\0\0\0\0\0spam", 12, MSG_NOSIGNAL) == 12);
  ::close(second_stranger);
  for (int k = 0; k < 2; ++k)
    threads.emplace_back([&] {
      message_if_thrown<RuntimeError>(
          [&] { socket_transport({.rank = 2, .size = 3, .rendezvous = at, .timeout = 5}); });
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(twice == "socket_transport: rank 2 came twice to " + at);

  const TemporaryFolder folder("sizes");
  std::thread second([&] {
    message_if_thrown<RuntimeError>(
        [&] { socket_transport({.rank = 1, .size = 3, .rendezvous = folder / "ranks", .timeout = 5}); });
  });
  other_size = message_if_thrown<RuntimeError>(
      [&] { socket_transport({.rank = 0, .size = 2, .rendezvous = folder / "ranks", .timeout = 20}); });
  second.join();
  BOOST_TEST(other_size == "socket_transport: rank 0 is one of 2, rank 1 one of 3");
}

BOOST_AUTO_TEST_CASE(a_run_of_one_rank) {
  const auto alone = socket_transport({});
  BOOST_TEST(alone->size() == 1);
  BOOST_TEST(alone->rank() == 0);
}

BOOST_AUTO_TEST_CASE(options_that_make_no_sense) {
  // The path of the last rank has a longer name.
  BOOST_CHECK_THROW(socket_transport({.rank = 0, .size = 20, .rendezvous = "/tmp/" + std::string(102, 'x')}),
                    ValueError);
  const auto error_of = [](training::communicators::SocketTransportOptions options) {
    return message_of<ValueError>([&] { socket_transport(options); });
  };
  BOOST_TEST(has(error_of({.rank = 2, .size = 2, .rendezvous = "/tmp/x"}), "rank 2 is none of 2"));
  BOOST_TEST(
      has(error_of({.rank = 0, .size = 2, .rendezvous = "nowhere"}), "\"nowhere\" is neither host:port nor a path"));
  BOOST_TEST(
      has(error_of({.rank = 0, .size = 2, .rendezvous = "/" + std::string(200, 'x')}), "a Unix socket takes 107"));
  BOOST_TEST(has(error_of({.rank = 0, .size = 2, .rendezvous = "/tmp/x", .timeout = -1}), "timeout is -1"));
  BOOST_TEST(has(message_of<ValueError>([] { training::communicators::thread_transports(0); }), "0 ranks"));
  BOOST_TEST(has(message_of<ValueError>([] { training::communicators::thread_transports(2, {.hosts = {"a"}}); }),
                 "1 hosts for 2 ranks"));
  const auto alone = training::communicators::thread_transports(1)[0];
  std::string text(1, 'x');
  BOOST_TEST(has(message_of<ValueError>([&] { alone->start_send(1, bytes(std::as_const(text))); }),
                 "there is no rank 1 among 1"));
}

BOOST_AUTO_TEST_SUITE_END()
