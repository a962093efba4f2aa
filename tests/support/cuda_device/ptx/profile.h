// Counts what kernels do while the interpreter executes them: instructions per class, sectors of global memory, passes
// of shared memory, atomic operations (kernel_profile.h). Nothing is counted, and nothing is paid for it, unless
// start_profile() was called: the loop of a warp is compiled twice (warp.cpp).
//
// Caches are modelled as follows. The level-1 cache of a multiprocessor is divided equally among the blocks that its
// threads admit; a block has its part from its begin to its end, with 4 lines of 128 bytes per set. The level-2 cache
// has a sector if less than its size was read or written since the last access to it; between accesses of one block,
// this amount counts once for each block that runs at the same time. At the start of a profile both are empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <catena/tests/support/cuda_device/kernel_profile.h>
#include <catena/tests/support/cuda_device/ptx/program.h>
#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device::ptx {

class Profile {
 public:
  explicit Profile(const ProfiledDevice& device) : device_(device) {}

  void begin_launch(const Routine& entry, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes);
  void begin_block();
  void end_launch();
  // An instruction that a warp is about to execute, or to skip if it has no lanes.
  void count(const Warp& warp, const Step& step, Mask lanes);

  const std::vector<KernelProfile>& launches() const { return launches_; }

 private:
  static constexpr unsigned kWays = 4;  // lines of a set
  // A warp that has executed so many instructions since it began a copy does not wait for it: the latency of memory at
  // the rate of dependent instructions.
  static constexpr std::uint64_t kHidden = 256;
  static constexpr std::size_t kPageSectors = std::size_t(1) << 15;
  struct Line {
    std::uint64_t tag = 0;
    std::uint8_t sectors = 0;
  };
  struct Stamp {               // the last access to a sector of global memory
    std::uint64_t moved = 0;   // the value of moved_ at that time
    std::uint32_t launch = 0;  // 0: none
    std::uint32_t block : 30 = 0, written : 1 = 0, input : 1 = 0;
  };
  // The loads of a warp that have not been waited for. The assembler moves loads to the begin of a round of a loop,
  // over short branches, too. So all loads of a round count as one batch, except those whose address depends on a
  // loaded value, and those that must not pass a store.
  struct Loads {
    enum State : std::uint8_t { none, pending, loaded };
    const void* frame = nullptr;
    std::vector<State> state;             // of registers; loaded: also computed from a loaded value in this round
    std::vector<std::int32_t> touched;    // registers with another state than none
    bool waited = false, stored = false;  // in this round
    bool any_pending = false;
    // Copies to shared memory (cp.async), by the number of instructions that the warp had executed.
    std::uint64_t executed = 0, last_copy = 0;
    std::vector<std::uint64_t> groups;
    bool group_is_open = false;
    void set(std::int32_t number, State s);
    void clear();
  };
  struct Atomics {
    std::unordered_map<std::uint64_t, std::uint64_t> by_sector, by_address;
  };
  using Addresses = std::array<std::uint64_t, kLanes>;

  struct StepClass {
    InstructionClass kind;
    bool stores, read_only;  // read_only: of memory that the kernel does not change
  };

  const std::vector<StepClass>& classes_of(const Routine& routine);
  void memory(const Warp& warp, const Step& step, Mask lanes, StepClass what);
  void global(const Addresses& addresses, Mask lanes, std::size_t bytes, bool loads, bool atomic, bool level1 = true);
  void copy(const Warp& warp, const Step& step, Mask lanes);
  void follow_copies(const Warp& warp, const Step& step);
  std::uint64_t lines() const;
  void shared(const Addresses& addresses, Mask lanes, std::size_t bytes, bool atomic);
  void atomic(const Addresses& addresses, Mask lanes);
  void follow_loads(const Warp& warp, const Step& step, Mask lanes, StepClass what);
  void find_sectors(const Addresses& addresses, Mask lanes, std::size_t bytes);
  bool in_level1(std::uint64_t sector);
  void access(std::uint64_t sector, bool reads, bool writes);
  Stamp& stamp_of(std::uint64_t sector);

  ProfiledDevice device_;
  std::vector<KernelProfile> launches_;
  KernelProfile* current_ = nullptr;
  const Routine* routine_ = nullptr;               // of the last instruction
  const std::vector<StepClass>* known_ = nullptr;  // its classes
  std::unordered_map<const Routine*, std::vector<StepClass>> classes_;
  std::vector<std::uint64_t> sectors_;  // of the current instruction
  std::vector<Loads> loads_;            // of the warps of the block
  std::vector<Line> level1_;
  std::vector<std::uint8_t> next_way_;
  std::unordered_map<std::uint64_t, std::vector<Stamp>> pages_;
  std::uint64_t page_number_ = ~std::uint64_t(0);
  Stamp* page_ = nullptr;
  std::uint64_t moved_ = 0;  // sectors that moved between level 2 and memory so far
  std::uint32_t launch_ = 0, block_ = 0;
  std::uint64_t concurrent_ = 1;  // blocks that run at the same time
  Atomics atomics_;
};

// The profile that is being made; null: none.
Profile* active_profile();
// Start and end the counting; the counters of the last profile stay readable. Called under the runtime's lock.
void start_profile(const ProfiledDevice& device);
void stop_profile();
std::vector<KernelProfile> profiled_launches();

}  // namespace cuda_device::ptx
