#include <catena/autograd/capture.h>

#include <utility>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/flag.h>

namespace autograd {

DeviceExtension::~DeviceExtension() = default;
DeviceExtension::Recorded::~Recorded() = default;

// ---- watched arrays and values ------------------------------------------------------------------
namespace {

struct WatchedArray {
  std::string what;
  catena::Function<Array()> current;
  Array captured = {};
};
struct WatchedValue {
  std::string what;
  catena::Function<std::uint64_t()> current;
  std::uint64_t captured = 0;
};

bool is_same_memory(const Array& a, const Array& b) {
  if (a.get() == b.get()) return true;
  return a && b && a->data == b->data && a.device() == b.device() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

std::string describe(const Array& a) {
  if (!a) return "none";
  return catena::concat(static_cast<const void*>(a->data), " ", a.shape(), " ", a.dtype(), " on ", a.device());
}

}  // namespace

struct CapturedWork::Watched {
  std::vector<WatchedArray> arrays;
  std::vector<WatchedValue> values;
  bool train = internal::modes().train.config;
  std::optional<std::uint64_t> seed = {};  // set when the captured work draws random numbers

  void run(const catena::Function<void()>& f);
  // Calls differs(message) for the first difference.
  template <class F> bool is_current(F differs) const;
};

namespace {

constinit thread_local CapturedWork::Watched* watching = nullptr;

constinit thread_local std::uint64_t captures = 0;  // begun by this thread

struct WatchingScope {
  explicit WatchingScope(CapturedWork::Watched& w) {
    watching = &w;
    ++captures;
  }
  ~WatchingScope() { watching = nullptr; }
};

}  // namespace

void CapturedWork::Watched::run(const catena::Function<void()>& f) {
  const Generator before = default_generator();
  {
    const WatchingScope scope(*this);
    f();
  }
  if (default_generator().offset != before.offset) seed = default_generator().seed;
  for (WatchedArray& w : arrays) w.captured = w.current();
  for (WatchedValue& w : values) w.captured = w.current();
}

template <class F> bool CapturedWork::Watched::is_current(F differs) const {
  for (const WatchedArray& w : arrays) {
    const Array now = w.current();
    if (is_same_memory(now, w.captured)) continue;
    differs("the array of ", w.what, " was replaced since the capture (", describe(now), ", captured ",
            describe(w.captured), ")");
    return false;
  }
  for (const WatchedValue& w : values) {
    if (w.current() == w.captured) continue;
    differs(w.what, " changed since the capture");
    return false;
  }
  if (internal::modes().train.config != train) {
    differs("the mode train is ", !train ? "on" : "off", ", at the capture it was ", train ? "on" : "off");
    return false;
  }
  if (seed && default_generator().seed != *seed) {
    differs("the seed of the random generator is ", default_generator().seed, ", at the capture it was ", *seed);
    return false;
  }
  return true;
}

bool is_capturing() noexcept { return watching != nullptr; }
std::uint64_t internal::capture_number() noexcept { return watching != nullptr ? captures : 0; }

void watch_array(std::string what, catena::Function<Array()> current) {
  if (watching != nullptr) watching->arrays.push_back({std::move(what), std::move(current)});
}

void watch_value(std::string what, catena::Function<std::uint64_t()> current) {
  if (watching != nullptr) watching->values.push_back({std::move(what), std::move(current)});
}

// ---- captured work ------------------------------------------------------------------------------
CapturedWork::CapturedWork(catena::Function<void()> f, std::optional<Device> device) {
  const Device on = device ? *device : default_backend().default_device();
  auto* e = default_backend().extension<DeviceExtension>(on);
  if (e == nullptr) {
    f();
    f_ = std::move(f);
    return;
  }
  watched_ = catena::Owned<Watched>(new Watched);
  recorded_ = e->record(on, [&] { watched_->run(f); });
}
CapturedWork::~CapturedWork() = default;
CapturedWork::CapturedWork(CapturedWork&&) noexcept = default;
CapturedWork& CapturedWork::operator=(CapturedWork&&) noexcept = default;

void CapturedWork::replay() {
  if (!recorded_) return f_();
  watched_->is_current(
      [](const auto&... words) { catena::fail<catena::RuntimeError>("replay", words..., "; capture again"); });
  recorded_->replay();
}

bool CapturedWork::try_replay() {
  if (!recorded_) f_();
  else if (watched_->is_current([](const auto&...) {})) recorded_->replay();
  else return false;
  return true;
}

Operand live_scalar(Device device, std::uint64_t first, catena::Function<std::uint64_t()> refresh) {
  auto* e = default_backend().extension<DeviceExtension>(device);
  if (e == nullptr || !e->is_recording()) return catena::Scalar(first);
  return e->live_scalar(device, first, std::move(refresh));
}

}  // namespace autograd
