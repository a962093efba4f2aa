#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/launch.h>

namespace nd::internal {

using catena::check;
using catena::Input;
using catena::Shape;
using catena::Strides;
using catena::ValueError;
using catena::call::Reads;
using catena::call::Writes;

Device device_of(std::string_view op, Reads inputs, Writes outputs) {
  OneDevice one(op);
  for (const ArrayHeader* out : outputs) one.add(out);
  for (const Input& in : inputs)
    if (in.is_array()) one.add(&in.array());
  return one.get();
}

catena::HeaderRef packed_copy(const ArrayHeader& a, Dtype dtype) {
  catena::HeaderRef copy(new_array(a.shape, dtype, a.device));
  convert_into("copy", Input(a), *copy.get());
  return copy;
}

bool would_overwrite(Writes outputs, const ArrayHeader& in, bool raw) {
  return std::any_of(outputs.begin(), outputs.end(), [&](const ArrayHeader* out) {
    return raw ? catena::share_bytes(in, *out) : &in != out && catena::overlaps(in, *out);
  });
}

Strides strides_at(std::string_view op, const ArrayHeader& a, const Shape& to) {
  return catena::broadcast_strides(op, a.shape, a.strides, to);
}

void check_output_layout(std::string_view op, const ArrayHeader& out) {
  if (out.c_contiguous) return;
  for (int i = 0; i < out.shape.size(); ++i)
    check<ValueError>(out.strides[i] != 0 || out.shape[i] <= 1 || out.size == 0, op, "the output of shape ", out.shape,
                      " and strides ", out.strides, " has elements that share memory");
}

Device OneDevice::get() const { return first_ ? *first_ : current_device(); }

void OneDevice::fail(Device other) const {
  catena::fail<ValueError>(op_, "arrays are on ", *first_, " and ", other,
                           "; all arrays of an operation must be on one device");
}

StreamRef stream_for(Device device) {
  return device.kind == Device::Kind::cpu ? StreamRef{device, nullptr} : current_stream(device);
}

void record_operands(StreamRef stream, std::span<const ArrayHeader* const> arrays) {
  if (stream.device.kind == Device::Kind::cpu) return;
  for (const ArrayHeader* a : arrays)
    if (a != nullptr) record(stream, *a);
}

void raise_versions(std::span<const ArrayHeader* const> arrays) noexcept {
  for (const ArrayHeader* a : arrays)
    if (a != nullptr) raise_version(*a);
}

}  // namespace nd::internal
