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

}  // namespace nd::random
