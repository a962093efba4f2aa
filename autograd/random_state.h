// The random generators that functions draw from: as a value that can be set again, for functions that are called
// several times with the same random numbers, and generators of a thread's own.
#pragma once

#include <string_view>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/random_extension.h>

namespace autograd {

// The state of the calling thread's default generator and of the array library's generators, at construction. restore()
// sets them to that state; generators that were first used later keep theirs. RuntimeError, with nothing changed, if
// numbers have been drawn since from a generator whose place in its sequence cannot be set again, as one of cuRAND.
class CATENA_EXPORT RandomState {
 public:
  RandomState();
  void restore() const;
  // The RuntimeError of restore(), with a message that begins with `op`.
  void check_repeatable(std::string_view op) const;
  // Whether the thread's default generator has drawn numbers since, or has got another seed.
  bool has_changed() const noexcept;
  // Keeps, of the library's generators, only those that have drawn numbers since or have got another seed: these belong
  // to all threads, and what others draw from the rest is left alone. A generator that was first used since begins its
  // sequence.
  void keep_what_changed();
  bool has_generator_of(Device device) const noexcept;  // of the library
  // The state of the same generators as it is now.
  RandomState now() const;

 private:
  friend class ReplayedRandom;
  void restore_what_can_be() const;

  Generator generator_;
  std::vector<RandomExtension::State> others_;
};

// Sets the generators to `then` until the end of the scope, after which they go on from where they were. RuntimeError
// of RandomState::restore().
class CATENA_EXPORT ReplayedRandom {
 public:
  explicit ReplayedRandom(const RandomState& then) : now_(then.now()) { then.restore(); }
  ~ReplayedRandom() { now_.restore_what_can_be(); }
  ReplayedRandom(const ReplayedRandom&) = delete;
  ReplayedRandom& operator=(const ReplayedRandom&) = delete;

 private:
  RandomState now_;
};

// While one lives, the thread's default generator, and those of the array library in this thread, are generators of its
// own that follow from `seed`: what is drawn depends on nothing that was drawn before or is drawn in other threads, and
// the generators outside are as they were when the scope ends. autograd::seed() within means the own ones. Scopes may
// be nested; an object belongs to the thread that made it.
//
//   autograd::RandomScope random(seed);                     // work in a thread whose numbers do not depend on others
//   nd::Array noise = nd::random::standard_normal({3, 4});
//
// A generator that is made within without a seed (nd::random::default_rng()) follows from `seed`, too; one that was
// made before, as a member of a dataset, is left alone.
class CATENA_EXPORT RandomScope {
 public:
  explicit RandomScope(std::uint64_t seed);
  ~RandomScope();
  void begin(std::uint64_t seed);  // as a new scope within the same bounds
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  Generator before_;
  catena::Owned<RandomExtension::Scope> others_;
};

// A seed that follows from another one and a number; different numbers give unrelated seeds.
CATENA_EXPORT std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number) noexcept;

}  // namespace autograd
