#include <catena/tests/support/cuda_device/ptx/grid.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/ptx/profile.h>

namespace cuda_device::ptx {
namespace {

void* reserve(std::size_t bytes, int access) {
  void* p = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) std::abort();
  return p;
}

// Kept between grids, because most grids are small and allocation would dominate.
struct Machine {
  Block block;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<unsigned> turns;  // the order of the warps of a block
  std::vector<Warp*> unfinished;
};
Machine& machine() {
  static Machine& m = *[] {
    auto* made = new Machine;
    made->block.local = static_cast<std::byte*>(reserve(1024 * kLocalBytes, PROT_READ | PROT_WRITE));
    return made;
  }();
  return m;
}

// ---- one block ------------------------------------------------------------------------------------
const Step& step_at(const Path& p) { return p.frame->routine->steps[static_cast<std::size_t>(p.pc)]; }

// Called when all warps wait or have ended: computes and checks the barrier.
void complete_barrier(Block& b, std::vector<Warp*>& warps) {
  const Step* first = nullptr;
  std::uint64_t id = 0, count = 0, lanes = 0;
  for (Warp* w : warps) {
    w->each_waiting([&](Path& p) {
      const Step& s = step_at(p);
      w->frame = p.frame;
      w->registers = p.frame->registers.data();
      w->predicates = p.frame->predicates.data();
      w->constants = p.frame->routine->constants.data();
      const std::uint64_t own = in(*w, s.from[0])[__builtin_ctz(p.lanes)];
      if (first != nullptr && (id != own || first->count != s.count))
        fail(*w, s, -1, "divergent barrier: other warps wait at another one, at line " + std::to_string(first->line));
      first = &s;
      id = own;
      lanes += static_cast<unsigned>(__builtin_popcount(p.lanes));
      const Mask votes = w->predicates[s.from[1]] ^ ((s.extra & 2) != 0 ? kAllLanes : 0);
      if (s.bytes != 0) count += static_cast<unsigned>(__builtin_popcount(votes & p.lanes));
    });
  }
  for (Warp* w : warps)
    w->each_waiting([&](Path& p) {
      const Step& s = step_at(p);
      if (s.bytes == 0) return;
      if (s.count == 1) {
        std::uint64_t* d = p.frame->registers.data() + std::size_t(s.to[0]) * kLanes;
        each_lane(p.lanes, [&](unsigned lane) { d[lane] = count; });
      } else {
        const bool holds = s.count == 2 ? count == lanes : count != 0;
        Mask& d = p.frame->predicates[static_cast<std::size_t>(s.to[0])];
        d = (d & ~p.lanes) | (holds ? p.lanes : 0);
      }
    });
  b.shadow.pass_barrier();
  for (Warp* w : warps) w->pass_barrier();
}

Mask lanes_of(const Block& b, unsigned warp) {
  const unsigned rest = b.threads - warp * kLanes;
  return rest >= kLanes ? kAllLanes : (1u << rest) - 1;
}

void run_block(Machine& m) {
  Block& b = m.block;
  std::fill(b.shared.begin(), b.shared.end(), std::byte(0xff));
  b.shadow.begin_block(b.shared.size());
  b.undefined_local.clear();
  if (b.profile != nullptr) b.profile->begin_block();
  if (!b.entry->barriers) {  // one warp after the other, in the same memory
    for (unsigned k : m.turns) {
      m.warps[0]->begin(b, k, lanes_of(b, k));
      m.warps[0]->run();
    }
    return;
  }
  std::vector<Warp*>& warps = m.unfinished;
  warps.clear();
  for (unsigned k : m.turns) {
    warps.push_back(m.warps[k].get());
    warps.back()->begin(b, k, lanes_of(b, k));
  }
  while (!warps.empty()) {
    std::erase_if(warps, [](Warp* w) { return w->run(); });
    if (!warps.empty()) complete_barrier(b, warps);
  }
}

// ---- the grid -------------------------------------------------------------------------------------
void set_parameters(Block& b, const Routine& entry, void* const* parameters) {
  b.parameters.resize(entry.parameter_bytes);
  for (std::size_t k = 0; k < entry.parameters.size(); ++k)
    std::memcpy(b.parameters.data() + entry.parameters[k].offset, parameters[k], entry.parameters[k].bytes);
}

}  // namespace

std::uint64_t shared_window() {
  static const auto begin = reinterpret_cast<std::uint64_t>(reserve(3 * kWindow, PROT_NONE));
  return begin;
}

void run(const Program& program, const Routine& entry, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
         void* const* parameters) {
  Machine& m = machine();
  Block& b = m.block;
  b.program = &program;
  b.entry = &entry;
  b.grid_size = grid;
  b.size = block;
  b.threads = block.x * block.y * block.z;
  b.warps = (b.threads + kLanes - 1) / kLanes;
  b.static_shared = entry.shared_bytes;
  b.dynamic_shared = dynamic_shared_bytes;
  b.shared.resize(dynamic_shared_bytes > 0 ? program.dynamic_shared_begin + dynamic_shared_bytes : entry.shared_bytes);
  b.checks_order = check_mode();
  std::fill(std::begin(b.known), std::end(b.known), Block::Range());
  ++b.grid;
  set_parameters(b, entry, parameters);
  b.profile = active_profile();
  if (b.profile != nullptr) b.profile->begin_launch(entry, grid, block, dynamic_shared_bytes);
  while (m.warps.size() < b.warps) m.warps.push_back(std::make_unique<Warp>());
  m.turns.resize(b.warps);
  std::iota(m.turns.begin(), m.turns.end(), 0u);
  const std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
  const auto run_numbered = [&](std::uint64_t n) {
    b.index = {unsigned(n % grid.x), unsigned(n / grid.x % grid.y), unsigned(n / (std::uint64_t(grid.x) * grid.y))};
    run_block(m);
  };
  switch (shim::order()) {
    case shim::Order::ascending:
      for (std::uint64_t k = 0; k < blocks; ++k) run_numbered(k);
      break;
    case shim::Order::descending:
      std::reverse(m.turns.begin(), m.turns.end());
      for (std::uint64_t k = 0; k < blocks; ++k) run_numbered(blocks - 1 - k);
      break;
    case shim::Order::shuffled: {
      std::mt19937 random(1);
      std::vector<std::uint64_t> shuffled(blocks);
      std::iota(shuffled.begin(), shuffled.end(), std::uint64_t(0));
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      for (std::uint64_t n : shuffled) {
        std::shuffle(m.turns.begin(), m.turns.end(), random);
        run_numbered(n);
      }
      break;
    }
  }
  if (b.profile != nullptr) b.profile->end_launch();
}

}  // namespace cuda_device::ptx
