#include <catena/tests/support/cuda_device/ptx/profile.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include <catena/tests/support/cuda_device/ptx/grid.h>
#include <catena/tests/support/cuda_device/ptx/instruction_class.h>
#include <catena/tests/support/cuda_device/ptx/memory.h>
#include <catena/tests/support/cuda_device/ptx/tensor.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>

namespace cuda_device::ptx {
namespace {

constexpr unsigned kSectorBits = 5, kLineBits = 7;
constexpr unsigned kThreads = 2048, kBlocks = 32;  // of a multiprocessor, compute capability 9.0

std::uint64_t& of(KernelProfile& p, InstructionClass kind) { return p.instructions[static_cast<std::size_t>(kind)]; }

std::unique_ptr<Profile>& holder() {
  static auto& profile = *new std::unique_ptr<Profile>;
  return profile;
}
bool counting = false;

// True for an access of global memory; of a generic address, by that of the first lane.
bool reaches_global(const Warp& w, const Step& s, Mask lanes, InstructionClass kind) {
  if (kind != InstructionClass::global && kind != InstructionClass::atomic) return false;
  if (s.space != Space::generic) return s.space == Space::global;
  return address_of(w, s, static_cast<unsigned>(std::countr_zero(lanes))) - shared_window() >= 3 * kWindow;
}

}  // namespace

// ---- launches and blocks ----------------------------------------------------------------------------
void Profile::begin_launch(const Routine& entry, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes) {
  launches_.emplace_back();
  current_ = &launches_.back();
  KernelProfile& p = *current_;
  entry.name.copy(p.kernel, sizeof(p.kernel) - 1);
  const unsigned sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  std::copy(sizes, sizes + 3, p.grid);
  std::copy(sizes + 3, sizes + 6, p.block);
  p.shared_bytes = entry.shared_bytes + dynamic_shared_bytes;
  const std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
  const unsigned threads = block.x * block.y * block.z;
  p.warps = blocks * ((threads + kLanes - 1) / kLanes);

  const unsigned resident = std::clamp(kThreads / threads, 1u, kBlocks);
  concurrent_ = std::min<std::uint64_t>(blocks, std::uint64_t(resident) * device_.multiprocessors);
  const std::uint64_t taken = p.shared_bytes * resident;
  const std::uint64_t left = device_.level1_bytes > taken ? device_.level1_bytes - taken : 0;
  const std::uint64_t lines = std::max<std::uint64_t>(left / resident >> kLineBits, kWays);
  level1_.resize(std::bit_floor(lines));
  next_way_.resize(level1_.size() / kWays);
  loads_.resize((threads + kLanes - 1) / kLanes);
  // A routine of an unloaded module may have left its address to another one.
  classes_.clear();
  routine_ = nullptr;
  atomics_ = {};
  ++launch_;
  block_ = 0;
}

void Profile::begin_block() {
  ++block_;
  std::fill(level1_.begin(), level1_.end(), Line());
  std::fill(next_way_.begin(), next_way_.end(), std::uint8_t(0));
  for (Loads& l : loads_) {
    l.clear();
    l.groups.clear();
    l.group_is_open = false;
  }
}

void Profile::end_launch() {
  for (const auto& [sector, lanes] : atomics_.by_sector)
    current_->atomic_busiest = std::max(current_->atomic_busiest, lanes);
  current_->atomic_addresses = atomics_.by_address.size();
}

// ---- instructions -----------------------------------------------------------------------------------
const std::vector<Profile::StepClass>& Profile::classes_of(const Routine& routine) {
  if (routine_ == &routine) return *known_;
  std::vector<StepClass>& all = classes_[&routine];
  if (all.empty()) {
    Merged merged;
    for (std::size_t k = 0; k < routine.texts.size(); ++k) {
      const std::string& text = routine.texts[k];
      all.push_back({class_of(text), is_store(text), is_read_only_load(text)});
      if (k < routine.steps.size())
        merged.find(text, routine.steps[k].to[0], std::span(routine.steps[k].from).first(2), all.back().kind);
    }
    all.back().kind = InstructionClass::control;  // the end of the routine, which has no instruction
  }
  routine_ = &routine;
  known_ = &all;
  return all;
}

void Profile::count(const Warp& w, const Step& s, Mask lanes) {
  const Routine& routine = *w.frame->routine;
  const StepClass what = classes_of(routine)[static_cast<std::size_t>(&s - routine.steps.data())];
  follow_loads(w, s, lanes, what);
  if (lanes != 0) follow_copies(w, s);
  KernelProfile& p = *current_;
  p.lanes += static_cast<unsigned>(std::popcount(lanes));
  if (s.kind == Kind::barrier) p.barriers += lanes != 0;
  if (s.kind == Kind::branch && s.guard != kTrue) {
    ++p.branches;
    p.divergent_branches += lanes != 0 && lanes != w.paths[static_cast<std::size_t>(w.current)].lanes;
  }
  if (what.kind == InstructionClass::global || what.kind == InstructionClass::atomic) {
    if (lanes != 0) memory(w, s, lanes, what);
  } else {
    ++of(p, what.kind);
  }
}

// ---- waiting for loads ------------------------------------------------------------------------------
void Profile::Loads::set(std::int32_t number, State s) {
  if (number < 0) return;  // a constant
  const auto at = static_cast<std::size_t>(number);
  if (at >= state.size()) state.resize(at + 1, none);
  if (state[at] == none && s != none) touched.push_back(number);
  state[at] = s;
}
void Profile::Loads::clear() {
  for (std::int32_t number : touched) state[static_cast<std::size_t>(number)] = none;
  touched.clear();
  waited = stored = any_pending = false;
}

void Profile::follow_loads(const Warp& w, const Step& s, Mask lanes, StepClass what) {
  Loads& loads = loads_[w.number];
  if (loads.frame != w.frame) {
    if (loads.any_pending) ++current_->load_waits;
    loads.clear();
    loads.frame = w.frame;
  }
  const Routine& routine = *w.frame->routine;
  const Flow& flow = routine.flows[static_cast<std::size_t>(&s - routine.steps.data())];
  const auto state_of = [&](std::int32_t number) {
    const auto at = static_cast<std::size_t>(number);
    return number >= 0 && at < loads.state.size() ? loads.state[at] : Loads::none;
  };
  bool depends = false;
  for (std::int32_t number : flow.reads) {
    if (state_of(number) == Loads::none) continue;
    depends = true;
    if (state_of(number) != Loads::pending || !loads.any_pending) continue;
    ++current_->load_waits;
    loads.waited = true;
    loads.any_pending = false;
    for (std::int32_t other : loads.touched) loads.state[static_cast<std::size_t>(other)] = Loads::loaded;
  }
  if (lanes != 0 && reaches_global(w, s, lanes, what.kind)) {
    const bool brings = !what.stores && s.to[0] >= 0;
    const bool together = loads.waited && !depends && (!loads.stored || what.read_only);
    for (std::int32_t number : flow.writes)
      if (brings) loads.set(number, together ? Loads::loaded : Loads::pending);
    loads.any_pending = loads.any_pending || (brings && !together);
    loads.stored = loads.stored || what.stores || what.kind == InstructionClass::atomic;
  } else {
    for (std::int32_t number : flow.writes)
      if (depends || state_of(number) != Loads::none) loads.set(number, depends ? Loads::loaded : Loads::none);
  }
  const bool forward = s.kind == Kind::branch && s.target > &s - routine.steps.data();
  if (s.kind == Kind::plain || s.kind == Kind::sync || forward) return;
  loads.waited = loads.stored = false;  // a round of a loop ends, or all warps meet
  std::erase_if(loads.touched, [&](std::int32_t number) {
    Loads::State& state = loads.state[static_cast<std::size_t>(number)];
    if (state == Loads::loaded) state = Loads::none;
    return state == Loads::none;
  });
}

// A copy is a wait unless the warp has executed enough instructions since.
void Profile::follow_copies(const Warp& w, const Step& s) {
  Loads& l = loads_[w.number];
  ++l.executed;
  switch (copy_action(s)) {
    case CopyAction::none: return;
    case CopyAction::begins:
      l.last_copy = l.executed;
      l.group_is_open = true;
      return;
    case CopyAction::ends_group:
      l.groups.push_back(l.group_is_open ? l.last_copy : 0);
      l.group_is_open = false;
      return;
    case CopyAction::waits: break;
  }
  const bool all = groups_left(s) < 0;
  if (all && l.group_is_open) l.groups.push_back(l.last_copy);
  if (all) l.group_is_open = false;
  const std::size_t left = all ? 0 : std::min(std::size_t(groups_left(s)), l.groups.size());
  const auto complete = l.groups.end() - std::ptrdiff_t(left);
  for (auto group = l.groups.begin(); group != complete; ++group)
    if (*group != 0 && l.executed - *group < kHidden) {
      ++current_->load_waits;
      break;
    }
  l.groups.erase(l.groups.begin(), complete);
}

// A copy reads global memory and writes shared memory.
void Profile::copy(const Warp& w, const Step& s, Mask lanes) {
  Addresses from{}, to{};
  Mask reading = 0;
  each_lane(lanes, [&](unsigned lane) {
    to[lane] = address_of(w, s, lane);
    from[lane] = copy_source(w, s, lane);
    reading |= Mask(copy_reads(w, s, lane)) << lane;
  });
  ++of(*current_, InstructionClass::global);
  if (reading != 0) global(from, reading, s.bytes, true, false, copy_is_cached(s));
  shared(to, lanes, s.bytes, false);
}

// Counts a load, store or atomic operation by the space of its address.
void Profile::memory(const Warp& w, const Step& s, Mask all_lanes, StepClass what) {
  if (copy_action(s) == CopyAction::begins) return copy(w, s, all_lanes);
  const Mask lanes = lanes_with_addresses(s, all_lanes);
  Space space = s.space;
  Addresses addresses{};
  each_lane(lanes, [&](unsigned lane) { addresses[lane] = address_of(w, s, lane); });
  if (space == Space::generic) {
    const std::uint64_t at = addresses[static_cast<std::size_t>(std::countr_zero(lanes))] - shared_window();
    space = at >= 3 * kWindow  ? Space::global
            : at < kWindow     ? Space::shared
            : at < 2 * kWindow ? Space::local
                               : Space::entry_param;
  }
  const bool atomic_access = what.kind == InstructionClass::atomic;
  const std::size_t bytes = std::size_t(s.bytes) * s.count;
  switch (space) {
    case Space::global:
      ++of(*current_, what.kind);
      global(addresses, lanes, bytes, !what.stores, atomic_access);
      if (atomic_access) atomic(addresses, lanes);
      break;
    case Space::shared:
      ++of(*current_, InstructionClass::shared);
      shared(addresses, lanes, bytes, atomic_access);
      break;
    case Space::local: ++of(*current_, InstructionClass::local); break;
    default: ++of(*current_, InstructionClass::move); break;
  }
}

// ---- global memory ----------------------------------------------------------------------------------
void Profile::find_sectors(const Addresses& addresses, Mask lanes, std::size_t bytes) {
  sectors_.clear();
  bool ascending = true;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t last = (addresses[lane] + bytes - 1) >> kSectorBits;
    for (std::uint64_t sector = addresses[lane] >> kSectorBits; sector <= last; ++sector) {
      if (!sectors_.empty() && sectors_.back() == sector) continue;
      ascending = ascending && (sectors_.empty() || sectors_.back() < sector);
      sectors_.push_back(sector);
    }
  });
  if (ascending) return;
  std::sort(sectors_.begin(), sectors_.end());
  sectors_.erase(std::unique(sectors_.begin(), sectors_.end()), sectors_.end());
}

// The number of different lines among the sectors.
std::uint64_t Profile::lines() const {
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < sectors_.size(); ++k)
    count += k == 0 || sectors_[k] >> (kLineBits - kSectorBits) != sectors_[k - 1] >> (kLineBits - kSectorBits);
  return count;
}

void Profile::global(const Addresses& addresses, Mask lanes, std::size_t bytes, bool loads, bool atomic, bool level1) {
  find_sectors(addresses, lanes, bytes);
  KernelProfile& p = *current_;
  const std::uint64_t asked = bytes * static_cast<unsigned>(std::popcount(lanes));
  const bool partial = asked < sectors_.size() << kSectorBits;
  if (atomic) {
    ++p.atomic_requests;
    p.atomic_sectors += sectors_.size();
    for (std::uint64_t sector : sectors_) access(sector, true, true);
  } else if (loads) {
    ++p.load_requests;
    p.load_bytes += asked;
    p.load_sectors += sectors_.size();
    p.load_lines += level1 ? lines() : 1;  // what goes past level 1 occupies its unit for the request alone
    for (std::uint64_t sector : sectors_) {
      if (level1 && in_level1(sector)) continue;
      ++p.load_fetches;
      p.partial_sectors += partial;
      access(sector, true, false);
    }
  } else {
    ++p.store_requests;
    p.store_bytes += asked;
    p.store_sectors += sectors_.size();
    p.store_lines += lines();
    p.partial_sectors += partial ? sectors_.size() : 0;
    for (std::uint64_t sector : sectors_) access(sector, false, true);
  }
}

// Returns whether the sector is there; afterwards it is.
bool Profile::in_level1(std::uint64_t sector) {
  const std::uint64_t line = sector >> (kLineBits - kSectorBits), sets = next_way_.size();
  const auto set = static_cast<std::size_t>((line * 0x9E3779B97F4A7C15u >> 40) & (sets - 1));
  const auto bit = static_cast<std::uint8_t>(1u << (sector & 3));
  Line* const first = &level1_[set * kWays];
  for (Line* way = first; way != first + kWays; ++way) {
    if (way->sectors == 0 || way->tag != line) continue;
    const bool found = (way->sectors & bit) != 0;
    way->sectors |= bit;
    return found;
  }
  Line& victim = first[next_way_[set]++ % kWays];
  victim = {line, bit};
  return false;
}

Profile::Stamp& Profile::stamp_of(std::uint64_t sector) {
  const std::uint64_t number = sector / kPageSectors;
  if (number != page_number_) {
    std::vector<Stamp>& page = pages_[number];
    if (page.empty()) page.resize(kPageSectors);
    page_number_ = number;
    page_ = page.data();
  }
  return page_[sector % kPageSectors];
}

// An access that reaches the level-2 cache.
void Profile::access(std::uint64_t sector, bool reads, bool writes) {
  Stamp& stamp = stamp_of(sector);
  KernelProfile& p = *current_;
  const bool first = stamp.launch == 0;
  const std::uint64_t between = moved_ - stamp.moved;
  const bool same_block = stamp.launch == launch_ && stamp.block == block_;
  const bool gone = first || ((same_block ? between * concurrent_ : between) << kSectorBits) > device_.level2_bytes;
  if (first) stamp.input = reads;
  if (first && reads) ++p.input_sectors;
  if (gone && reads) {
    ++p.memory_reads;
    ++moved_;
  }
  if (writes) {
    if (gone || stamp.written == 0) {
      ++p.memory_writes;
      ++moved_;
    }
    if (stamp.input != 0 && stamp.written == 0) ++p.changed_inputs;
    stamp.written = 1;
  }
  stamp.moved = moved_;
  stamp.launch = launch_;
  stamp.block = block_ & ((1u << 30) - 1);
}

void Profile::atomic(const Addresses& addresses, Mask lanes) {
  Addresses sorted{};
  std::size_t n = 0;
  each_lane(lanes, [&](unsigned lane) {
    sorted[n++] = addresses[lane];
    ++atomics_.by_sector[addresses[lane] >> kSectorBits];
    ++atomics_.by_address[addresses[lane]];
  });
  std::sort(sorted.begin(), sorted.begin() + std::ptrdiff_t(n));
  std::uint64_t busiest = 0;
  for (std::size_t k = 0, same = 0; k < n; ++k) {
    same = k > 0 && sorted[k] == sorted[k - 1] ? same + 1 : 1;
    busiest = std::max<std::uint64_t>(busiest, same);
  }
  current_->atomic_lanes += n;
  current_->atomic_meetings += busiest;
}

// ---- shared memory ----------------------------------------------------------------------------------
// Each of the 32 banks gives 4 bytes in a pass; lanes that read one word share it. Accesses of 8 and 16 bytes are made
// for half and a quarter of a warp at a time. Atomic operations on one word take a pass each.
void Profile::shared(const Addresses& addresses, Mask lanes, std::size_t bytes, bool atomic) {
  const unsigned words = static_cast<unsigned>((bytes + 3) / 4), group = kLanes / std::max(words, 1u);
  for (unsigned begin = 0; begin < kLanes; begin += group) {
    std::array<std::uint64_t, 4 * kLanes> used;
    std::size_t n = 0;
    for (unsigned lane = begin; lane < begin + group; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      for (unsigned k = 0; k < words; ++k) used[n++] = addresses[lane] / 4 + k;
    }
    if (n == 0) continue;
    std::sort(used.begin(), used.begin() + std::ptrdiff_t(n));
    if (!atomic)
      n = static_cast<std::size_t>(std::unique(used.begin(), used.begin() + std::ptrdiff_t(n)) - used.begin());
    std::array<unsigned, 32> of_bank{};
    unsigned passes = 0;
    for (std::size_t k = 0; k < n; ++k) passes = std::max(passes, ++of_bank[used[k] % 32]);
    current_->shared_passes += passes;
    ++current_->shared_least_passes;
  }
  ++current_->shared_requests;
}

// ---- the active profile -----------------------------------------------------------------------------
Profile* active_profile() { return counting ? holder().get() : nullptr; }
void start_profile(const ProfiledDevice& device) {
  holder() = std::make_unique<Profile>(device);
  counting = true;
}
void stop_profile() { counting = false; }
std::vector<KernelProfile> profiled_launches() {
  return holder() != nullptr ? holder()->launches() : std::vector<KernelProfile>();
}

}  // namespace cuda_device::ptx
