// Marks and ranges with names on the timeline of a profiler (NVTX). Without a profiler they do nothing and cost next to
// nothing; no GPU is needed.
//
//   {
//     nd::TimeRange range("forward", {.color_id = 0});
//     y = model(x);
//   }
//   auto step = nd::time_range_decorator(update, {.message = "update"});   step(batch);
//
// Colours are ARGB. A colour id picks entry id modulo 10 of: 00FF00, 007FFF, 7F00FF, FF0000, 7FFF00, 00FF7F, 0000FF,
// FF007F, FF7F00, 7F7F7F, all opaque; a negative one means no colour.
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

// Whether a profiler listens.
CATENA_EXPORT bool is_listening();

// A moment.
CATENA_EXPORT void mark(const std::string& message, int id_color = -1);
CATENA_EXPORT void mark_c(const std::string& message, std::uint32_t color = 0);
// A range of this thread, inside those that it opened before.
CATENA_EXPORT void range_push(const std::string& message, int id_color = -1);
CATENA_EXPORT void range_push_c(const std::string& message, std::uint32_t color = 0);
// Ends the range that was opened last.
CATENA_EXPORT void range_pop();

}  // namespace nvtx

struct TimeRangeOptions {
  std::optional<int> color_id = {};
  std::optional<std::uint32_t> argb_color = {};  // not both (ValueError)
};

// A range from here to the end of the scope, also when an exception ends it.
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
template <class F>
auto time_range_decorator(F f, const TimeRangeDecoratorOptions& options = {}) {
  return [f = std::move(f), options]<class... A>(A&&... arguments) mutable -> decltype(auto) {
    const TimeRange range(options.message, options.range);
    return f(std::forward<A>(arguments)...);
  };
}

}  // namespace nd
