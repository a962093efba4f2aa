// The random generators of an array library: the framework seeds them and stores their states in snapshots.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <catena/autograd/backend/array.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

class CATENA_EXPORT RandomExtension {
 public:
  static constexpr std::string_view kName = "random";
  virtual ~RandomExtension();

  struct State {
    Device device;
    std::uint64_t seed = 0, offset = 0;
    // Counts draws that restore() cannot repeat, such as draws of a generator of cuRAND. restore() ignores it.
    std::uint64_t unrepeatable_draws = 0;
  };
  // Seeds the generators of all devices, including generators that are made later.
  virtual void seed(std::uint64_t seed) = 0;
  virtual std::vector<State> states() const = 0;  // states of the generators that were used
  virtual void restore(std::span<const State> states) = 0;

  // While a scope exists, the thread that made it has its own generators, which begin as after seed(seed). On this
  // thread, seed(), states() and restore() then use these generators.
  class CATENA_EXPORT Scope {
   public:
    virtual ~Scope();
    virtual void begin(std::uint64_t seed) = 0;  // starts the scope's generators again
  };
  virtual catena::Owned<Scope> scope(std::uint64_t seed) = 0;
};

// Returns the extension of the default backend; null if it has none, or if there is no default backend.
CATENA_EXPORT RandomExtension* find_random_extension();

}  // namespace autograd
