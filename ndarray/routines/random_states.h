// The generators of all devices at once: what a program that stores and restores its whole state needs. Those of one
// device are in random.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <catena/ndarray/routines/random.h>

namespace nd::random {

struct DeviceState {
  Device device;
  std::uint64_t seed = 0, offset = 0;
  // Of a cuRAND generator, whose position cannot be set again: how often those of its device have been drawn from.
  // set_states ignores it.
  std::uint64_t unrepeatable_draws = 0;
};

// The generators that exist: get_random_state() makes that of a device. Of a cuRAND generator this is the seed; its
// position is not known.
CATENA_EXPORT std::vector<DeviceState> get_states();
// Sets the generators of these devices, and makes those that do not exist; the others stay. A cuRAND generator begins
// the sequence of the seed.
CATENA_EXPORT void set_states(std::span<const DeviceState> states);
// Seeds the generators of all devices, also those made later: devices 0 with exactly this seed, devices 1, 2... with
// different ones derived from it.
CATENA_EXPORT void seed_all(std::uint64_t seed);

// While one lives, nd::random has generators of its own in this thread, one per device, which begin as after
// seed_all(seed): what its functions draw depends on nothing that was drawn before or is drawn elsewhere. seed(),
// get_random_state() and the functions above mean these, too, so the generators outside are as they were when the scope
// ends. A generator that is made or seeded without a seed takes one that follows from `seed`. A device whose generator
// outside is one of cuRAND has one of the same method here.
//
// Scopes may be nested. An object belongs to the thread that made it. A reference that get_random_state() gives is
// meant for the scope: it stays valid, but a later scope draws from the same object.
class CATENA_EXPORT StatesScope {
 public:
  explicit StatesScope(std::uint64_t seed);
  ~StatesScope();
  void begin(std::uint64_t seed) noexcept;  // as a new scope within the same bounds
  StatesScope(const StatesScope&) = delete;
  StatesScope& operator=(const StatesScope&) = delete;

 private:
  void* before_;  // the generators of the thread until then; null: those of all threads
};

}  // namespace nd::random
