// Random generators: their state as a value, for functions that are called several times with the same random numbers,
// and separate generators for a thread.
#pragma once

#include <string_view>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/random_extension.h>

namespace autograd {

// The state of the calling thread's default generator and of the array library's generators at construction. restore()
// sets them back to that state; generators first used later are not changed. RuntimeError, with nothing changed, if
// numbers have been drawn since from a generator whose position cannot be set back, such as one of cuRAND.
class CATENA_EXPORT RandomState {
 public:
  RandomState();
  void restore() const;
  // Throws the RuntimeError of restore(), with a message that begins with `op`.
  void check_repeatable(std::string_view op) const;
  // True if the thread's default generator has drawn numbers since, or has another seed.
  bool has_changed() const noexcept;
  // Removes the library's generators that have not changed since from this state. They are shared by all threads, so
  // restoring them could undo what other threads draw. A generator first used since is added with the beginning of its
  // sequence.
  void keep_what_changed();
  bool has_generator_of(Device device) const noexcept;  // a generator of the array library
  // Returns the present state of the same generators.
  RandomState now() const;

 private:
  friend class ReplayedRandom;
  void restore_what_can_be() const;

  Generator generator_;
  std::vector<RandomExtension::State> others_;
};

// Sets the generators to `then` until the end of the scope, and then back to their state before the scope. Throws the
// RuntimeError of RandomState::restore().
class CATENA_EXPORT ReplayedRandom {
 public:
  explicit ReplayedRandom(const RandomState& then) : now_(then.now()) { then.restore(); }
  ~ReplayedRandom() { now_.restore_what_can_be(); }
  ReplayedRandom(const ReplayedRandom&) = delete;
  ReplayedRandom& operator=(const ReplayedRandom&) = delete;

 private:
  RandomState now_;
};

// A scope in which the thread uses its own generators, as its default generator and as those of the array library. They
// depend only on `seed`, not on numbers drawn before or in other threads, and at the end of the scope the outer
// generators are unchanged. autograd::seed() within the scope sets the inner generators. Scopes may be nested; an
// object belongs to the thread that made it.
//
//   autograd::RandomScope random(seed);                     // work in a thread whose numbers do not depend on others
//   nd::Array noise = nd::random::standard_normal({3, 4});
//
// A generator made in the scope without a seed (nd::random::default_rng()) also depends on `seed`. A generator made
// before, such as a member of a dataset, is not changed.
class CATENA_EXPORT RandomScope {
 public:
  explicit RandomScope(std::uint64_t seed);
  ~RandomScope();
  void begin(std::uint64_t seed);  // like the end of this scope and a new one with `seed`
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  Generator before_;
  catena::Owned<RandomExtension::Scope> others_;
};

// Returns a seed derived from another seed and a number; different numbers give unrelated seeds.
CATENA_EXPORT std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number) noexcept;

}  // namespace autograd
