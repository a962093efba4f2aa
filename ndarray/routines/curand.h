// The generators of cuRAND, in addition to the library's own Philox (routines/random.h), which needs no vendor library
// and gives the same numbers everywhere. On the CPU, cuRAND's host generators give the same sequences without a GPU.
//
//   nd::cuda::CurandGenerator g(nd::cuda::CurandMethod::xorwow, {.seed = 42});
//   g.normal(x, 0, 1);   // fills x, float32 or float64
//
// Arrays are filled in C order; they must be C-contiguous and on the generator's device (ValueError), of a dtype named
// with the function (TypeError). On CUDA the work is enqueued on the current stream, after the generator's earlier work
// on other streams. (Except in a captured graph: the program must order the replay of the graph with draws on other
// streams.) RuntimeError if cuRAND is not available.
//
// Thread safety: one generator must not be used by two threads at once.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/api/curand.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {

enum class CurandMethod : int {
  pseudo_default = api::curand_pseudo_default,  // XORWOW
  xorwow = api::curand_xorwow,
  mrg32k3a = api::curand_mrg32k3a,
  mtgp32 = api::curand_mtgp32,
  mt19937 = api::curand_mt19937,
  philox4_32_10 = api::curand_philox4_32_10,
  quasi_default = api::curand_quasi_default,  // Sobol32
  sobol32 = api::curand_sobol32,
  scrambled_sobol32 = api::curand_scrambled_sobol32,
  sobol64 = api::curand_sobol64,
  scrambled_sobol64 = api::curand_scrambled_sobol64,
};
// For pseudo-random methods: the assignment of the numbers of the sequence to threads. `best`, `seeded` and `dynamic`
// may change between versions of the library.
enum class CurandOrdering : int {
  best = api::curand_order_best,
  standard = api::curand_order_default,
  seeded = api::curand_order_seeded,
  legacy = api::curand_order_legacy,
  dynamic = api::curand_order_dynamic,
  quasi = api::curand_order_quasi_default,
};

struct CurandOptions {
  std::optional<std::uint64_t> seed = {};  // pseudo-random methods; default: the fixed seed of the library
  std::uint64_t offset = 0;                // numbers of the sequence to skip; not for mtgp32 and mt19937
  std::optional<CurandOrdering> ordering = {};
  unsigned dimensions = 1;  // quasi-random methods: 1 to 20000
};

class CATENA_EXPORT CurandGenerator {
 public:
  // ValueError for an unknown method or options that the method does not have.
  explicit CurandGenerator(CurandMethod method = CurandMethod::pseudo_default, const CurandOptions& options = {},
                           nd::Device device = current_device());

  CurandGenerator(CurandGenerator&&) noexcept = default;
  CurandGenerator& operator=(CurandGenerator&&) noexcept = default;

  CurandMethod method() const noexcept { return method_; }
  nd::Device device() const noexcept { return device_; }

  // set_seed continues at the start of that seed's sequence, set_offset at that position of the current sequence,
  // set_ordering in that order. ValueError for a method without the property.
  void set_seed(std::uint64_t seed);
  void set_offset(std::uint64_t offset);
  void set_ordering(CurandOrdering ordering);

  // Random bits: uint32, or uint64 for the two 64-bit quasi-random methods.
  void generate(const Array& out);
  // Uniform in (0, 1]: float32 or float64.
  void uniform(const Array& out);
  // float32 or float64. ValueError unless the number of elements is even (pseudo-random) or a multiple of the
  // dimensions (quasi-random), and for a negative deviation. lognormal gives exp of a normal number with that mean and
  // deviation.
  void normal(const Array& out, double mean = 0, double deviation = 1);
  void lognormal(const Array& out, double mean = 0, double deviation = 1);
  // uint32. ValueError unless lambda > 0.
  void poisson(const Array& out, double lambda);

 private:
  struct Handle;
  bool is_quasi() const noexcept { return static_cast<int>(method_) >= api::curand_quasi_default; }
  void prepare(const char* op, const Array& out) const;
  template <class Call> void fill(const char* name, std::size_t n, Call&& call);
  void check_normal(const char* op, const Array& out, double deviation) const;

  CurandMethod method_;
  nd::Device device_;
  unsigned dimensions_;
  std::optional<CurandOrdering> ordering_;  // the chosen ordering
  catena::Shared<Handle> handle_;           // also kept by graphs in which it was captured
};

}  // namespace nd::cuda
