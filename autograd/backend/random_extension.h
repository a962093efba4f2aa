// The random generators that an array library has beside the framework's own: seeded with it, stored in snapshots.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

class CATENA_EXPORT RandomExtension {
 public:
  static constexpr std::string_view kName = "random";
  virtual ~RandomExtension();

  struct State {
    Device device;
    std::uint64_t seed = 0, offset = 0;
    // Changes with each draw that restore() cannot take back, as of a generator of cuRAND; restore() ignores it.
    std::uint64_t unrepeatable_draws = 0;
  };
  // Seeds the generators of all devices, those that are made later included.
  virtual void seed(std::uint64_t seed) = 0;
  virtual std::vector<State> states() const = 0;  // of the generators that were used
  virtual void restore(std::span<const State> states) = 0;

  // While one lives, the thread that asked for it has generators of its own, which begin as after seed(seed). seed(),
  // states() and restore() mean these.
  class CATENA_EXPORT Scope {
   public:
    virtual ~Scope();
    virtual void begin(std::uint64_t seed) = 0;  // the own generators anew
  };
  virtual catena::Owned<Scope> scope(std::uint64_t seed) = 0;
};

// That of the default backend; null when it has none, or when there is no default backend.
CATENA_EXPORT RandomExtension* find_random_extension();

}  // namespace autograd
