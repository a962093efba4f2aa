// For tests of distributed training: ranks that are threads of the test. Checks of Boost.Test belong to the main
// thread, so each rank returns what is to be compared.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/communicators/thread_transport.h>
#include <catena/training/dataset.h>

namespace test {

using Comm = catena::Shared<training::Communicator>;

// A rank that waits longer than this fails: nothing in these tests takes so long.
inline constexpr double kRankTimeout = 60;

// Runs a program on n ranks; the result has what it returned, by rank. An exception of a rank fails the test.
template <class F> auto on_ranks(int n, const F& program) {
  using Result = decltype(program(std::declval<const Comm&>()));
  std::vector<Result> results(static_cast<std::size_t>(n));
  training::communicators::run_thread_ranks(n, [&](catena::Shared<training::communicators::Transport> transport) {
    const Comm comm = Comm::make("naive", transport, training::CommunicatorOptions{.timeout = kRankTimeout});
    results[std::size_t(comm->rank())] = program(comm);
  });
  return results;
}

// Runs a program that fails on n ranks, and returns the message of the exception of class E of each rank: "(...)" for
// one that threw nothing or another exception.
template <class E, class F> std::vector<std::string> messages_of_ranks(int n, const F& program) {
  return on_ranks(n, [&](const Comm& comm) { return message_if_thrown<E>([&] { program(comm); }); });
}

// An example as its bytes and names, to be compared.
inline std::string text_of(const training::Example& e) {
  std::string text;
  for (const Array& a : e.values) {
    text += catena::concat(catena::name_of(a.dtype()), a.shape(), ":");
    for (const double v : values(autograd::to_device(a, {}))) text += catena::concat(v, " ");
    text += ";";
  }
  for (const std::string& name : e.names) text += name + ",";
  return text;
}
inline std::vector<std::string> texts_of(const training::Dataset& dataset) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < dataset.size(); ++i) texts.push_back(text_of(dataset.get_example(i)));
  return texts;
}

}  // namespace test
