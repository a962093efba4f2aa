// Named marks and ranges on the timeline of a profiler (NVTX). Without a profiler they do nothing, at negligible cost;
// no GPU is needed.
//
//   {
//     nd::TimeRange range("forward", {.color_id = 0});
//     y = model(x);
//   }
//   auto step = nd::time_range_decorator(update, {.message = "update"});   step(batch);
//
// Colours are ARGB. A colour id selects entry (id modulo 10) of: 00FF00, 007FFF, 7F00FF, FF0000, 7FFF00, 00FF7F,
// 0000FF, FF007F, FF7F00, 7F7F7F, all opaque; a negative id means no colour.
//
// Thread safety: all functions may be called from any thread; ranges nest within a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <catena/kernels/base/export.h>

namespace nd {
namespace nvtx {

// True if a profiler is attached.
CATENA_EXPORT bool is_listening();

// Marks a point in time.
CATENA_EXPORT void mark(const std::string& message, int id_color = -1);
CATENA_EXPORT void mark_c(const std::string& message, std::uint32_t color = 0);
// Begins a range of this thread, nested in the ranges that are open.
CATENA_EXPORT void range_push(const std::string& message, int id_color = -1);
CATENA_EXPORT void range_push_c(const std::string& message, std::uint32_t color = 0);
// Ends the innermost open range of this thread.
CATENA_EXPORT void range_pop();

}  // namespace nvtx

struct TimeRangeOptions {
  std::optional<int> color_id = {};
  std::optional<std::uint32_t> argb_color = {};  // ValueError together with color_id
};

// A range until the end of the scope, also when an exception ends it.
class CATENA_EXPORT TimeRange {
 public:
  explicit TimeRange(const std::string& message, const TimeRangeOptions& options = {});
  ~TimeRange() { nvtx::range_pop(); }
  TimeRange(const TimeRange&) = delete;
  TimeRange& operator=(const TimeRange&) = delete;
};

struct TimeRangeDecoratorOptions {
  std::string message = "call";
  TimeRangeOptions range = {};
};
// A function that calls `f` inside a range.
template <class F> auto time_range_decorator(F f, const TimeRangeDecoratorOptions& options = {}) {
  return [f = std::move(f), options]<class... A>(A&&... arguments) mutable -> decltype(auto) {
    const TimeRange range(options.message, options.range);
    return f(std::forward<A>(arguments)...);
  };
}

}  // namespace nd
