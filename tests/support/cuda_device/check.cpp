#include <catena/tests/support/cuda_device/check.h>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <sstream>
#include <unordered_map>

#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/jit.h>
#include <catena/tests/support/cuda_device/memory.h>
#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device {
namespace {

constexpr std::uintptr_t kGranule = 8, kShadowPage = 4096;  // in bytes of memory

struct Access {
  const void* code;
  std::uint32_t actor;  // index in Check::actors
  std::uint8_t bytes;   // bit mask of the granule's bytes
  bool write;
};

// The last accesses to a granule. If there are more, the oldest is dropped: an error may then be missed, but none is
// reported wrongly.
struct Cell {
  std::array<Access, 4> accesses{};
  std::uint32_t count = 0;
};
using ShadowPage = std::array<Cell, kShadowPage / kGranule>;

// The data of an actor that has ended.
struct Past {
  std::string text, what;
  std::size_t slot;
  std::uint64_t position;
};

struct Check {
  std::atomic<bool> on{instruments_kernels()};
  std::deque<Past> actors;
  std::unordered_map<std::uintptr_t, std::unique_ptr<ShadowPage>> shadow;
  const Allocation* last = nullptr;  // allocation of the last access, as a cache of find_allocation
};
Check& check() {
  static Check& c = *new Check;
  return c;
}

thread_local Actor* current = nullptr;

bool knows(const Clock& clock, const Past& past) {
  return past.slot < clock.size() && clock[past.slot] >= past.position;
}

std::string place_of(const void* code) {
  const std::string line = code == nullptr ? "" : source_line(code);
  return line.empty() ? line : " at " + line;
}

void fail(Actor& actor, const std::string& text) {
  actor.failed = true;
  report(text);
}

// True if the address is host memory that a kernel may access: its arguments, the memory of its block, the variables of
// its code and of the engine.
bool is_own_memory(const Actor& actor, const void* address, const void* code) {
  const auto within = [address](const void* data, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(data) < bytes;
  };
  if (within(actor.arguments, actor.argument_bytes) || within(&shim::place(), sizeof(shim::Place))) return true;
  const shim::Running* running = shim::running();
  if (running != nullptr && (running->stacks.contains(address) || running->shared.contains(address))) return true;
  Dl_info data{}, kernel{}, engine{};
  if (dladdr(address, &data) == 0) return false;
  return (dladdr(code, &kernel) != 0 && kernel.dli_fbase == data.dli_fbase) ||
         (dladdr(reinterpret_cast<void*>(&begin_actor), &engine) != 0 && engine.dli_fbase == data.dli_fbase);
}

// True if the bytes are in an allocation in use.
bool is_allocated(const void* address, std::size_t bytes) {
  Check& c = check();
  if (c.last != nullptr && c.last->live && c.last->contains(address, bytes)) return true;
  const Allocation* found = find_allocation(address, bytes);
  if (found != nullptr && found->kind != Allocation::Kind::global) c.last = found;
  return found != nullptr;
}

void report_unordered(Actor& actor, const Access& earlier, const void* address, bool write, const void* code) {
  const Past& other = check().actors[earlier.actor];
  std::ostringstream out;
  out << other.text << " and " << actor.text() << " use the same memory and nothing orders them: " << address << ", "
      << describe_address(address) << "\n  " << other.what << (earlier.write ? " writes" : " reads")
      << place_of(earlier.code) << "\n  " << actor.what << (write ? " writes" : " reads") << place_of(code);
  fail(actor, out.str());
}

void access_granule(Actor& actor, Cell& cell, const Access& access, const void* address) {
  std::uint32_t kept = 0;
  for (std::uint32_t k = 0; k < cell.count; ++k) {
    const Access& a = cell.accesses[k];
    const bool ordered = a.actor == access.actor || knows(*actor.clock, check().actors[a.actor]);
    if (!ordered && (a.bytes & access.bytes) != 0 && (a.write || access.write) && !actor.failed)
      report_unordered(actor, a, address, access.write, access.code);
    // An access that is ordered after the new access is also ordered after this old one, so the old one need not be
    // kept.
    if (ordered && (a.bytes & ~access.bytes) == 0 && (access.write || !a.write)) continue;
    cell.accesses[kept++] = a;
  }
  if (kept == cell.accesses.size()) {
    std::move(cell.accesses.begin() + 1, cell.accesses.end(), cell.accesses.begin());
    --kept;
  }
  cell.accesses[kept] = access;
  cell.count = kept + 1;
}

}  // namespace

void join(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (std::size_t k = 0; k < other.size(); ++k) into[k] = std::max(into[k], other[k]);
}

std::string Actor::text() const {
  std::ostringstream out;
  out << what << " on stream " << stream;
  return out.str();
}

void begin_actor(Actor* actor) {
  current = actor;
  if (check_mode()) check().actors.push_back({actor->text(), actor->what, actor->slot, actor->position});
}
void end_actor() { current = nullptr; }
Actor* current_actor() { return current; }

bool check_mode() { return check().on; }
void set_check_mode(bool on) { check().on = on; }

void check_access(const void* address, std::size_t bytes, bool write, const void* code_address) {
  if (!check_mode() || current == nullptr || current->failed || check().actors.empty()) return;
  Actor& actor = *current;
  if (!is_allocated(address, bytes)) {
    if (!is_reserved(address) && (!actor.kernel || is_own_memory(actor, address, code_address))) return;
    std::ostringstream out;
    out << actor.text() << (write ? " writes " : " reads ") << bytes << " bytes at " << address << ", "
        << describe_address(address) << place_of(code_address);
    return fail(actor, out.str());
  }
  const auto number = static_cast<std::uint32_t>(check().actors.size() - 1);
  const auto first = reinterpret_cast<std::uintptr_t>(address), last = first + bytes;
  ShadowPage* page = nullptr;
  for (std::uintptr_t granule = first / kGranule; granule * kGranule < last; ++granule) {
    const std::uintptr_t start = granule * kGranule;
    if (page == nullptr || start % kShadowPage == 0) {
      std::unique_ptr<ShadowPage>& entry = check().shadow[start / kShadowPage];
      if (entry == nullptr) entry = std::make_unique<ShadowPage>();
      page = entry.get();
    }
    std::uint8_t mask = 0;
    for (std::uintptr_t b = 0; b < kGranule; ++b)
      mask |= static_cast<std::uint8_t>((start + b >= first && start + b < last) << b);
    access_granule(actor, (*page)[start % kShadowPage / kGranule], {code_address, number, mask, write},
                   reinterpret_cast<const void*>(std::max(first, start)));
  }
}

void forget_accesses(const void* data, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(data);
  for (std::uintptr_t at = first / kGranule * kGranule; at < first + bytes && !check().shadow.empty(); at += kGranule) {
    const auto page = check().shadow.find(at / kShadowPage);
    if (page != check().shadow.end()) (*page->second)[at % kShadowPage / kGranule].count = 0;
  }
}

}  // namespace cuda_device
