#include <catena/autograd/profile_hooks.h>

#include <algorithm>
#include <array>
#include <iostream>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/profile_extension.h>
#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace autograd {

namespace {

using Row = std::vector<std::string>;

// Prints rows of cells of one number, aligned to the right, with two spaces between columns, as Chainer does.
void print_table(std::ostream* file, const std::vector<Row>& rows) {
  const catena::BrokenPipeScope unread;
  std::ostream& out = file != nullptr ? *file : std::cout;
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i == 0 ? "" : "  ") + std::string(widths[i] - row[i].size(), ' ') + row[i];
    out << line << '\n';
  }
  out.flush();
}

// Returns the number in the largest unit in which it is at least 1, else in the last one.
template <std::size_t N>
std::string in_units(double value, const std::array<std::pair<double, const char*>, N>& units) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const auto& unit) { return value >= unit.first; });
  const auto& [size, name] = found != units.end() ? *found : units.back();
  return catena::fixed_text(value / size, 2) + name;
}

std::string time_text(double seconds) {
  return in_units(
      seconds, std::array<std::pair<double, const char*>, 4>{{{1, "sec"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}});
}

std::string size_text(std::int64_t bytes) {
  constexpr double k = 1024;
  return in_units(double(bytes), std::array<std::pair<double, const char*>, 5>{
                                     {{k * k * k * k, "TB"}, {k * k * k, "GB"}, {k * k, "MB"}, {k, "KB"}, {1, "B"}}});
}

// Adds to the total of a label, which is new at its first call.
template <class Total, class Add> void add_to(std::vector<Total>& totals, const std::string& function, const Add& add) {
  auto found = std::find_if(totals.begin(), totals.end(), [&](const Total& t) { return t.function == function; });
  if (found == totals.end()) {
    totals.emplace_back().function = function;
    found = totals.end() - 1;
  }
  add(*found);
  ++found->calls;
}

}  // namespace

std::vector<TimerHook::Total> TimerHook::summary() const {
  std::vector<Total> totals;
  for (const auto& [function, seconds] : call_history_)
    add_to(totals, function, [&, s = seconds](Total& t) { t.seconds += s; });
  return totals;
}

void TimerHook::print_report(std::ostream* file) const {
  std::vector<Row> rows = {{"FunctionName", "ElapsedTime", "Occurrence"}};
  for (const Total& t : summary())
    rows.push_back({catena::printable(t.function), time_text(t.seconds), std::to_string(t.calls)});
  print_table(file, rows);
}

// The bytes that this thread was given while functions run.
class MemoryProfileHook::Counter final : ProfileSink {
 public:
  struct Counts {
    std::int64_t used = 0, acquired = 0;
  };

  explicit Counter(ProfileExtension& source) : source_(source) {}
  void start() {
    if (started_.empty()) watch_ = source_.watch(*this);
    started_.push_back(now_);
  }
  // Returns the counts since the start, of which this is the end.
  Counts stop() noexcept {
    const Counts before = started_.back();
    started_.pop_back();
    if (started_.empty()) watch_ = {};
    return {now_.used - before.used, now_.acquired - before.acquired};
  }
  int depth() const noexcept { return int(started_.size()); }

 private:
  void allocated(Device, std::size_t bytes, std::size_t acquired) override {
    now_.used += std::int64_t(bytes);
    now_.acquired += std::int64_t(acquired);
  }

  ProfileExtension& source_;
  catena::Owned<ProfileExtension::Watch> watch_;  // while functions run
  Counts now_;
  std::vector<Counts> started_;
};

MemoryProfileHook::MemoryProfileHook() {
  ProfileExtension* const source = default_backend().extension<ProfileExtension>(Device());
  catena::check<catena::RuntimeError>(source != nullptr, "MemoryProfileHook", "the array library ",
                                      default_backend().name(), " does not report its allocations");
  counter_ = catena::Owned<Counter>(new Counter(*source));
}
MemoryProfileHook::~MemoryProfileHook() = default;

void MemoryProfileHook::stop(const FunctionNode& function) {
  const Counter::Counts counts = counter_->stop();
  call_history_.push_back({function.label(), counts.used, counts.acquired, counter_->depth()});
}

void MemoryProfileHook::forward_preprocess(const FunctionNode&, const Arrays&) { counter_->start(); }
void MemoryProfileHook::forward_postprocess(const FunctionNode& function, const Arrays&) { stop(function); }
void MemoryProfileHook::backward_preprocess(const FunctionNode&, const Arrays&, const Arrays&) { counter_->start(); }
void MemoryProfileHook::backward_postprocess(const FunctionNode& function, const Arrays&, const Arrays&) {
  stop(function);
}
void MemoryProfileHook::failed(const FunctionNode&) noexcept { counter_->stop(); }

std::int64_t MemoryProfileHook::total_used_bytes() const noexcept {
  std::int64_t sum = 0;
  for (const Call& call : call_history_) sum += call.depth == 0 ? call.used_bytes : 0;
  return sum;
}

std::int64_t MemoryProfileHook::total_acquired_bytes() const noexcept {
  std::int64_t sum = 0;
  for (const Call& call : call_history_) sum += call.depth == 0 ? call.acquired_bytes : 0;
  return sum;
}

std::vector<MemoryProfileHook::Total> MemoryProfileHook::summary() const {
  std::vector<Total> totals;
  for (const Call& call : call_history_)
    add_to(totals, call.function, [&](Total& t) {
      t.used_bytes += call.used_bytes;
      t.acquired_bytes += call.acquired_bytes;
    });
  return totals;
}

void MemoryProfileHook::print_report(std::ostream* file) const {
  std::vector<Row> rows = {{"FunctionName", "UsedBytes", "AcquiredBytes", "Occurrence"}};
  for (const Total& t : summary())
    rows.push_back(
        {catena::printable(t.function), size_text(t.used_bytes), size_text(t.acquired_bytes), std::to_string(t.calls)});
  print_table(file, rows);
}

}  // namespace autograd
