#include <catena/autograd/trace.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/profile_extension.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/trace_track.h>
#include <catena/kernels/base/clock.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace autograd {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : catena::printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\t') out += c == '\n' ? "\\n" : "\\t";
    else out += c;
  }
  return out + '"';
}

// The shapes of the inputs of a function: "(32, 784), (10, 784)".
std::string shapes_of(const Arrays& arrays) {
  std::string text;
  for (const Array& a : arrays)
    text = catena::concat(text, text.empty() ? "" : ", ", a ? catena::concat(a.shape()) : std::string("None"));
  return text;
}

std::string arguments_of(const internal::TraceRange& r) {
  std::string text;
  if (r.bytes >= 0) text = catena::concat("\"bytes\": ", r.bytes);
  if (!r.detail.empty()) text = catena::concat(text, text.empty() ? "" : ", ", "\"detail\": ", quoted(r.detail));
  return text.empty() ? text : catena::concat(", \"args\": {", text, '}');
}

std::string inputs_of(const Arrays& arrays) { return catena::concat("{\"inputs\": ", quoted(shapes_of(arrays)), '}'); }

}  // namespace

// Records functions as a hook, and the work of the array library as a sink of its profile extension.
class Trace::Recorder final : FunctionHook, ProfileSink {
 public:
  explicit Recorder(TraceOptions options);

  void open(std::string name, std::string_view category, std::string arguments = {});
  void close(bool wait);
  std::string json() const;

 private:
  struct Event {
    std::string name;
    std::string_view category;
    double start, duration;  // microseconds; duration < 0: open
    std::string arguments;   // JSON
  };
  struct MemoryPoint {
    Device device;
    double time;
    std::int64_t bytes;
  };
  std::string name() const override { return "Trace"; }
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void backward_preprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void backward_postprocess(const FunctionNode& function, const Arrays& in_data, const Arrays& out_grad) override;
  void failed(const FunctionNode& function) noexcept override;
  void operation_begin(std::string_view name) override;
  void copy_begin(Device to, Device from, std::size_t bytes) override;
  void end() override;
  void allocated(Device device, std::size_t bytes, std::size_t acquired) override;
  void freed(Device device, std::size_t bytes) override;
  double now() const;
  void note_device(Device device);
  void note_device(const Arrays& arrays);
  void count_memory(Device device, std::int64_t change);

  TraceOptions options_;
  std::int64_t began_;  // nanoseconds
  Device device_;       // events end when its work has: the last device that was not a CPU
  std::vector<Event> events_;
  std::vector<std::size_t> open_;  // indices of open ranges, the innermost one last
  std::vector<MemoryPoint> memory_;
  std::vector<std::pair<Device, std::int64_t>> in_use_;  // bytes since the trace began
  HookScope hook_;
  catena::Owned<ProfileExtension::Watch> watch_;
  catena::Shared<internal::TraceTrack> track_ = catena::Shared<internal::TraceTrack>::make();
  internal::TraceTrack::Scope track_scope_{track_};
};

Trace::Recorder::Recorder(TraceOptions options)
    : options_(options), began_(catena::internal::steady_nanoseconds()), hook_(*this) {
  note_device(default_backend().default_device());
  if (!options_.kernels && !options_.memory) return;
  if (ProfileExtension* const source = default_backend().extension<ProfileExtension>(Device()))
    watch_ = source->watch(*this);
}

double Trace::Recorder::now() const { return 1e-3 * double(catena::internal::steady_nanoseconds() - began_); }

void Trace::Recorder::open(std::string name, std::string_view category, std::string arguments) {
  open_.push_back(events_.size());
  events_.push_back({std::move(name), category, now(), -1, std::move(arguments)});
}

void Trace::Recorder::note_device(Device device) {
  if (device.kind != Device::Kind::cpu) device_ = device;
}
void Trace::Recorder::note_device(const Arrays& arrays) {
  for (const Array& a : arrays)
    if (a) note_device(a.device());
}

void Trace::Recorder::close(bool wait) {
  if (open_.empty()) return;
  const std::size_t at = open_.back();
  open_.pop_back();
  const auto end = [&] { events_[at].duration = now() - events_[at].start; };
  end();  // in case waiting throws an error of earlier work
  if (!wait || !options_.synchronize || device_.kind == Device::Kind::cpu) return;
  default_backend().synchronize(device_);
  end();
}

void Trace::Recorder::forward_preprocess(const FunctionNode& function, const Arrays& in_data) {
  note_device(in_data);
  open(function.label(), "forward", inputs_of(in_data));
}
void Trace::Recorder::forward_postprocess(const FunctionNode&, const Arrays&) { close(true); }
void Trace::Recorder::backward_preprocess(const FunctionNode& function, const Arrays&, const Arrays& out_grad) {
  note_device(out_grad);
  open(function.label() + ".backward", "backward", inputs_of(out_grad));
}
void Trace::Recorder::backward_postprocess(const FunctionNode&, const Arrays&, const Arrays&) { close(true); }
void Trace::Recorder::failed(const FunctionNode&) noexcept { close(false); }

void Trace::Recorder::operation_begin(std::string_view name) {
  if (options_.kernels) open(std::string(name), "kernel");
}

void Trace::Recorder::copy_begin(Device to, Device from, std::size_t bytes) {
  note_device(from);
  note_device(to);
  if (options_.kernels)
    open("copy", "copy",
         catena::concat("{\"to\": ", quoted(catena::concat(to)), ", \"from\": ", quoted(catena::concat(from)),
                        ", \"bytes\": ", bytes, '}'));
}

void Trace::Recorder::end() {
  if (options_.kernels) close(true);
}

void Trace::Recorder::count_memory(Device device, std::int64_t change) {
  if (!options_.memory) return;
  auto found = std::find_if(in_use_.begin(), in_use_.end(), [&](const auto& of) { return of.first == device; });
  if (found == in_use_.end()) found = in_use_.insert(in_use_.end(), {device, 0});
  found->second += change;
  memory_.push_back({device, now(), found->second});
}
void Trace::Recorder::allocated(Device device, std::size_t bytes, std::size_t) {
  note_device(device);
  count_memory(device, std::int64_t(bytes));
}
void Trace::Recorder::freed(Device device, std::size_t bytes) { count_memory(device, -std::int64_t(bytes)); }

std::string Trace::Recorder::json() const {
  std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char* separator = "\n";
  const auto add = [&](const auto&... parts) { out += catena::concat(std::exchange(separator, ",\n"), parts...); };
  for (const Event& e : events_) {
    if (e.duration < 0) continue;
    add("{\"name\": ", quoted(e.name), ", \"cat\": \"", e.category,
        "\", \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": ", catena::fixed_text(e.start, 3),
        ", \"dur\": ", catena::fixed_text(e.duration, 3), e.arguments.empty() ? "" : ", \"args\": ", e.arguments, '}');
  }
  std::vector<std::string> threads;  // names of the rows after the first one, which has none
  for (const internal::TraceRange& r : track_->ranges()) {
    const auto known = std::find(threads.begin(), threads.end(), r.thread);
    const std::ptrdiff_t tid = r.thread.empty() ? 1 : 2 + (known - threads.begin());
    if (!r.thread.empty() && known == threads.end()) {
      threads.push_back(r.thread);
      add("{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": ", tid,
          ", \"args\": {\"name\": ", quoted(r.thread), "}}");
    }
    add("{\"name\": ", quoted(r.name), ", \"cat\": \"", r.category, "\", \"ph\": \"X\", \"pid\": 1, \"tid\": ", tid,
        ", \"ts\": ", catena::fixed_text(1e-3 * double(r.begin - began_), 3),
        ", \"dur\": ", catena::fixed_text(1e-3 * double(r.end - r.begin), 3), arguments_of(r), '}');
  }
  for (const MemoryPoint& m : memory_)
    add("{\"name\": ", quoted(catena::concat("memory ", m.device)),
        ", \"ph\": \"C\", \"pid\": 1, \"ts\": ", catena::fixed_text(m.time, 3), ", \"args\": {\"bytes\": ", m.bytes,
        "}}");
  return out + "\n]}\n";
}

Trace::Trace(TraceOptions options) : recorder_(new Recorder(options)) {}
Trace::~Trace() = default;
void Trace::begin_range(std::string name, std::string_view category) { recorder_->open(std::move(name), category); }
void Trace::end_range() { recorder_->close(true); }
std::string Trace::json() const { return recorder_->json(); }

}  // namespace autograd
