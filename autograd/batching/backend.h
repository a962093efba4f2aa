// Folder autograd/batching: a backend whose arrays stand for one array per example of a batch, for autograd::vmap. It
// may use autograd, its extensions and autograd/backend; only vmap.cpp includes it.
//
// BatchBackend: a function of one example, computed for all examples at once. Its arrays have the shape of one example;
// behind them is an array of another backend with the examples along a first axis, or a single copy if all examples
// have the same values. A call on such arrays becomes one call on all examples where the call has a form with one more
// axis, and one call per example where it has none. Arrays of the other backend are the same for all examples.
//
// While a BatchScope exists, the backend takes the place of all others on its thread (ScopedBackend). The values of an
// array that differ between the examples cannot be read: to_host() throws.
#pragma once

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/scoped_backend.h>
#include <catena/autograd/linalg_extension.h>
#include <catena/autograd/nn_extension.h>
#include <catena/kernels/base/pointers.h>

namespace autograd::internal {

// The memory of a batched array. The addresses of `data` belong to no memory: they only give the places of views.
struct BatchStorage : catena::Storage {
  Array all;  // C-contiguous (examples or 1, elements); null before the first write
  bool batched = false;
  bool borrowed = false;  // `all` belongs to the caller: a rule must not reuse it for its result
  Dtype dtype = Dtype::float32;
  std::uint64_t scope = 0;  // the number of the scope that made it
  std::int64_t elements = 0;

  std::int64_t stride() const noexcept { return batched ? std::int64_t(bytes) : 0; }
};

class BatchBackend final : public Backend {
 public:
  BatchBackend();

  // Begins and ends a scope. `model` is an array of the backend that computes.
  void begin(std::int64_t examples, const Array& model, bool same_random);
  void end() noexcept;

  std::int64_t examples() const noexcept { return examples_; }
  // Returns a scope in which arrays of the backend that computes are used.
  ScopedBackend leave() const noexcept { return ScopedBackend(outer_); }

  // The following functions are called within leave().
  bool is_batched(const catena::ArrayHeader& a) const { return a.owner == &owner_ && storage_of(a).batched; }
  bool is_batched(const Array& a) const { return a && is_batched(*a.get()); }
  // Returns the array of one example.
  Array one(const catena::ArrayHeader& a, std::int64_t example);
  // Returns the arrays of all examples as (examples, 1, ..., shape) with rank + 1 axes. The first axis has the length 1
  // if the examples have the same values, or, with `expanded`, the stride 0.
  Array all(const catena::ArrayHeader& a, int rank, bool expanded = false);
  Array all(const Array& a) { return all(*a.get(), a.ndim()); }
  Array expanded(const Array& a) { return all(*a.get(), a.ndim(), true); }
  // Returns an array of the examples a[i], of which there are examples() or 1.
  Array wrap(const Array& a);

  std::string_view name() const override { return "batch"; }
  Device default_device() override;
  Device exchange_default_device(Device device) override;
  Array empty(const Shape& shape, Dtype dtype, Device device) override;
  Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) override;
  void to_host(const Array& a, void* data) override;
  Array to_device(const Array& a, Device device) override;
  void synchronize(Device device) override;
  bool owns_memory(const Array& a) override;
  Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) override;
  void execute(const catena::Call& call) override;

 protected:
  void* find_extension(std::string_view name, Device device) override;

 private:
  class Views;

  BatchStorage& storage_of(const catena::ArrayHeader& a) const;
  Array new_array(const Shape& shape, Dtype dtype, Device device, const Array& all);
  void check_active() const;
  // Makes the memory of an array that a call writes: for all examples if `batched`.
  void prepare(catena::ArrayHeader* out, bool batched);
  bool any_batched(std::span<const Input> inputs) const;
  // Calls f(views) for every example, or once if nothing differs between them.
  template <class F> void each(bool batched, F f);
  // Calls f(views) once for all examples if `together`, else as each().
  template <class F> void together_or_each(bool together, bool batched, F f);
  template <class C> void run_along_axis(const C& call);

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
  void run_indexed(const catena::call::Elementwise& call, bool batched);
  bool run_by_image(const catena::call::Elementwise& call);

  catena::ArrayOwner owner_{"vmap"};
  Backend* inner_ = nullptr;
  Backend* outer_ = nullptr;  // the scoped backend outside of the scope
  std::int64_t examples_ = 0;
  std::uint64_t scope_ = 0;  // 0: none
  bool same_random_ = false;
  catena::Owned<NnExtension> nn_;
  catena::Owned<LinalgExtension> linalg_;
};

// Lets a thread compute for `examples` examples until the end of the scope.
class BatchScope {
 public:
  BatchScope(std::int64_t examples, const Array& model, bool same_random);
  ~BatchScope();
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;

  // Returns the array of which example i is a[i].
  Array split(const Array& a);
  // Returns (examples, shape): the opposite of split().
  Array joined(const Array& a);

 private:
  BatchBackend& backend_;
  const ScopedBackend here_;
};

// Operations of neural networks and of linear algebra. The inner backend computes them on images or matrices of all
// examples.
catena::Owned<NnExtension> batch_nn_extension(BatchBackend& backend);
catena::Owned<LinalgExtension> batch_linalg_extension(BatchBackend& backend);

}  // namespace autograd::internal
