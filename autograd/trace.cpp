#include <catena/autograd/trace.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace autograd {

namespace {

std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : catena::printable(std::string(text))) {
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

std::string inputs_of(const Arrays& arrays) { return catena::concat("{\"inputs\": ", quoted(shapes_of(arrays)), '}'); }

}  // namespace

Trace::Trace(TraceOptions options) : options_(options), began_(nanoseconds()), hook_(*this) {
  if (!options_.kernels && !options_.memory) return;
  if (ProfileExtension* const source = default_backend().extension<ProfileExtension>(Device()))
    watch_ = source->watch(*this);
}

Trace::~Trace() { watch_ = {}; }

double Trace::now() const { return 1e-3 * double(nanoseconds() - began_); }

void Trace::open(std::string name, std::string_view category, std::string arguments) {
  open_.push_back(events_.size());
  events_.push_back({std::move(name), category, now(), -1, std::move(arguments)});
}

void Trace::close(bool wait) {
  if (open_.empty()) return;
  const Device device = wait && options_.synchronize ? default_backend().default_device() : Device();
  if (device.kind != Device::Kind::cpu) default_backend().synchronize(device);
  Event& event = events_[open_.back()];
  event.duration = now() - event.start;
  open_.pop_back();
}

void Trace::begin_range(std::string name, std::string_view category) { open(std::move(name), category); }
void Trace::end_range() { close(true); }

void Trace::forward_preprocess(const FunctionNode& function, const Arrays& in_data) {
  open(function.label(), "forward", inputs_of(in_data));
}
void Trace::forward_postprocess(const FunctionNode&, const Arrays&) { close(true); }
void Trace::backward_preprocess(const FunctionNode& function, const Arrays&, const Arrays& out_grad) {
  open(function.label() + ".backward", "backward", inputs_of(out_grad));
}
void Trace::backward_postprocess(const FunctionNode&, const Arrays&, const Arrays&) { close(true); }
void Trace::failed(const FunctionNode&) noexcept { close(false); }

void Trace::operation_begin(std::string_view name) {
  if (options_.kernels) open(std::string(name), "kernel");
}

void Trace::copy_begin(Device to, Device from, std::size_t bytes) {
  if (options_.kernels)
    open("copy", "copy", catena::concat("{\"to\": ", quoted(catena::concat(to)), ", \"from\": ", quoted(catena::concat(from)),
                                        ", \"bytes\": ", bytes, '}'));
}

void Trace::end() {
  if (options_.kernels) close(true);
}

void Trace::count_memory(Device device, std::int64_t change) {
  if (!options_.memory) return;
  auto found = std::find_if(in_use_.begin(), in_use_.end(), [&](const auto& of) { return of.first == device; });
  if (found == in_use_.end()) found = in_use_.insert(in_use_.end(), {device, 0});
  found->second += change;
  memory_.push_back({device, now(), found->second});
}
void Trace::allocated(Device device, std::size_t bytes, std::size_t) { count_memory(device, std::int64_t(bytes)); }
void Trace::freed(Device device, std::size_t bytes) { count_memory(device, -std::int64_t(bytes)); }

std::string Trace::json() const {
  std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char* separator = "\n";
  const auto add = [&](const auto&... parts) {
    out += catena::concat(std::exchange(separator, ",\n"), parts...);
  };
  for (const Event& e : events_) {
    if (e.duration < 0) continue;
    add("{\"name\": ", quoted(e.name), ", \"cat\": \"", e.category, "\", \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": ",
        catena::fixed_text(e.start, 3), ", \"dur\": ", catena::fixed_text(e.duration, 3),
        e.arguments.empty() ? "" : ", \"args\": ", e.arguments, '}');
  }
  for (const MemoryPoint& m : memory_)
    add("{\"name\": ", quoted(catena::concat("memory ", m.device)), ", \"ph\": \"C\", \"pid\": 1, \"ts\": ",
        catena::fixed_text(m.time, 3), ", \"args\": {\"bytes\": ", m.bytes, "}}");
  return out + "\n]}\n";
}

}  // namespace autograd
