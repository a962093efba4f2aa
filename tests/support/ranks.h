// Runs functions on the ranks of a communicator, which are threads of the test.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/current_device.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/communicators/thread_transport.h>

namespace test {

// While it lives, new arrays of this thread are in host memory, where the examples of these tests are.
struct OnHost {
  autograd::internal::DefaultDeviceScope scope{autograd::default_backend(), kCpu};
};

struct RankOptions {
  std::string_view name = "naive";
  std::vector<std::string> hosts = {};
  training::CommunicatorOptions comm = {.timeout = 60};
};

// Returns f(communicator) of each rank, by rank. Checks of Boost.Test belong behind it: they are for one thread.
template <class F> auto on_ranks(int n, F f, const RankOptions& options = {}) {
  using Result = decltype(f(std::declval<training::Communicator&>()));
  // Bits of a vector of bools would be written by several threads.
  std::vector<std::conditional_t<std::is_same_v<Result, bool>, char, Result>> results(static_cast<std::size_t>(n));
  training::communicators::run_thread_ranks(n,
                                            [&](catena::Shared<training::communicators::Transport> transport) {
                                              training::Communicator comm(options.name, std::move(transport),
                                                                          options.comm);
                                              results[static_cast<std::size_t>(comm.rank())] = f(comm);
                                            },
                                            {.hosts = options.hosts, .timeout = options.comm.timeout});
  return results;
}

// Returns the messages of the exceptions E that f(communicator) throws, by rank.
template <class E, class F> std::vector<std::string> errors_on_ranks(int n, F f, const RankOptions& options = {}) {
  return on_ranks(
      n, [&](training::Communicator& comm) { return message_if_thrown<E>([&] { f(comm); }); }, options);
}

}  // namespace test
