// Output of the programs of ranks.
#pragma once

#include <cstdio>
#include <string>

#include <catena/catena.h>
#include <catena/training/communicators.h>

namespace test {

inline void say(const std::string& text) {
  std::puts(text.c_str());
  std::fflush(stdout);
}

// Says whether all ranks have the same sum of weights, which is not 0.
inline void say_if_weights_agree(const training::Communicator& c, const nn::Link& model) {
  double weights = 0;
  for (const auto& p : model.params())
    for (const double v : autograd::to_vector<double>(p.data())) weights += v;
  const auto all = c.allgather_obj(catena::concat(weights));
  say(all[0] == all.back() && weights != 0 ? "the weights agree" : "the weights differ");
}

}  // namespace test
