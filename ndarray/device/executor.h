// The operations that a device executes: the second of the two interfaces of a backend (runtime.h is the first).
// Operations are data (programs and bound calls of kernels), which execute() takes: a new operation needs no method of
// its own. elementwise_flat() and execute_in_order() are faster forms of calls that execute() also takes.
//
// Operands are bound: their shapes agree, outputs are allocated, overlap is resolved. Which dtypes they may have
// depends on the kind of call (kernels/registry/bound_call.h). The callers, mostly ndarray/engine/, have bound the
// operands. Implementations throw only because of resources: memory, device, status of a library.
#pragma once

#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/device/runtime.h>

namespace nd {

class TextKernels;

class CATENA_EXPORT Executor {
 public:
  virtual ~Executor();

  // CheckIndices: IndexError (catena::fail_index) for the first index that breaks the rule, thrown at once, or, by
  // devices that work asynchronously, from the next call that waits for the device. Factorize waits for the device, so
  // that the status of every matrix is available on return; RuntimeError that says what to install if the library for
  // factorizations is missing.
  virtual void execute(const catena::bound::Call& call, StreamRef stream) = 0;
  // As the elementwise program of one kernel, but without binding operands, which is faster for few elements. Returns
  // false, without executing anything, if the backend has no shorter way for this call.
  virtual bool elementwise_flat(const catena::bound::Flat&, StreamRef) { return false; }
  // Executes the program at the positions along the first axis of its loop in ascending order: a position reads what
  // earlier ones have written. Returns false, without executing anything, if the backend has no faster way than one
  // call of execute() per position.
  virtual bool execute_in_order(const catena::bound::Elementwise&, StreamRef) { return false; }

  // Returns the interface for kernels given as text (ndarray/device/text_kernels.h); null if the device cannot run
  // them.
  virtual TextKernels* text_kernels() noexcept { return nullptr; }
};

// Returns the executor of a kind of device; RuntimeError as runtime().
CATENA_EXPORT Executor& executor(Device::Kind kind);

}  // namespace nd
