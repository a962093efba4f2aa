#include <catena/ndarray/device/fft_plans.h>

#include <iterator>
#include <tuple>

#include <catena/kernels/base/shape.h>
#include <catena/kernels/base/text.h>

namespace nd::internal {

using catena::concat;
using catena::bound::FftKind;

namespace {

const char* name_of(FftKind kind) {
  switch (kind) {
    case FftKind::real_to_complex: return "real to ";
    case FftKind::complex_to_real: return "to real of ";
    default: return "";
  }
}

}  // namespace

std::shared_ptr<void> FftPlans::find(const FftPlanKey& key) {
  const std::lock_guard lock(mutex_);
  return move_to_front(key);
}

std::shared_ptr<void> FftPlans::move_to_front(const FftPlanKey& key) {
  for (auto it = entries_.begin(); it != entries_.end(); ++it)
    if (it->key == key) {
      entries_.splice(entries_.begin(), entries_, it);
      return it->plan;
    }
  return nullptr;
}

std::shared_ptr<void> FftPlans::keep(const FftPlanKey& key, std::shared_ptr<void> plan, std::size_t bytes) {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<void> other = move_to_front(key)) return other;
  entries_.push_front({key, plan, static_cast<std::int64_t>(bytes)});
  used_ += entries_.front().bytes;
  dropped = take_surplus();
  return plan;
}

std::list<FftPlans::Entry> FftPlans::take_surplus() {
  std::list<Entry> dropped;
  const auto count = [this] { return static_cast<std::int64_t>(entries_.size()); };
  while ((size_ != kNoLimit && count() > size_) || (bytes_ != kNoLimit && used_ > bytes_ && count() > 1)) {
    used_ -= entries_.back().bytes;
    dropped.splice(dropped.end(), entries_, std::prev(entries_.end()));
  }
  return dropped;
}

std::int64_t FftPlans::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}
std::int64_t FftPlans::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}
std::int64_t FftPlans::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(entries_.size());
}
std::int64_t FftPlans::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void FftPlans::set_size(std::int64_t size) {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  size_ = size;
  dropped = take_surplus();
}
void FftPlans::set_bytes(std::int64_t bytes) {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  bytes_ = bytes;
  dropped = take_surplus();
}
void FftPlans::clear() {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(entries_);
  used_ = 0;
}

std::string FftPlans::lines() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Entry& e : entries_) {
    catena::Shape lengths;
    for (const std::int64_t n : e.key.lengths)
      if (n != 1 || &n == &e.key.lengths[2]) lengths.push_back(n);
    text += concat("  ", name_of(e.key.kind), e.key.dtype, " ", lengths);
    if (e.key.rows != 0) text += concat(", ", e.key.rows, e.key.rows == 1 ? " row" : " rows");
    text += concat(": ", e.bytes, " bytes\n");
  }
  return text;
}

FftPlans& fft_plans(catena::Device device) {
  // Of each device; the limits of the CPU are those of its tables, the others are CuPy's.
  constexpr std::int64_t kHostPlans = 32, kHostBytes = std::int64_t(256) << 20, kCudaPlans = 16;
  static FftPlans& host = *new FftPlans(kHostPlans, kHostBytes);
  if (device.kind == catena::Device::Kind::cpu) return host;
  static std::mutex mutex;
  static std::list<std::pair<int, FftPlans>>& of_devices = *new std::list<std::pair<int, FftPlans>>;
  const std::lock_guard lock(mutex);
  for (auto& [id, plans] : of_devices)
    if (id == device.id) return plans;
  return of_devices
      .emplace_back(std::piecewise_construct, std::forward_as_tuple(device.id),
                    std::forward_as_tuple(kCudaPlans, FftPlans::kNoLimit))
      .second;
}

}  // namespace nd::internal
