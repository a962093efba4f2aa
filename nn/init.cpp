#include <catena/nn/init.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <catena/kernels/base/error.h>

namespace nn::init {
namespace {

void assign_values(const Array& to, const std::vector<double>& values) {
  autograd::assign(to, autograd::array(values, to.shape(), to.device()));
}

}  // namespace

void kaiming_uniform_(const Variable& w, const KaimingOptions& options) {
  internal::fill("kaiming_uniform_", w, initializers::KaimingUniform(options));
}
void kaiming_normal_(const Variable& w, const KaimingOptions& options) {
  internal::fill("kaiming_normal_", w, initializers::KaimingNormal(options));
}

void internal::fill(const char* name, const Variable& w, const Initializer& initializer) {
  catena::check<catena::ValueError>(bool(w.data()), name,
                                    "the parameter has no values yet: call the layer once before, give it its sizes, ",
                                    "or give it an initializer (.initialW)");
  initializer(w.data());
}

void uniform_(const Variable& w, double a, double b) {
  catena::check<catena::ValueError>(a <= b, "uniform_", "the bounds are ", a, " and ", b, "; they must not decrease");
  internal::fill("uniform_", w, Initializer([a, b](const Array& array) {
                   initializers::Uniform((b - a) / 2)(array);
                   autograd::assign(array, array + (a + b) / 2);
                 }));
}

void normal_(const Variable& w, double mean, double std) {
  catena::check<catena::ValueError>(std >= 0, "normal_", "std is ", std, " and must not be negative");
  internal::fill("normal_", w, Initializer([mean, std](const Array& array) {
                   initializers::Normal(std)(array);
                   autograd::assign(array, array + mean);
                 }));
}

void trunc_normal_(const Variable& w, const TruncNormalOptions& o) {
  catena::check<catena::ValueError>(o.std > 0 && o.a < o.b, "trunc_normal_", "std is ", o.std, " and the bounds are ",
                                    o.a, " and ", o.b, "; std must be positive and the bounds must increase");
  internal::fill("trunc_normal_", w, Initializer([o](const Array& array) {
                   initializers::TruncatedNormal(o.std, o.a - o.mean, o.b - o.mean)(array);
                   autograd::assign(array, array + o.mean);
                 }));
}

void eye_(const Variable& w) {
  catena::check<catena::ValueError>(w && w.ndim() == 2, "eye_", "the shape ", w ? w.shape() : Shape(),
                                    " is not that of a matrix");
  internal::fill("eye_", w, Initializer([](const Array& a) {
                   std::vector<double> values(std::size_t(a.size()), 0.0);
                   for (std::int64_t i = 0; i < std::min(a.shape(0), a.shape(1)); ++i)
                     values[std::size_t(i * a.shape(1) + i)] = 1;
                   assign_values(a, values);
                 }));
}

void dirac_(const Variable& w, int groups) {
  constexpr const char* kOp = "dirac_";
  catena::check<catena::ValueError>(w && w.ndim() >= 3 && w.ndim() <= 5, kOp, "the shape ", w ? w.shape() : Shape(),
                                    " is not that of filters of one to three axes");
  catena::check<catena::ValueError>(groups >= 1 && w.shape(0) % groups == 0, kOp, groups, " groups do not divide the ",
                                    w.shape(0), " outputs");
  internal::fill(kOp, w, Initializer([groups](const Array& a) {
                   std::int64_t positions = 1, centre = 0;
                   for (int k = 2; k < a.ndim(); ++k) {
                     positions *= a.shape(k);
                     centre = centre * a.shape(k) + a.shape(k) / 2;
                   }
                   std::vector<double> values(std::size_t(a.size()), 0.0);
                   const std::int64_t outputs = a.shape(0) / groups;
                   for (std::int64_t g = 0; g < groups; ++g)
                     for (std::int64_t d = 0; d < std::min(outputs, a.shape(1)); ++d)
                       values[std::size_t(((g * outputs + d) * a.shape(1) + d) * positions + centre)] = 1;
                   assign_values(a, values);
                 }));
}

void sparse_(const Variable& w, double sparsity, double std) {
  constexpr const char* kOp = "sparse_";
  catena::check<catena::ValueError>(w && w.ndim() == 2 && sparsity >= 0 && sparsity <= 1 && std >= 0, kOp,
                                    "the shape is ", w ? w.shape() : Shape(), ", sparsity ", sparsity, " and std ", std,
                                    "; a matrix, a share in [0, 1] and a deviation of at least 0 are needed");
  normal_(w, 0, std);
  const std::int64_t rows = w.shape(0), columns = w.shape(1);
  const auto zeros = std::int64_t(std::ceil(sparsity * double(rows)));
  const std::vector<double> draws = autograd::to_vector<double>(autograd::random_uniform(
      {columns, rows}, 0, 1, autograd::Dtype::float64, autograd::default_generator(), autograd::Device{}));
  std::vector<double> kept(std::size_t(rows * columns), 1.0);
  for (std::int64_t c = 0; c < columns; ++c) {
    std::vector<std::int64_t> order;
    for (std::int64_t r = 0; r < rows; ++r) order.push_back(r);
    std::ranges::sort(order, {}, [&](std::int64_t r) { return draws[std::size_t(c * rows + r)]; });
    for (std::int64_t k = 0; k < zeros; ++k) kept[std::size_t(order[std::size_t(k)] * columns + c)] = 0;
  }
  const Array a = w.data();
  autograd::assign(a, a * autograd::astype(autograd::array(kept, a.shape(), a.device()), a.dtype()));
}

}  // namespace nn::init
