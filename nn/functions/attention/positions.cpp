#include <cmath>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/nn/functions/attention.h>
#include <catena/nn/functions/composed.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::FunctionNode;
using autograd::Targets;
using autograd::Variables;

namespace {

void check_lengths(const char* op, std::int64_t length, std::int64_t d) {
  catena::check<catena::ValueError>(d > 0 && d % 2 == 0, op, "d is ", d, "; it must be positive and even");
  catena::check<catena::ValueError>(length >= 0, op, "length is ", length, " and must not be negative");
}

// position * base^(-2 i / d) for the pairs i of every position, row by row.
std::vector<double> angles_of(std::int64_t length, std::int64_t d, std::int64_t first, double base) {
  std::vector<double> frequencies, angles;
  for (std::int64_t i = 0; i < d / 2; ++i) frequencies.push_back(std::pow(base, -2.0 * double(i) / double(d)));
  angles.reserve(std::size_t(length * d / 2));
  for (std::int64_t p = first; p < first + length; ++p)
    for (const double f : frequencies) angles.push_back(double(p) * f);
  return angles;
}

class Rotary final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  Rotary(const Array& angles, RotaryPairs pairs, double sign) : angles_(angles), pairs_(pairs), sign_(sign) {}
  std::string label() const override { return "RotaryEmbedding"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.array("angles", angles_);
    o.integer("halves", pairs_ == RotaryPairs::halves);
    o.number("sign", sign_);
  }
  std::string_view input_names() const override { return "x"; }
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
  }
  Arrays forward(const Arrays& in) override {
    const autograd::Dtype dtype = catena::compute_dtype(in[0].dtype());
    const Array x = autograd::astype(in[0], dtype), y = autograd::empty_like(in[0]);
    const Array cosine = autograd::astype(apply(catena::kernels::cos, {angles_}), dtype);
    const Array sine = autograd::astype(apply(catena::kernels::sin, {angles_}), dtype) * sign_;
    const Array a = part(x, 0), b = part(x, 1);
    autograd::assign(part(y, 0), a * cosine - b * sine);
    autograd::assign(part(y, 1), a * sine + b * cosine);
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return autograd::apply_node<Rotary>({gy[0]}, angles_, pairs_, -sign_);
  }

 private:
  // The first or the second elements of the pairs.
  Array part(const Array& x, std::int64_t k) const {
    const std::int64_t half = x.shape(x.ndim() - 1) / 2;
    if (pairs_ == RotaryPairs::halves) return autograd::slice(x, x.ndim() - 1, k * half, (k + 1) * half);
    return autograd::slice(x, x.ndim() - 1, k, 2 * half, 2);
  }
  Array angles_;
  RotaryPairs pairs_;
  double sign_;
};

}  // namespace

Array rotary_angles(std::int64_t length, std::int64_t d, std::int64_t first, double base) {
  check_lengths("rotary_angles", length, d);
  return autograd::array(angles_of(length, d, first, base), {length, d / 2});
}

Variable rotary_embedding(const Variable& x, const Array& angles, RotaryPairs pairs) {
  const int rank = x.ndim();
  catena::check<catena::ValueError>(bool(angles), "rotary_embedding",
                                    "there are no angles: rotary_angles(length, d) makes them");
  catena::check<catena::ValueError>(
      rank < 2 ||
          (angles.ndim() == 2 && angles.shape(0) == x.shape(rank - 2) && 2 * angles.shape(1) == x.shape(rank - 1)),
      "rotary_embedding", "the angles of shape ", angles.shape(), " do not fit x of shape ", x.shape(),
      ": they must be (L, d / 2) for x (..., L, d)");
  return autograd::apply_node<Rotary>({x}, angles, pairs, 1.0)[0];
}

Array sinusoidal_positions(std::int64_t length, std::int64_t d, double base) {
  check_lengths("sinusoidal_positions", length, d);
  std::vector<float> table;
  for (const double angle : angles_of(length, d, 0, base)) {
    table.push_back(float(std::sin(angle)));
    table.push_back(float(std::cos(angle)));
  }
  return autograd::array(table, {length, d});
}

}  // namespace nn
