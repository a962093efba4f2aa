// The calls of the call layer (execute.h), and the functions that they share: launching on the stream of a device, and
// copies of inputs that writing an output would change. Internal to ndarray/engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/call.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd::internal {

// One function for each kind of call; execute() chooses among them.
void run(const catena::call::Elementwise& call);
void run(const catena::call::Recurrence& call);
void run(const catena::call::Reduce& call);
void run(const catena::call::RowWise& call);
void run(const catena::call::RowWiseAndSums& call);
void run(const catena::call::Scan& call);
void run(const catena::call::MultiTensor& call);
void run(const catena::call::Gather& call);
void run(const catena::call::Scatter& call);
void run(const catena::call::CheckIndices& call);
void run(const catena::call::Sort& call);
void run(const catena::call::Join& call);
void run(const catena::call::CountPieces& call);
void run(const catena::call::Nonzero& call);
void run(const catena::call::Matmul& call);
void run(const catena::call::Random& call);

// ---- launching ----------------------------------------------------------------------------------
inline void record(StreamRef stream, const ArrayHeader& a) {
  if (a.storage != nullptr) MemoryPool::record_stream(*a.storage, stream);
}

// Increments the version; without an atomic read-modify-write if only this array refers to the storage.
inline void raise_version(const ArrayHeader& a) noexcept {
  catena::Storage* s = a.storage;
  if (s == nullptr) return;
  const bool alone = a.base == nullptr && !a.viewed.load(catena::MemoryOrder::relaxed);
  if (alone && s->refs.load(catena::MemoryOrder::relaxed) == 1)
    s->version.store(s->version.load(catena::MemoryOrder::relaxed) + 1, catena::MemoryOrder::relaxed);
  else s->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

inline Executor& cpu_executor() {
  static Executor& cpu = executor(Device::Kind::cpu);
  return cpu;
}

// Executes the bound call on the current stream of the device.
inline void launch(Device device, catena::call::Reads inputs, catena::call::Writes outputs,
                   const catena::bound::Call& call) {
  if (device.kind == Device::Kind::cpu) [[likely]] {
    cpu_executor().execute(call, StreamRef{device, nullptr});
  } else {
    const StreamRef stream = current_stream(device);
    for (const catena::Input& in : inputs)
      if (in.is_array()) record(stream, in.array());
    for (const ArrayHeader* out : outputs) record(stream, *out);
    executor(device.kind).execute(call, stream);
  }
  for (const ArrayHeader* out : outputs) raise_version(*out);
}

Device device_of(std::string_view op, catena::call::Reads inputs, catena::call::Writes outputs);

// ---- overlap ------------------------------------------------------------------------------------
catena::HeaderRef packed_copy(const ArrayHeader& a, Dtype dtype);

// The inputs of a call, in which arrays for which must_copy(k, array) is true are replaced by copies.
class InputsWithCopies {
 public:
  template <class F> InputsWithCopies(catena::call::Reads given, F&& must_copy) : inputs_(given) {
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!given[k].is_array() || !must_copy(k, given[k].array())) continue;
      if (replaced_.empty())
        for (const catena::Input& in : given) replaced_.push_back(in);
      copies_.push_back(packed_copy(given[k].array(), given[k].array().dtype));
      replaced_[k] = catena::Input(*copies_.back().get());
      inputs_ = replaced_;
    }
  }
  InputsWithCopies(const InputsWithCopies&) = delete;
  InputsWithCopies& operator=(const InputsWithCopies&) = delete;
  operator catena::call::Reads() const { return inputs_; }
  const catena::Input& operator[](std::size_t k) const { return inputs_[k]; }

 private:
  catena::call::Reads inputs_;
  catena::SmallVector<catena::Input, 8> replaced_;
  catena::SmallVector<catena::HeaderRef, 2> copies_;
};

// True if writing `outputs` element by element could change elements of `in` that have not been read yet. Any element
// of a raw operand may be read at any time.
bool would_overwrite(catena::call::Writes outputs, const ArrayHeader& in, bool raw);

// Executes an operation for which no input may share memory with `out`, because it reads inputs after it has begun to
// write: inputs that share bytes with the output are copied. bind(inputs) returns the bound call.
template <class F> void execute_disjoint(std::string_view op, catena::call::Reads given, ArrayHeader* out, F&& bind) {
  const catena::call::Writes outputs(&out, 1);
  const Device device = device_of(op, given, outputs);
  if (out->size == 0) return;
  const InputsWithCopies inputs(given, [&](std::size_t, const ArrayHeader& a) { return catena::share_bytes(a, *out); });
  launch(device, inputs, outputs, bind(inputs));
}

// ---- shapes -------------------------------------------------------------------------------------
catena::Strides strides_at(std::string_view op, const ArrayHeader& a, const catena::Shape& to);

}  // namespace nd::internal
