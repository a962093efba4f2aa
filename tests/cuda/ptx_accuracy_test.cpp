// Rows whose bodies avoid cancellation, overflow and the loss of small factors, against formulas in long double: on the
// CPU and on the PTX that NVRTC makes, in every floating-point dtype. (That the two agree is ptx_loops_test.cpp's.)
#include <catena/tests/cuda/ptx_loops.h>

#include <catena/kernels/registry/kernel.h>

namespace {

using namespace ptx_loops;
using catena::Input;
using Wide = long double;

struct Format {
  int digits, least_exponent;
  double largest;
};
Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return {11, -13, 65504};
    case Dtype::bfloat16: return {8, -125, 3.38e38};
    case Dtype::float32: return {24, -125, 3.4028234e38};
    default: return {53, -1021, 1.797693134862315e308};
  }
}
// The unit in the last place of a number of that dtype near `exact`; never less than the smallest subnormal number.
Wide unit_of(Dtype dtype, Wide exact) {
  const Format f = format_of(dtype);
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(Wide(1), std::max(exact == 0 ? f.least_exponent : exponent, f.least_exponent) - f.digits);
}
double number(const std::byte* p, Dtype dtype) {
  double v = 0;
  catena::cast_function(dtype, Dtype::float64)(p, 0, reinterpret_cast<std::byte*>(&v), 8, 1);
  return v;
}
bool is_half(Dtype dtype) { return catena::itemsize(dtype) == 2; }

struct Row {
  const char* name;
  std::vector<std::vector<double>> operands;  // the same count for each
  double bound;                               // units in the last place of the dtype that is computed
  Wide (*oracle)(const Wide* x);
  // The value to which a unit refers besides the result: a larger number whose digits may cancel.
  Wide (*scale)(const Wide* x) = nullptr;
  bool has_exp = false;  // its body calls the device's exp
};

// The error that inexact approximations add on PTX to a kernel of float32 that calls exp: there ex2.approx is 2 units
// off, and 2 units of its result are up to 4 of a result in the upper half of a binade. No other kernel has an
// approximate instruction (rows of equal bits have none, and exp of float64 is made of sums and products).
double perturbation(const Row& row, Dtype computed, int device) {
  const bool on = std::getenv("CATENA_SOFTWARE_CUDA_PTX_PERTURB") != nullptr;
  return on && device == 1 && row.has_exp && computed == Dtype::float32 ? 4 : 0;
}

std::vector<double> steps(double low, double high, int n) {
  std::vector<double> v;
  for (int k = 0; k < n; ++k) v.push_back(low + (high - low) * k / (n - 1));
  return v;
}
std::vector<double> scaled(std::vector<double> v, double factor) {
  for (double& x : v) x *= factor;
  return v;
}

Wide logistic(Wide x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Wide sigmoid(const Wide* x) { return logistic(x[0]); }
Wide softplus_bwd(const Wide* x) { return x[2] * logistic(x[0] * x[1]); }
Wide elu_bwd(const Wide* x) { return x[2] * x[1] * std::exp(x[0]); }  // of negative numbers
Wide silu(const Wide* x) { return x[0] * logistic(x[0]); }
Wide normal_cdf(Wide x) { return std::erfc(-x / std::sqrt(Wide(2))) / 2; }
Wide gelu(const Wide* x) { return x[0] * normal_cdf(x[0]); }
Wide mish(const Wide* x) { return x[0] * std::tanh(std::log1p(std::exp(x[0]))); }
Wide logaddexp(const Wide* x) { return std::max(x[0], x[1]) + std::log1p(std::exp(-std::fabs(x[0] - x[1]))); }
Wide logaddexp2(const Wide* x) {
  return std::max(x[0], x[1]) + std::log1p(std::exp2(-std::fabs(x[0] - x[1]))) / std::log(Wide(2));
}
Wide hypotenuse(const Wide* x) { return std::hypot(x[0], x[1]); }
Wide larger_or_half(const Wide* x) { return std::max(std::fabs(std::max(x[0], x[1])), Wide(0.5)); }

// Beside ordinary points those at which other formulas are wrong: by tanh, logistic is off by 8 units at -3.5 and by
// one of bfloat16 at -14.
std::vector<Row> rows() {
  constexpr int n = 701;
  std::vector<double> x = steps(-80, 30, n), y = steps(3, -50, n);
  for (int k = 0; k < 4; ++k) {
    constexpr double at[] = {-3.5, -14.0, -0.0, 0.5};
    x[std::size_t(k)] = at[k];
    y[std::size_t(k)] = -at[k];
  }
  std::vector<double> sum_is_one, with;  // e^a + e^b
  for (double a : steps(-0.6931, -0.001, n)) sum_is_one.push_back(a), with.push_back(std::log(-std::expm1(a)));
  const auto all = [](double v) { return std::vector<double>(n, v); };
  const std::vector<double> below = steps(-20, -0.01, n), g = steps(-3, 3, n);
  constexpr double log2_e = 1.4426950408889634;
  std::vector<Row> rows = {
      {"sigmoid", {x}, 4, sigmoid, nullptr, true},
      {"softplus_bwd", {x, all(1), y}, 5, softplus_bwd, nullptr, true},
      {"elu_bwd", {below, all(1), g}, 4, elu_bwd, nullptr, true},
      {"elu_bwd", {below, all(1e-40), all(1e30)}, 4, elu_bwd, nullptr, true},
      {"elu_bwd", {below, all(1e30), all(1e-40)}, 4, elu_bwd, nullptr, true},
      {"elu_bwd", {below, all(1e-310), all(1e300)}, 4, elu_bwd, nullptr, true},
      {"silu", {x}, 5, silu, nullptr, true},
      {"mish", {x}, 6, mish, nullptr, true},
      // The exponent -x^2 / 2 is rounded: below -3 that costs more digits than all else.
      {"gelu", {steps(-3, 9, n)}, 12, gelu, nullptr, true},
      {"logaddexp", {x, y}, 2, logaddexp, larger_or_half},
      {"logaddexp", {sum_is_one, with}, 2, logaddexp, larger_or_half},
      {"logaddexp2", {x, y}, 2, logaddexp2, larger_or_half},
      {"logaddexp2", {scaled(sum_is_one, log2_e), scaled(with, log2_e)}, 2, logaddexp2, larger_or_half},
  };
  // Neither squares that overflow nor such as lose their digits, of float64 and of float32.
  for (const auto& [p, q] : {std::pair{0, 0}, std::pair{1016, 1017}, std::pair{-1040, -1035}, std::pair{-1065, -1065},
                             std::pair{121, 120}, std::pair{-140, -120}, std::pair{-143, -143}})
    rows.push_back({"hypot", {scaled(x, std::ldexp(1, p)), scaled(y, std::ldexp(1, q))}, 1.5, hypotenuse});
  return rows;
}

// 16-bit floats are computed in float32 and rounded once: half a unit, beside the error before it.
Wide allowed_of(const Row& row, Dtype dtype, int device, Wide exact, const Wide* x) {
  const Dtype computed = is_half(dtype) ? Dtype::float32 : dtype;
  const Wide scale = row.scale != nullptr ? std::max(row.scale(x), std::fabs(exact)) : exact;
  return (row.bound + perturbation(row, computed, device)) * unit_of(computed, scale) +
         (is_half(dtype) ? unit_of(dtype, exact) / 2 : Wide(0));
}

// Compares one loop of the row on one device; says what is furthest off.
void check(const Row& row, int loop, int device) {
  const KernelDef& def = catena::find_kernel(row.name);
  const Dtype dtype = def.loop_table[loop].type[0];
  const std::size_t item = catena::itemsize(dtype), n = row.operands[0].size();
  std::mt19937_64 none;
  std::vector<Operand> operands;
  for (const std::vector<double>& values : row.operands) {
    std::vector<std::byte> bytes(n * item);
    for (std::size_t i = 0; i < n; ++i) catena::Scalar(values[i]).store(dtype, bytes.data() + i * item);
    operands.push_back(make(dtype, {std::int64_t(n)}, Layout::contiguous, none, &bytes));
  }
  operands.push_back(make(dtype, {std::int64_t(n)}, Layout::contiguous, none));
  {
    const nd::DeviceScope scope(kDevices[device]);
    const catena::EagerProgram program(def, loop);
    std::vector<Input> in;
    for (int k = 0; k < def.nin; ++k) in.emplace_back(*operands[std::size_t(k)].on[device].get());
    const std::vector<catena::ArrayHeader*> out = {operands.back().on[device].get()};
    nd::internal::execute(catena::call::Elementwise{&program, in, out, def.name});
  }
  const std::vector<std::byte> result = content(operands.back().on[device]);
  std::vector<std::vector<std::byte>> given;
  for (int k = 0; k < def.nin; ++k) given.push_back(content(operands[std::size_t(k)].on[device]));
  double worst = 0;
  std::string at;
  for (std::size_t i = 0; i < n; ++i) {
    Wide x[3] = {};
    bool finite = true;
    for (std::size_t k = 0; k < given.size(); ++k) {
      x[k] = number(given[k].data() + i * item, dtype);
      finite = finite && std::isfinite(x[k]);
    }
    const Wide exact = row.oracle(x), y = number(result.data() + i * item, dtype);
    if (!finite || std::fabs(exact) > format_of(dtype).largest) continue;
    const double off =
        std::isfinite(y) ? double(std::fabs(y - exact) / allowed_of(row, dtype, device, exact, x)) : INFINITY;
    if (off > worst) {
      worst = off;
      at.clear();
      for (std::size_t k = 0; k < given.size(); ++k) at += catena::concat(double(x[k]), " ");
      at += catena::concat("gives ", double(y), ", not ", double(exact));
    }
  }
  BOOST_TEST(worst <= 1, row.name << " of " << dtype << " on " << (device == 0 ? "the CPU: " : "PTX: ") << worst
                                  << " of what is allowed: " << at);
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_without_cancellation_are_near_the_exact_result_on_both_devices) {
  for (const Row& row : rows())
    for (int loop = 0; loop < catena::find_kernel(row.name).num_loops; ++loop)
      for (int device = 0; device < 2; ++device) check(row, loop, device);
}
