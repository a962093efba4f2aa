// A warp: 32 lanes that execute the steps of one routine together. Divergent lanes form paths, which are executed one
// after the other until they meet again. If a path must wait for lanes of another path (.sync instructions, barriers of
// the block), the other path is executed first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/program.h>
#include <catena/tests/support/cuda_device/ptx/undefined.h>

namespace cuda_device::ptx {

struct Block;

// The activation of a routine by the lanes that called it together.
struct Frame {
  const Routine* routine = nullptr;
  std::vector<std::uint64_t> registers;  // kLanes values each
  std::vector<Mask> predicates;
  UndefinedRegisters undefined;
  std::vector<std::byte> parameters;  // frame_bytes of each lane in succession
  std::size_t local_begin = 0;        // offset of its local variables in the local memory of each lane
  const Call* call = nullptr;         // null: the entry
  Frame* caller = nullptr;
};

struct Path {
  enum class State {
    ready,
    meeting,  // its lanes are in other paths, until all of these have arrived
    sync,     // at a .sync instruction whose other members have not arrived
    barrier,  // at a barrier of the block
    ended
  };
  Frame* frame = nullptr;
  std::int32_t pc = 0;
  std::int32_t reconverge = -1;  // step where it ends and `parent` continues; -1: at the end of the routine
  Mask lanes = 0;
  int parent = -1, children = 0;
  State state = State::ready;
};

// A copy to shared memory that its thread has not waited for.
struct LateCopy {
  const Step* step;
  unsigned lane;
  std::uint32_t group;  // number of the lane's group
  std::uint64_t to;     // in shared memory
  std::array<std::byte, 16> data;
};

struct Warp {
  // Of the current path.
  std::uint64_t* registers = nullptr;
  Mask* predicates = nullptr;
  const std::uint64_t* constants = nullptr;
  Frame* frame = nullptr;
  Mask carry = 0;  // the carry flag of each lane

  Block* block = nullptr;
  unsigned number = 0;       // number of the warp in the block
  Mask live = 0;             // lanes that have not exited
  std::uint32_t moment = 0;  // the number of warp barriers so far

  std::vector<LateCopy> copies;
  std::array<std::uint32_t, kLanes> copy_groups{};  // groups that each lane has ended

  std::vector<Path> paths;
  int current = -1;
  std::vector<std::unique_ptr<Frame>> frames;  // frames in use come first
  std::size_t frames_in_use = 0;

  // Prepares for the entry of a grid.
  void begin(Block& in_block, unsigned warp_number, Mask lanes);
  // Executes until every lane has exited (returns true) or waits at a barrier of the block (returns false).
  bool run();
  // Lets the paths that wait at the barrier continue.
  void pass_barrier();
  // Visits the paths that wait at a barrier of the block.
  template <class F> void each_waiting(F visit) {
    for (Path& p : paths)
      if (p.state == Path::State::barrier) visit(p);
  }

 private:
  friend struct PathControl;
  template <bool Counted> bool run_as();  // Counted: each instruction is counted (profile.h)
};

inline const std::uint64_t* in(const Warp& w, std::int32_t number) {
  return number >= 0 ? w.registers + std::size_t(number) * kLanes : w.constants + std::size_t(~number) * kLanes;
}
inline std::uint64_t* out(Warp& w, std::int32_t number) { return w.registers + std::size_t(number) * kLanes; }
inline void set_predicate(Warp& w, std::int32_t number, Mask lanes, Mask value) {
  w.predicates[number] = (w.predicates[number] & ~lanes) | (value & lanes);
}

// Calls visit(lane) for each lane of a mask; without a test per lane if the mask has all lanes.
template <class F> inline void each_lane(Mask lanes, F visit) {
  if (lanes == kAllLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) visit(lane);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
}

// Throws Fault with the place: kernel, block, warp, lane (negative: none) and the instruction.
[[noreturn]] void fail(const Warp& warp, const Step& step, int lane, const std::string& text);

}  // namespace cuda_device::ptx
