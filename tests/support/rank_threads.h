// For tests of what takes part in a distributed training: programs of ranks with a shared communicator, and examples as
// texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <catena/tests/support/ranks.h>
#include <catena/training/dataset.h>

namespace test {

using Comm = catena::Shared<training::Communicator>;

// Runs program(comm) on n ranks; the result has what it returned, by rank. An exception of a rank fails the test.
template <class F> auto by_rank(int n, const F& program) {
  return on_ranks(n, [&](training::Communicator& comm) {
    const OnHost host;
    return program(Comm::borrowed(&comm));
  });
}

// Runs a program that fails on n ranks, and returns the message of the exception of class E of each rank: "(...)" for
// one that threw nothing or another exception.
template <class E, class F> std::vector<std::string> messages_by_rank(int n, const F& program) {
  return errors_on_ranks<E>(n, [&](training::Communicator& comm) {
    const OnHost host;
    program(Comm::borrowed(&comm));
  });
}

// The communicator of a run of one rank.
inline Comm single_rank() { return Comm::make("naive", training::communicators::thread_transports(1)[0]); }

// The values and names of an example, to be compared.
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
inline std::vector<std::string> texts_of(const training::DatasetMixin& dataset) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < dataset.size(); ++i) texts.push_back(text_of(dataset.get_example(i)));
  return texts;
}

}  // namespace test
