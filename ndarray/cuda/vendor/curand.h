// The generators of cuRAND, beside the library's own Philox (routines/random.h), which needs no vendor library and
// gives the same numbers everywhere. On the CPU cuRAND's host generators run: the same sequences, and no GPU is needed
// for them.
//
//   nd::cuda::CurandGenerator g(nd::cuda::CurandMethod::xorwow, {.seed = 42});
//   g.normal(x, 0, 1);   // fills x, float32 or float64
//
// Arrays are filled in C order; they must be C-contiguous and on the generator's device (ValueError), of the dtype
// named with the function (TypeError). On CUDA the work is enqueued on the current stream. RuntimeError when cuRAND is
// not there.
//
// Thread safety: one generator must not be used by two threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/api/curand.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {

namespace api {
struct CurandFunctions {
  CATENA_CURAND_FUNCTIONS(CATENA_FIELD)
};
struct CurandNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CURAND_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Curand : api::CurandFunctions {
  std::string path;
  int version = 0;  // 10400
};
// RuntimeError "cuRAND is unavailable: libcurand.so.10 not found (tried: ...)", always with the same text.
CATENA_EXPORT const Curand& curand();

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
// Pseudo-random: which thread gives which number of the sequence. `best`, `seeded` and `dynamic` may change with the
// library's version.
enum class CurandOrdering : int {
  best = api::curand_order_best,
  standard = api::curand_order_default,
  seeded = api::curand_order_seeded,
  legacy = api::curand_order_legacy,
  dynamic = api::curand_order_dynamic,
  quasi = api::curand_order_quasi_default,
};

struct CurandOptions {
  std::optional<std::uint64_t> seed = {};  // pseudo-random methods; without one: the library's own, always the same
  std::uint64_t offset = 0;                // numbers of the sequence to leave out; not for mtgp32 and mt19937
  std::optional<CurandOrdering> ordering = {};
  unsigned dimensions = 1;  // quasi-random methods: 1 to 20000
};

class CATENA_EXPORT CurandGenerator {
 public:
  // ValueError for a method that does not exist or options that do not go with it.
  explicit CurandGenerator(CurandMethod method = CurandMethod::pseudo_default, const CurandOptions& options = {},
                           Device device = current_device());

  CurandMethod method() const noexcept { return method_; }
  Device device() const noexcept { return device_; }

  // What comes next is the start of that seed's sequence; the number of that place in the present one; numbers in that
  // order. ValueError for a method that has no such thing.
  void set_seed(std::uint64_t seed);
  void set_offset(std::uint64_t offset);
  void set_ordering(CurandOrdering ordering);

  // Random bits: uint32, or uint64 for the two 64-bit quasi-random methods.
  void generate(const Array& out);
  // On (0, 1]: float32 or float64.
  void uniform(const Array& out);
  // float32 or float64. ValueError unless the number of elements is even (pseudo-random) or a multiple of the
  // dimensions (quasi-random), and for a negative deviation. lognormal: exp of a normal number of that mean and
  // deviation.
  void normal(const Array& out, double mean = 0, double deviation = 1);
  void lognormal(const Array& out, double mean = 0, double deviation = 1);
  // uint32. ValueError unless lambda > 0.
  void poisson(const Array& out, double lambda);

 private:
  struct CATENA_EXPORT Destroy {
    Device device;
    void operator()(api::curand_generator generator) const noexcept;
  };
  bool is_quasi() const noexcept { return static_cast<int>(method_) >= api::curand_quasi_default; }
  void prepare(const char* op, const Array& out) const;
  void check_normal(const char* op, const Array& out, double deviation) const;

  CurandMethod method_;
  Device device_;
  unsigned dimensions_;
  std::unique_ptr<curandGenerator_st, Destroy> handle_;
};

}  // namespace nd::cuda
