// The generators of all devices together, for programs that store and restore their whole state. random.h has the
// functions for one device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <catena/ndarray/routines/random.h>

namespace nd::random {

// The seed of the generator of a device and how many numbers it has drawn.
struct DeviceState {
  Device device;
  std::uint64_t seed = 0, offset = 0;
  // For a cuRAND generator, whose position cannot be restored: the number of draws from the cuRAND generators of its
  // device. set_states ignores it.
  std::uint64_t unrepeatable_draws = 0;
};

// Returns the states of the existing generators; get_random_state() creates the generator of a device. For a cuRAND
// generator the state is the seed; its position is unknown.
CATENA_EXPORT std::vector<DeviceState> get_states();
// Sets the generators of these devices and creates missing ones; other devices are unchanged. A cuRAND generator starts
// the sequence of the seed.
CATENA_EXPORT void set_states(std::span<const DeviceState> states);
// Seeds the generators of all devices, including generators that are created later: devices 0 with exactly this seed,
// devices 1, 2... with different seeds derived from it.
CATENA_EXPORT void seed_all(std::uint64_t seed);

// While an object exists, nd::random uses separate generators in this thread, one per device, which begin as after
// seed_all(seed): draws then do not depend on draws before or elsewhere. seed(), get_random_state() and the functions
// above refer to these, too, so the generators outside are unchanged when the scope ends. A generator that is created
// or seeded without a seed gets one that is derived from `seed`. If the generator of a device outside is one of cuRAND,
// the scope uses one of the same method.
//
// Scopes may be nested. An object belongs to the thread that created it. A reference from get_random_state() should be
// used only inside the scope: it stays valid, but a later scope draws from the same object.
class CATENA_EXPORT StatesScope {
 public:
  explicit StatesScope(std::uint64_t seed);
  ~StatesScope();
  void begin(std::uint64_t seed) noexcept;  // as a new scope in the same place
  StatesScope(const StatesScope&) = delete;
  StatesScope& operator=(const StatesScope&) = delete;

 private:
  void* before_;  // the generators that the thread used before; null: the generators of all threads
};

}  // namespace nd::random
