// Prints the errors of sums, statistics, products and normalizations compared with float64, one line each:
//   dtype <tab> operation <tab> numbers <tab> error
// numpy_errors.py prints the same for NumPy; table.py makes the table of docs/accuracy.md.
//
//   CATENA_DEVICE=cpu accuracy_errors [--most 1e8]
//
// An error is relative to the exact result for the stored numbers; the error of a normalization is the largest one of
// its elements, whose deviation is 1. Sums, means and products use positive numbers around 0.1; the printed error is
// the larger one of two sets, one of equal numbers, whose rounding errors all have one sign, and one of different
// numbers. Variances and normalizations use numbers of deviation 1 around 10000 (float32) or 8 (16 bits).
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <catena/catena.h>

namespace {

using autograd::Variable;
using nd::Array;
using nd::Dtype;

constexpr std::int64_t kPiece = 1 << 20;  // elements that are held in host vectors at a time

// Returns a number in [0, 1), the same as in numpy_errors.py.
double fraction(std::int64_t i) { return double((std::uint64_t(i) * 2654435761u) % (1u << 24)) / double(1 << 24); }

template <class F> Array numbers(std::int64_t n, Dtype dtype, F&& value) {
  const Array a = nd::empty({n}, dtype);
  for (std::int64_t begin = 0; begin < n; begin += kPiece) {
    std::vector<float> x;
    for (std::int64_t i = begin; i < std::min(n, begin + kPiece); ++i) x.push_back(float(value(i)));
    a(nd::Slice(begin, begin + std::int64_t(x.size()))) = nd::array(x);
  }
  return a;
}
std::vector<float> stored(const Array& a) { return a.astype(Dtype::float32).to_vector<float>(); }
std::vector<float> stored(const Array& a, std::int64_t begin) {
  return stored(a(nd::Slice(begin, std::min(begin + kPiece, a.size()))));
}

// Returns the sum of f(i) in double precision, computed in parts.
template <class F> double total(std::int64_t n, F&& f) {
  constexpr std::int64_t kPart = 4096;
  double all = 0;
  for (std::int64_t begin = 0; begin < n; begin += kPart) {
    double part = 0;
    for (std::int64_t i = begin; i < std::min(n, begin + kPart); ++i) part += f(std::size_t(i));
    all += part;
  }
  return all;
}
// Returns the sum of f(x) over the elements of an array.
template <class F> double total_of(const Array& a, F&& f) {
  double all = 0;
  for (std::int64_t begin = 0; begin < a.size(); begin += kPiece) {
    const std::vector<float> x = stored(a, begin);
    all += total(std::int64_t(x.size()), [&](std::size_t i) { return f(double(x[i])); });
  }
  return all;
}
double error(double got, double exact) { return std::abs(got / exact - 1); }

class Errors {
 public:
  explicit Errors(Dtype dtype) : dtype_(dtype) {}

  void of_sums(std::int64_t n) const {
    double sum = 0, mean = 0, dot = 0, matmul = 0;
    for (const bool equal : {true, false}) {
      const Array a = numbers(n, dtype_, [&](std::int64_t i) { return equal ? 0.1 : 0.05 + 0.1 * fraction(i); });
      const std::vector<float> x = stored(a);
      const double exact = total(n, [&](std::size_t i) { return double(x[i]); });
      sum = std::max(sum, error(a.sum().item<double>(), exact));
      mean = std::max(mean, error(a.mean().item<double>(), exact / double(n)));
      dot = std::max(dot, error(nd::dot(a, a).item<double>(),
                                total(n, [&](std::size_t i) { return double(x[i]) * double(x[i]); })));
      matmul = std::max(matmul, of_matrices(a, x, n / kSide));
    }
    print("sum", n, sum);
    print("mean", n, mean);
    print("dot", n, dot);
    print("matmul", n, matmul);
  }

  void of_statistics(std::int64_t n) const {
    const double center = dtype_ == Dtype::float32 ? 1e4 : 8;
    const Array a = numbers(n, dtype_, [&](std::int64_t i) { return center + std::sqrt(3.0) * (2 * fraction(i) - 1); });
    const double mean = total_of(a, [](double x) { return x; }) / double(n);
    const double var = total_of(a, [&](double x) { return (x - mean) * (x - mean); }) / double(n);
    print("var", n, error(a.var().item<double>(), var));
    const auto farthest = [&](const Variable& result) {
      const Array normalized = Array(result.data()).reshape({n});
      double most = 0;
      for (std::int64_t begin = 0; begin < n; begin += kPiece) {
        const std::vector<float> x = stored(a, begin), y = stored(normalized, begin);
        for (std::size_t i = 0; i < y.size(); ++i)
          most = std::max(most, std::abs(double(y[i]) - (double(x[i]) - mean) / std::sqrt(var + kEps)));
      }
      return most;
    };
    const auto no_graph = autograd::no_backprop_mode();
    const auto parameter = [&](double value, std::int64_t length) {
      return Variable(nd::broadcast_to(nd::full({1}, value, dtype_), {length}));  // takes no memory
    };
    print("batch norm", n,
          farthest(
              nn::batch_normalization(Variable(a.reshape({n, 1})), parameter(1, 1), parameter(0, 1), {.eps = kEps})));
    print("layer norm", n,
          farthest(nn::layer_normalization(Variable(a.reshape({1, n})), parameter(1, n), parameter(0, n), kEps,
                                           nn::EpsAddedTo::variance)));
  }

 private:
  static constexpr std::int64_t kSide = 8;  // rows and columns of the product
  static constexpr double kEps = 1e-5;

  static double of_matrices(const Array& a, const std::vector<float>& x, std::int64_t k) {
    const Array all = a(nd::Slice(0, kSide * k));
    const std::vector<float> c = stored(nd::matmul(all.reshape({kSide, k}), all.reshape({k, kSide})));
    double most = 0;
    for (std::int64_t i = 0; i < kSide; ++i)
      for (std::int64_t j = 0; j < kSide; ++j) {
        const double exact = total(k, [&](std::size_t p) {
          return double(x[std::size_t(i * k) + p]) * double(x[p * kSide + std::size_t(j)]);
        });
        most = std::max(most, error(c[std::size_t(i * kSide + j)], exact));
      }
    return most;
  }
  void print(const char* operation, std::int64_t n, double e) const {
    std::cout << catena::name_of(dtype_) << '\t' << operation << '\t' << n << '\t' << e << std::endl;
  }

  Dtype dtype_;
};

void run(int argc, char** argv) {
  double most = 1e8;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) != "--most") throw std::invalid_argument(std::string("unknown option ") + argv[i]);
    most = std::stod(argv[i + 1]);
  }
  std::cout << std::scientific << std::setprecision(1);
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16})
    for (double n = 1e3; n <= most; n *= 10) {
      Errors(dtype).of_sums(std::int64_t(n));
      Errors(dtype).of_statistics(std::int64_t(n));
    }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "accuracy_errors: " << e.what() << '\n';
    return 1;
  }
}
