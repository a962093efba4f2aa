// The operations that a device executes: the second of the two interfaces of a backend (runtime.h is the first).
// Operations are data (programs and bound calls of kernels), so a new elementwise, indexed, reduction, scan or row-wise
// operation never adds a method here.
//
// Operands are bound: they have the dtypes of the loop, their shapes agree, outputs are allocated, overlap is resolved.
// ndarray/engine/execute.h does this and is the only caller. Implementations throw only because of resources: memory,
// device, status of a library.
#pragma once

#include <span>

#include <catena/kernels/registry/call.h>
#include <catena/ndarray/device/runtime.h>

namespace nd {

class TextKernels;
struct Factorize;

class CATENA_EXPORT Executor {
 public:
  virtual ~Executor();

  // Elementwise and indexed programs of one or several steps.
  virtual void elementwise(const catena::Program& program, std::span<const catena::BoundOperand> operands,
                           const catena::Shape& loop, StreamRef stream) = 0;
  // As elementwise() with the kernel's program, but without binding operands, which is faster for few elements. Returns
  // false, without executing anything, if the backend has no shorter way for this call.
  virtual bool elementwise_flat(const catena::bound::Flat&, StreamRef) { return false; }
  virtual void reduce(const catena::bound::Reduce& call, StreamRef stream) = 0;
  virtual void row_wise(const catena::bound::RowWise& call, StreamRef stream) = 0;
  // Executes catena::call::RowWiseAndSums. This implementation runs the row-wise kernel and then each sum.
  virtual void row_wise_and_sums(const catena::bound::RowWise& rows, std::span<const catena::bound::Reduce> sums,
                                 StreamRef stream);
  virtual void multi_tensor(const catena::call::MultiTensor& call, StreamRef stream) = 0;
  virtual void gather(const catena::bound::Gather& call, StreamRef stream) = 0;
  virtual void scatter(const catena::bound::Gather& call, catena::ScatterMode mode, StreamRef stream) = 0;
  // IndexError (catena::fail_index) for the first index that breaks the rule: thrown at once, or, by devices that work
  // asynchronously, from the next call that waits for the device.
  virtual void check_indices(const catena::bound::CheckIndices& call, StreamRef stream) = 0;
  virtual void scan(const catena::bound::Scan& call, StreamRef stream) = 0;
  virtual void sort(const catena::bound::Sort& call, StreamRef stream) = 0;
  virtual void join(const catena::bound::Join& call, StreamRef stream) = 0;
  virtual void nonzero(const catena::bound::Nonzero& call, StreamRef stream) = 0;
  virtual void matmul(const catena::bound::Matmul& call, StreamRef stream) = 0;
  virtual void random(const catena::bound::Random& call, StreamRef stream) = 0;
  // Waits for the device, so that the status of every matrix is available on return. RuntimeError that says what to
  // install if the library for factorizations is missing.
  virtual void factorize(const Factorize& call, StreamRef stream) = 0;

  // Returns the interface for kernels given as text (ndarray/device/text_kernels.h); null if the device cannot run
  // them.
  virtual TextKernels* text_kernels() noexcept { return nullptr; }
};

// Returns the executor of a kind of device; RuntimeError as runtime().
CATENA_EXPORT Executor& executor(Device::Kind kind);

}  // namespace nd
