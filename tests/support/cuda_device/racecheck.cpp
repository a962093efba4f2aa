#include <catena/tests/support/cuda_device/racecheck.h>

#include <pthread.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/jit.h>
#include <catena/tests/support/cuda_device/record.h>
#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device {
namespace {

struct Access {
  shim::Moment at{};
  const void* code = nullptr;  // null: no access
};

bool unordered(const Access& a, const Access& b) {
  return a.code != nullptr && a.at.thread != b.at.thread && a.at.block_barriers == b.at.block_barriers &&
         (a.at.thread / 32 != b.at.thread / 32 || a.at.warp_barriers == b.at.warp_barriers);
}

// The accesses of one kind to a byte since the last barrier of the block, reduced to three. If any access is unordered
// with an access of another thread, one of these three is.
class Recent {
 public:
  void add(const Access& a) {
    if (last_.code == nullptr || last_.at.block_barriers != a.at.block_barriers) {
      *this = Recent();
    } else if (last_.at.thread / 32 != a.at.thread / 32) {
      other_warp_ = last_;
      other_lane_ = Access();
    } else if (last_.at.thread != a.at.thread) {
      other_lane_ = last_;
    }
    last_ = a;
  }
  const Access* unordered_with(const Access& a) const {
    for (const Access* mine : {&last_, &other_lane_, &other_warp_})
      if (unordered(*mine, a)) return mine;
    return nullptr;
  }

 private:
  Access last_;
  Access other_lane_;  // the last access of another thread of the same warp
  Access other_warp_;  // an access of another warp
};

struct Byte {
  Recent recent[3];  // by AccessKind
};

// The shadow memory for the shared memory of the calling host thread.
struct Shadow {
  shim::Range range;
  std::vector<Byte> bytes;
};
thread_local Shadow shadow;

constexpr const char* kVerbs[] = {"reads", "writes", "atomically changes"};

std::string thread_text(unsigned thread, dim3 block) {
  std::ostringstream text;
  text << "thread (" << thread % block.x << ", " << thread / block.x % block.y << ", " << thread / (block.x * block.y)
       << ")";
  return text.str();
}
// Returns the line of the instruction before the return address.
std::string line_of(const void* code) { return source_line(static_cast<const char*>(code) - 1); }

void report_race(std::size_t byte, const Access& earlier, AccessKind earlier_kind, const Access& later,
                 AccessKind kind) {
  const shim::Launch& launch = *shim::running()->launch;
  const uint3 b = shim::place().block;
  std::ostringstream text;
  text << "shared memory race in kernel " << launch.name << ", block (" << b.x << ", " << b.y << ", " << b.z
       << "): " << thread_text(earlier.at.thread, launch.block) << " " << kVerbs[static_cast<int>(earlier_kind)]
       << " byte " << byte << " of shared memory at " << line_of(earlier.code) << ", "
       << thread_text(later.at.thread, launch.block) << " " << kVerbs[static_cast<int>(kind)] << " it at "
       << line_of(later.code) << ", no barrier in between";
  report(text.str());
  if (Actor* actor = current_actor()) actor->failed = true;
}

void note_shared_access(const shim::Range& range, std::size_t first, std::size_t bytes, AccessKind kind,
                        const void* code) {
  if (shadow.range.begin != range.begin || shadow.range.end != range.end) {
    shadow.range = range;
    shadow.bytes.assign(static_cast<std::size_t>(range.end - range.begin), Byte());
  }
  const Access access{shim::moment(), code};
  for (std::size_t k = first; k < first + bytes && k < shadow.bytes.size(); ++k) {
    Byte& byte = shadow.bytes[k];
    for (AccessKind other : {AccessKind::write, AccessKind::atomic, AccessKind::read}) {
      if (other == kind && kind != AccessKind::write) continue;
      const Access* earlier = byte.recent[static_cast<int>(other)].unordered_with(access);
      if (earlier == nullptr) continue;
      report_race(k, *earlier, other, access, kind);
      byte = Byte();
      return;
    }
    byte.recent[static_cast<int>(kind)].add(access);
  }
}

// Returns the stack of the calling host thread.
shim::Range own_stack() {
  thread_local const shim::Range range = [] {
    pthread_attr_t attributes;
    void* begin = nullptr;
    std::size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    return shim::Range{static_cast<char*>(begin), static_cast<char*>(begin) + bytes};
  }();
  return range;
}

}  // namespace

void note_access(const void* address, std::size_t bytes, AccessKind kind, const void* code) {
  const shim::Running* running = shim::running();
  if (running == nullptr || running->stacks.contains(address) || own_stack().contains(address)) return;
  if (running->shared.contains(address))
    note_shared_access(running->shared,
                       static_cast<std::size_t>(static_cast<const char*>(address) - running->shared.begin), bytes, kind,
                       code);
  else check_access(address, bytes, kind != AccessKind::read, static_cast<const char*>(code) - 1);
}

}  // namespace cuda_device

void shim::note_atomic(const void* address, std::size_t bytes, const void* code) {
  const shim::Running* const running = shim::running();
  if (running == nullptr || !running->shared.contains(address)) cuda_device::count_atomic();
  if (cuda_device::instruments_kernels())
    cuda_device::note_access(address, bytes, cuda_device::AccessKind::atomic, code);
}

// ---- functions called by the instrumentation ----------------------------------------------------
// The compiler inserts the calls of the thread sanitizer, whose runtime does not support fibers and is not linked;
// these functions replace it.
#if !defined(__SANITIZE_THREAD__)
#define CATENA_HOOK(name, bytes, kind)                                                                    \
  SHIM_EXPORT void name(void* address) {                                                                  \
    cuda_device::note_access(address, bytes, cuda_device::AccessKind::kind, __builtin_return_address(0)); \
  }
#define CATENA_RANGE_HOOK(name, kind)                                                                     \
  SHIM_EXPORT void name(void* address, std::size_t bytes) {                                               \
    cuda_device::note_access(address, bytes, cuda_device::AccessKind::kind, __builtin_return_address(0)); \
  }
extern "C" {
SHIM_EXPORT void __tsan_init() {}
SHIM_EXPORT void __tsan_func_entry(void*) {}
SHIM_EXPORT void __tsan_func_exit() {}
CATENA_HOOK(__tsan_read1, 1, read)
CATENA_HOOK(__tsan_read2, 2, read)
CATENA_HOOK(__tsan_read4, 4, read)
CATENA_HOOK(__tsan_read8, 8, read)
CATENA_HOOK(__tsan_read16, 16, read)
CATENA_HOOK(__tsan_write1, 1, write)
CATENA_HOOK(__tsan_write2, 2, write)
CATENA_HOOK(__tsan_write4, 4, write)
CATENA_HOOK(__tsan_write8, 8, write)
CATENA_HOOK(__tsan_write16, 16, write)
CATENA_HOOK(__tsan_unaligned_read2, 2, read)
CATENA_HOOK(__tsan_unaligned_read4, 4, read)
CATENA_HOOK(__tsan_unaligned_read8, 8, read)
CATENA_HOOK(__tsan_unaligned_read16, 16, read)
CATENA_HOOK(__tsan_unaligned_write2, 2, write)
CATENA_HOOK(__tsan_unaligned_write4, 4, write)
CATENA_HOOK(__tsan_unaligned_write8, 8, write)
CATENA_HOOK(__tsan_unaligned_write16, 16, write)
CATENA_RANGE_HOOK(__tsan_read_range, read)
CATENA_RANGE_HOOK(__tsan_write_range, write)
}
#endif
