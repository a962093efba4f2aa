// Members of Variable that write their result into its elements or exchange its array, and the functions of these
// names: values of PyTorch, and errors. Members that forward to functions: values of PyTorch, and gradients.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include <catena/autograd/ndarray_backend/sparse.h>
#include <catena/catena.h>
#include <catena/tests/support/message_of.h>

using autograd::Variable;
using Doubles = std::vector<double>;

namespace {

Doubles of(const nd::Array& a) { return a.astype(nd::float64).to_vector<double>(); }
Doubles of(const autograd::Array& a) { return of(nd::Array(a)); }
Doubles of(const Variable& v) { return of(v.data()); }
Variable matrix(const Doubles& values, const nd::Shape& shape) {
  return autograd::from_numpy(nd::array(values, shape));
}
Variable vector(const Doubles& values) { return matrix(values, {std::int64_t(values.size())}); }
Variable integers(const std::vector<std::int64_t>& values) { return autograd::tensor(values); }
template <class A> void check(const A& a, const Doubles& expected) {
  const Doubles values = of(a);
  BOOST_TEST_REQUIRE(values.size() == expected.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    BOOST_TEST(((std::isnan(values[k]) && std::isnan(expected[k])) ||
                std::abs(values[k] - expected[k]) <= 1e-12 * (1 + std::abs(expected[k]))),
               "element " << k << " is " << values[k] << ", expected " << expected[k]);
}

Variable b() { return vector({2, -1, 0.5}); }
Variable v() { return vector({1, 3}); }
Variable m() { return matrix({2, 0, 1, -1}, {2, 2}); }
Variable s() { return matrix({2, 0, 1, -1}, {1, 2, 2}); }
Variable j() { return integers({4, 6, 10}); }
Variable k() { return integers({1, 0}); }
Variable at() { return autograd::tensor({{0, 1}, {1, 0}}); }
Variable mask() { return autograd::eq(at(), 0); }

struct Call {
  const char* name;
  void (*run)(const Variable& x);
  Doubles expected;
};
// Of [0.5, -0.25, 0.75].
const Call kVector[] = {
    {"arccos_()", [](const Variable& x) { x.arccos_(); }, {1.0471975511965976, 1.8234765819369754, 0.7227342478134156}},
    {"arcsin_()",
     [](const Variable& x) { x.arcsin_(); },
     {0.5235987755982989, -0.25268025514207865, 0.848062078981481}},
    {"arctan_()",
     [](const Variable& x) { x.arctan_(); },
     {0.4636476090008061, -0.24497866312686414, 0.6435011087932844}},
    {"asinh_()",
     [](const Variable& x) { x.asinh_(); },
     {0.48121182505960347, -0.24746646154726346, 0.6931471805599453}},
    {"atanh_()", [](const Variable& x) { x.atanh_(); }, {0.5493061443340548, -0.25541281188299536, 0.9729550745276566}},
    {"arcsinh_()",
     [](const Variable& x) { x.arcsinh_(); },
     {0.48121182505960347, -0.24746646154726346, 0.6931471805599453}},
    {"arctanh_()",
     [](const Variable& x) { x.arctanh_(); },
     {0.5493061443340548, -0.25541281188299536, 0.9729550745276566}},
    {"deg2rad_()",
     [](const Variable& x) { x.deg2rad_(); },
     {0.008726646259971648, -0.004363323129985824, 0.013089969389957472}},
    {"rad2deg_()", [](const Variable& x) { x.rad2deg_(); }, {28.64788975654116, -14.32394487827058, 42.97183463481174}},
    {"erf_()", [](const Variable& x) { x.erf_(); }, {0.5204998778130465, -0.27632639016823696, 0.7111556336535151}},
    {"erfc_()", [](const Variable& x) { x.erfc_(); }, {0.4795001221869535, 1.276326390168237, 0.28884436634648486}},
    {"erfinv_()",
     [](const Variable& x) { x.erfinv_(); },
     {0.4769362762044699, -0.2253120550121781, 0.8134198475976185}},
    {"digamma_()",
     [](const Variable& x) { x.digamma_(); },
     {-1.9635100260214229, 2.914139120213528, -1.085860879786472}},
    {"sinc_()", [](const Variable& x) { x.sinc_(); }, {0.6366197723675814, 0.9003163161571061, 0.3001054387190354}},
    {"sgn_()", [](const Variable& x) { x.sgn_(); }, {1, -1, 1}},
    {"fix_()", [](const Variable& x) { x.fix_(); }, {0, 0, 0}},
    {"conj_physical_()", [](const Variable& x) { x.conj_physical_(); }, {0.5, -0.25, 0.75}},
    {"lgamma_()", [](const Variable& x) { x.lgamma_(); }, {0.5723649429247001, 1.589575312551186, 0.20328095143129538}},
    {"add_(1.5).acosh_()",
     [](const Variable& x) { x.add_(1.5).acosh_(); },
     {1.3169578969248166, 0.6931471805599453, 1.45057451382258}},
    {"add_(1.5).arccosh_()",
     [](const Variable& x) { x.add_(1.5).arccosh_(); },
     {1.3169578969248166, 0.6931471805599453, 1.45057451382258}},
    {"logit_()", [](const Variable& x) { x.logit_(); }, {0, NAN, 1.0986122886681098}},
    {"logit_(0.1)", [](const Variable& x) { x.logit_(0.1); }, {0, -2.197224577336219, 1.0986122886681098}},
    {"add_(1).polygamma_(1)",
     [](const Variable& x) { x.add_(1).polygamma_(1); },
     {0.9348022005446793, 2.541879647671607, 0.7641018698938288}},
    {"true_divide_(b())", [](const Variable& x) { x.true_divide_(b()); }, {0.25, 0.25, 1.5}},
    {"atan2_(b())",
     [](const Variable& x) { x.atan2_(b()); },
     {0.24497866312686414, -2.896613990462929, 0.982793723247329}},
    {"arctan2_(b())",
     [](const Variable& x) { x.arctan2_(b()); },
     {0.24497866312686414, -2.896613990462929, 0.982793723247329}},
    {"hypot_(b())",
     [](const Variable& x) { x.hypot_(b()); },
     {2.0615528128088303, 1.0307764064044151, 0.9013878188659973}},
    {"copysign_(b())", [](const Variable& x) { x.copysign_(b()); }, {0.5, -0.25, 0.75}},
    {"nextafter_(b())",
     [](const Variable& x) { x.nextafter_(b()); },
     {0.5000000000000001, -0.25000000000000006, 0.7499999999999999}},
    {"heaviside_(b())", [](const Variable& x) { x.heaviside_(b()); }, {1, 0, 1}},
    {"xlogy_(b())", [](const Variable& x) { x.xlogy_(b()); }, {0.34657359027997264, NAN, -0.5198603854199589}},
    {"ldexp_(b())", [](const Variable& x) { x.ldexp_(b()); }, {2, -0.125, 1.0606601717798214}},
    {"float_power_(b())", [](const Variable& x) { x.float_power_(b()); }, {0.25, -4, 0.8660254037844386}},
    {"xlogy_(2.0)",
     [](const Variable& x) { x.xlogy_(2.0); },
     {0.34657359027997264, -0.17328679513998632, 0.5198603854199589}},
    {"copysign_(-1.0)", [](const Variable& x) { x.copysign_(-1.0); }, {-0.5, -0.25, -0.75}},
    {"float_power_(2)", [](const Variable& x) { x.float_power_(2); }, {0.25, 0.0625, 0.5625}},
    {"eq_(b())", [](const Variable& x) { x.eq_(b()); }, {0, 0, 0}},
    {"ne_(b())", [](const Variable& x) { x.ne_(b()); }, {1, 1, 1}},
    {"not_equal_(b())", [](const Variable& x) { x.not_equal_(b()); }, {1, 1, 1}},
    {"lt_(b())", [](const Variable& x) { x.lt_(b()); }, {1, 0, 0}},
    {"less_(b())", [](const Variable& x) { x.less_(b()); }, {1, 0, 0}},
    {"le_(b())", [](const Variable& x) { x.le_(b()); }, {1, 0, 0}},
    {"less_equal_(b())", [](const Variable& x) { x.less_equal_(b()); }, {1, 0, 0}},
    {"gt_(b())", [](const Variable& x) { x.gt_(b()); }, {0, 1, 1}},
    {"greater_(b())", [](const Variable& x) { x.greater_(b()); }, {0, 1, 1}},
    {"ge_(b())", [](const Variable& x) { x.ge_(b()); }, {0, 1, 1}},
    {"greater_equal_(b())", [](const Variable& x) { x.greater_equal_(b()); }, {0, 1, 1}},
    {"logical_and_(b())", [](const Variable& x) { x.logical_and_(b()); }, {1, 1, 1}},
    {"logical_or_(b())", [](const Variable& x) { x.logical_or_(b()); }, {1, 1, 1}},
    {"logical_xor_(b())", [](const Variable& x) { x.logical_xor_(b()); }, {0, 0, 0}},
    {"gt_(0.5)", [](const Variable& x) { x.gt_(0.5); }, {0, 0, 1}},
    {"logical_not_()", [](const Variable& x) { x.logical_not_(); }, {0, 0, 0}},
};
// Of [6, -4, 15].
const Call kIntegers[] = {
    {"gcd_(j())", [](const Variable& x) { x.gcd_(j()); }, {2, 2, 5}},
    {"lcm_(j())", [](const Variable& x) { x.lcm_(j()); }, {12, 12, 30}},
    {"bitwise_and_(j())", [](const Variable& x) { x.bitwise_and_(j()); }, {4, 4, 10}},
    {"bitwise_or_(j())", [](const Variable& x) { x.bitwise_or_(j()); }, {6, -2, 15}},
    {"bitwise_xor_(j())", [](const Variable& x) { x.bitwise_xor_(j()); }, {2, -6, 5}},
    {"bitwise_not_()", [](const Variable& x) { x.bitwise_not_(); }, {-7, 3, -16}},
    {"bitwise_left_shift_(2)", [](const Variable& x) { x.bitwise_left_shift_(2); }, {24, -16, 60}},
    {"bitwise_right_shift_(1)", [](const Variable& x) { x.bitwise_right_shift_(1); }, {3, -2, 7}},
    {"eq_(-4)", [](const Variable& x) { x.eq_(-4); }, {0, 1, 0}},
    {"logical_not_()", [](const Variable& x) { x.logical_not_(); }, {0, 0, 0}},
    {"cumsum_(0)", [](const Variable& x) { x.cumsum_(0); }, {6, 2, 17}},
};
// Of [[1, 2], [3, -4]].
const Call kMatrix[] = {
    {"addmm_(m(), m())", [](const Variable& x) { x.addmm_(m(), m()); }, {5, 2, 4, -3}},
    {"addmm_(m(), m(), {.beta = 0.5, .alpha = 2})",
     [](const Variable& x) { x.addmm_(m(), m(), {.beta = 0.5, .alpha = 2}); },
     {8.5, 1, 3.5, 0}},
    {"addr_(v(), v())", [](const Variable& x) { x.addr_(v(), v()); }, {2, 5, 6, 5}},
    {"addbmm_(s(), s())", [](const Variable& x) { x.addbmm_(s(), s()); }, {5, 2, 4, -3}},
    {"cumsum_(0)", [](const Variable& x) { x.cumsum_(0); }, {1, 2, 4, -2}},
    {"cumprod_(1)", [](const Variable& x) { x.cumprod_(1); }, {1, 2, 3, -12}},
    {"renorm_(2, 0, 3.0)",
     [](const Variable& x) { x.renorm_(2, 0, 3.0); },
     {1, 2, 1.7999999640000006, -2.399999952000001}},
    {"masked_scatter_(mask(), m())", [](const Variable& x) { x.masked_scatter_(mask(), m()); }, {2, 2, 3, 0}},
    {"scatter_reduce_(0, at(), m(), 'prod')",
     [](const Variable& x) { x.scatter_reduce_(0, at(), m(), "prod"); },
     {2, -2, 3, 0}},
    {"index_reduce_(0, k(), m(), 'amax')",
     [](const Variable& x) { x.index_reduce_(0, k(), m(), "amax"); },
     {1, 2, 3, 0}},
    {"index_reduce_(1, k(), m(), 'mean', false)",
     [](const Variable& x) { x.index_reduce_(1, k(), m(), "mean", false); },
     {0, 2, -1, 1}},
    {"put_(k(), v())", [](const Variable& x) { x.put_(k(), v()); }, {3, 1, 3, -4}},
    {"put_(k(), v(), true)", [](const Variable& x) { x.put_(k(), v(), true); }, {4, 3, 3, -4}},
    {"apply_([](double t) { return 2 * t + 1; })",
     [](const Variable& x) { x.apply_([](double t) { return 2 * t + 1; }); },
     {3, 5, 7, -7}},
    {"map_(m(), [](double t, double u) { return t - u; })",
     [](const Variable& x) { x.map_(m(), [](double t, double u) { return t - u; }); },
     {-1, 2, 2, -3}},
    {"t_()", [](const Variable& x) { x.t_(); }, {1, 3, 2, -4}},
    {"transpose_(0, 1)", [](const Variable& x) { x.transpose_(0, 1); }, {1, 3, 2, -4}},
    {"unsqueeze_(1)", [](const Variable& x) { x.unsqueeze_(1); }, {1, 2, 3, -4}},
    {"resize_(1, 3)", [](const Variable& x) { x.resize_(1, 3); }, {1, 2, 3}},
    {"as_strided_({3}, {1}, 1)", [](const Variable& x) { x.as_strided_({3}, {1}, 1); }, {2, 3, -4}},
};

void run(const Call& call, const Variable& x) {
  BOOST_TEST_CONTEXT(call.name) {
    call.run(x);
    check(x, call.expected);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_members)

BOOST_AUTO_TEST_CASE(results_in_place) {
  for (const Call& call : kVector) {
    run(call, vector({0.5, -0.25, 0.75}));
    // A view with strides.
    nd::Array wide = nd::array({0.5, 9.0, -0.25, 9.0, 0.75, 9.0}).reshape({3, 2});
    run(call, autograd::from_numpy(wide(nd::_, 0)));
    check(wide(nd::_, 1), {9, 9, 9});
  }
  for (const Call& call : kIntegers) run(call, integers({6, -4, 15}));
  for (const Call& call : kMatrix) run(call, matrix({1, 2, 3, -4}, {2, 2}));
  run({"addmv_", [](const Variable& x) { x.addmv_(m(), v(), {.beta = 2}); }, {4, 2}}, vector({1, 2}));
  run({"baddbmm_", [](const Variable& x) { x.baddbmm_(s(), s()); }, {5, 1, 2, 2}}, matrix({1, 1, 1, 1}, {1, 2, 2}));
}

BOOST_AUTO_TEST_CASE(members_of_roots_that_need_a_gradient) {
  const Variable x(nd::array({0.5, 0.25})), y = vector({0.5, 0.25});
  const auto starts = [](const std::string& text, const char* with) { return text.starts_with(with); };
  BOOST_TEST(starts(test::message_of<catena::RuntimeError>([&] { x.acosh_(); }), "acosh_: the variable needs"));
  BOOST_TEST(starts(test::message_of<catena::RuntimeError>([&] { y.atan2_(x); }), "atan2_: an operand needs"));
  BOOST_TEST(
      starts(test::message_of<catena::RuntimeError>([&] { x.unsqueeze_(0); }), "unsqueeze_: the variable needs"));
  BOOST_TEST(starts(test::message_of<catena::RuntimeError>([&] { y.addmm_(x, x, {}); }), "addmm_: an operand needs"));
  BOOST_TEST(starts(test::message_of<catena::RuntimeError>([&] { autograd::exp_(x); }), "exp_: the variable needs"));
  const autograd::no_grad guard;
  check(y.atan2_(x), {std::atan2(0.5, 0.5), std::atan2(0.25, 0.25)});
  check(x.asinh_(), {std::asinh(0.5), std::asinh(0.25)});
  BOOST_TEST((x.is_leaf() && x.requires_grad()));
}

BOOST_AUTO_TEST_CASE(errors_leave_the_elements) {
  const Variable x = vector({1, 2, 3}), i = integers({1, 2, 3});
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               x.hypot_(matrix({1, 2, 3, 4, 5, 6}, {2, 3}));
             }) == "hypot_: the result has the shape (2, 3), which is not that of the variable, (3,)");
  test::message_of<catena::TypeError>([&] { i.ldexp_(i); });
  test::message_of<catena::TypeError>([&] { i.set_(x); });
  test::message_of<catena::ValueError>([&] { x.geometric_(1); });
  test::message_of<catena::ValueError>([&] { matrix({1, 2}, {1, 1, 2}).t_(); });
  check(x, {1, 2, 3});
  check(i, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(functions_with_an_underscore) {
  const Variable x = vector({4, -9, 0.25});
  BOOST_TEST(autograd::abs_(x).is_same(x));
  check(autograd::sqrt_(x), {2, 3, 0.5});
  check(autograd::clamp_(x, 1, 2.5), {2, 2.5, 1});
  check(autograd::clamp_(x, {.max = 2}), {2, 2, 1});
  check(autograd::clip_(x, {.min = 1.5}), {2, 2, 1.5});
  check(autograd::clamp_min_(x, 2), {2, 2, 2});
  check(autograd::square_(x), {4, 4, 4});
  check(autograd::relu_(autograd::neg_(x)), {0, 0, 0});
  check(autograd::sigmoid_(x), {0.5, 0.5, 0.5});
  check(autograd::fill_(x, 3), {3, 3, 3});
  check(autograd::xlogy_(x, vector({1, 1, 1})), {0, 0, 0});
  check(autograd::index_put_(x, {0}, 7.0), {7, 0, 0});
  check(autograd::erf_(autograd::zero_(x)), {0, 0, 0});
  check(autograd::gcd_(integers({6, 9}), integers({4, 6})), {2, 3});
  check(autograd::addmv_(vector({1, 2}), m(), v(), {.beta = 2}), {4, 2});
  const autograd::Array array = autograd::arrays::full({2}, 4, autograd::Dtype::float64);
  check(autograd::sqrt_(array), {2, 2});
  check(autograd::exp_(nd::zeros(2)), {1, 1});
}

// Views of the same memory.
BOOST_AUTO_TEST_CASE(shapes_in_place) {
  const nd::Array a = nd::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const Variable x = autograd::from_numpy(a), same = x;
  BOOST_TEST((x.unsqueeze_(0).shape() == nd::Shape{1, 2, 3} && same.shape() == nd::Shape{1, 2, 3}));
  BOOST_TEST((x.squeeze_().t_().shape() == nd::Shape{3, 2}));
  BOOST_TEST((x.swapaxes_(0, 1).swapdims_(0, 1).shape() == nd::Shape{3, 2}));
  x.zero_();
  check(a, {0, 0, 0, 0, 0, 0});
  const Variable y = autograd::from_numpy(a);
  y.as_strided_({2}, {4}, 1).fill_(7);
  check(a, {0, 7, 0, 0, 0, 7});
  check(y.resize_(3).index({autograd::Slice(0, 2)}), {7, 7});
  check(y.resize_(2), {7, 7});
  // Of another order, a copy.
  const nd::Array rows = nd::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const Variable turned = autograd::from_numpy(rows);
  turned.t_().as_strided_({3}, {1});
  check(turned, {1, 4, 2});
  check(turned.fill_(7), {7, 7, 7});
  check(rows, {1, 2, 3, 4, 5, 6});
  const Variable z = autograd::from_numpy(a);
  check(z.resize_as_(vector({1, 1, 1})), {0, 7, 0});
  BOOST_TEST((z.zero_().numel() == 3));
  check(a, {0, 0, 0, 0, 0, 7});
  check(vector({1}).set_(z), {0, 0, 0});
}

BOOST_AUTO_TEST_CASE(random_numbers) {
  autograd::manual_seed(1);
  const Variable x = autograd::empty({20000}, {.dtype = nd::float64});
  x.log_normal_(0.5, 0.25);
  BOOST_TEST(std::abs(x.log().mean().item() - 0.5) < 0.01);
  BOOST_TEST(std::abs(x.log().std().item() - 0.25) < 0.01);
  x.geometric_(0.25);
  BOOST_TEST((x.min().item() == 1 && std::abs(x.mean().item() - 4) < 0.15));
  // The exponential numbers of a high rate are 0 in float16 now and then.
  const Variable narrow = autograd::empty({1 << 22}, {.dtype = nd::float16});
  narrow.geometric_(1 - 0x1p-53);
  BOOST_TEST(narrow.min().item() == 1);
  BOOST_TEST(std::abs(autograd::median(x.cauchy_(3, 0.5)).item() - 3) < 0.05);
  BOOST_TEST(std::abs(autograd::quantile(x, 0.75).item() - 3.5) < 0.05);
}

// b = [[1, 2], [3, 4]], c = [[4, 1], [1, 3]].
BOOST_AUTO_TEST_CASE(forwarding_members) {
  const Variable b = matrix({1, 2, 3, 4}, {2, 2}), c = matrix({4, 1, 1, 3}, {2, 2});
  check(b.cholesky_solve(c), {-0.013888888888888881, 0.02777777777777779, 0.3055555555555555, 0.38888888888888884});
  check(c.cholesky_inverse(), {0.06944444444444445, -0.027777777777777776, -0.027777777777777776, 0.1111111111111111});
  check(c.cholesky(true), {2, 0.5, 0, std::sqrt(2.75)});
  check(b.triangular_solve(c).solution, {0, 0.16666666666666669, 1, 1.3333333333333333});
  check(b.triangular_solve(c, {.upper = false}).solution, {0.25, 0.5, 0.9166666666666666, 1.1666666666666665});
  check(b.matrix_exp(), {51.96895619870503, 74.73656456700323, 112.10484685050488, 164.07380304920986});
  check(b.logaddexp(c), {4.048587351573742, 2.313261687518223, 3.1269280110429727, 4.313261687518223});
  check(b.logaddexp2(c), {4.169925001442312, 2.584962500721156, 3.321928094887362, 4.584962500721156});
  check(b.pinverse(), {-2, 1, 1.5, -0.5});
  check(b.flatten().vdot(c.flatten()), {21});
  check(b.kron(c).select(0, 3), {3, 9, 4, 12});
  check(b.slogdet().logabsdet, {std::log(2)});
  const auto [u, s, v] = b.svd();
  check(u.matmul(s.diag()).matmul(v.t()), {1, 2, 3, 4});
  check(b.qr().Q.matmul(b.qr().R), {1, 2, 3, 4});
  check(b.where(autograd::gt(b, 2), c), {4, 1, 3, 4});
  check(b.where(autograd::gt(b, 2), 0.5), {0.5, 0.5, 3, 4});
  check(b.sum_to_size({1, 2}), {4, 6});
  check(b.fliplr(), {2, 1, 4, 3});
  check(integers({1, 2, 3}).flipud(), {3, 2, 1});
  check(c.msort(), {1, 1, 4, 3});
  check(b.hsplit(2)[1], {2, 4});
  check(b.vsplit({1})[1], {3, 4});
  check(b.unsafe_chunk(2)[0], {1, 2});
  check(b.diagflat().sum(), {10});
  check(b.narrow_copy(1, 1, 1), {2, 4});
  const auto [least, greatest] = b.aminmax({.dim = 1});
  check(least, {1, 3});
  check(greatest, {2, 4});
  check(b.nanmedian(), {2});
  check(b.nanmedian(1).indices, {0, 0});
  check(b.index_reduce(0, integers({1, 1}), c, "prod"), {1, 2, 12, 12});
  check(b.put(integers({1, -1}), vector({7, 8})), {1, 7, 3, 8});
  check(b.as_strided_scatter(vector({7, 8}), {2}, {2}, 1), {1, 7, 3, 8});
  check(b.select_scatter(vector({7, 8}), 1, 0), {7, 2, 8, 4});
  check(b.slice_scatter(matrix({7, 8}, {1, 2}), 0, 1), {1, 2, 7, 8});
  check(b.diagonal_scatter(vector({7, 8})), {7, 2, 3, 8});
  check(b.as_strided({2}, {2}, 1), {2, 4});
  check(b.renorm(2, 0, 3), {1, 2, 1.7999999640000006, 2.399999952000001});
}

BOOST_AUTO_TEST_CASE(tests_and_properties) {
  const Variable b = matrix({1, -2, INFINITY, 4}, {2, 2});
  check(b.signbit(), {0, 1, 0, 0});
  check(b.isposinf(), {0, 0, 1, 0});
  check(b.isneginf(), {0, 0, 0, 0});
  check(b.isreal(), {1, 1, 1, 1});
  check(b.heaviside(matrix({1}, {1})), {1, 0, 1, 1});
  check(integers({1, 1, 2, 2, 1}).unique_consecutive(), {1, 2, 1});
  check(integers({6}).gcd(integers({4})), {2});
  check(integers({6}).bitwise_left_shift(1), {12});
  BOOST_TEST((b.get_device() == (b.is_cuda() ? 0 : -1) && b.itemsize() == 8 && !b.is_sparse() && !b.is_quantized() &&
              !b.is_meta()));
  BOOST_TEST((vector({2}).is_nonzero() && !vector({0}).is_nonzero() && *b.cpu().const_data_ptr<double>() == 1));
  BOOST_TEST((b.to_dense().is_same(b) && b.pin_memory().is_same(b) && b.positive().is_same(b)));
  BOOST_TEST(
      (b.byte().dtype() == nd::uint8 && b.to_short().dtype() == nd::int16 && b.cfloat().dtype() == nd::complex64));
  const Variable holes = matrix({0, 2, 3, 0}, {2, 2});
  BOOST_TEST((holes.to_sparse().nnz() == 2 && holes.to_sparse_coo().nnz() == 2));
  check(holes.to_sparse_csr().toarray(), {0, 2, 3, 0});
  check(holes.to_sparse_csc().toarray(), {0, 2, 3, 0});
  const Variable z = autograd::complex(vector({1, 3}), vector({2, -1})).view(1, 2);
  check(z.real(), {1, 3});
  check(z.imag(), {2, -1});
  check(z.angle(), {1.107148717794090, -0.321750554396642});
  check(z.H().imag(), {-2, 1});
  check(z.adjoint().imag(), {-2, 1});
  BOOST_TEST((z.mH().shape() == nd::Shape{2, 1}));
  test::message_of<catena::ValueError>([] { vector({1}).H(); });
  BOOST_TEST(autograd::real(Variable(nd::array({1.0}))).requires_grad());
}

BOOST_AUTO_TEST_CASE(nanquantile_and_frexp) {
  const double nan = NAN;
  const Variable x = matrix({1, nan, 4, 2, nan, nan, nan, nan}, {2, 4});
  check(x.nanquantile(0.4, 1), {1.8, nan});
  check(x.nanquantile(0.5), {2});
  BOOST_TEST((x.nanquantile(0.25, 1, true).shape() == nd::Shape{2, 1}));
  check(autograd::nanquantile(x, std::vector<double>{0, 1}, {.dim = 1}), {1, nan, 4, nan});
  const auto [mantissa, exponent] = vector({1, -6, 0.3, 5e-324, 1e308, 0}).frexp();
  check(mantissa, {0.5, -0.75, 0.6, 0.5, std::ldexp(1e308, -1024), 0});
  check(exponent, {1, 3, -1, -1073, 1024, 0});
  BOOST_TEST(exponent.dtype() == nd::int32);
  check(autograd::ldexp(integers({1, 3}), integers({2, -1})), {4, 1.5});
  test::message_of<catena::TypeError>([] { integers({1}).frexp(); });
}

BOOST_AUTO_TEST_CASE(gradients) {
  const autograd::Array x = nd::array({{0.5, 1.5, -2.5}, {3.5, -0.75, 2.0}}),
                        y = nd::array({{1.0, -2.0, 0.5}, {0.25, 3.0, 1.0}});
  const autograd::Array row = nd::array({1.0, -2.0, 0.5}), g = nd::array({{1.0, 2.0, -1.0}, {0.5, -3.0, 1.0}});
  const autograd::gradient_check::Options o{.eps = 1e-4, .atol = 1e-6, .rtol = 1e-5};
  const auto same = [&](const auto& f, const autograd::Arrays& xs) {
    autograd::gradient_check::check_backward(f, xs, {g}, o);
  };
  same([](const Variable& a, const Variable& b) { return a.ldexp(b); }, {x, y});
  same([](const Variable& a, const Variable& b) { return a.put(integers({4, 0, 1}), b); }, {x, row});
  same([](const Variable& a, const Variable& b) { return a.index_reduce(0, integers({1}), b.view(1, 3), "mean"); },
       {x, row});
  same([](const Variable& a, const Variable& b) { return a.as_strided_scatter(b, {3}, {2}); }, {x, row});
  same([](const Variable& a) { return a.msort(); }, {x});
  same([](const Variable& a) { return a.frexp().mantissa; }, {y * 1.1});
  const autograd::Array pair = nd::array({2.0, -1.0});
  autograd::gradient_check::check_backward([](const Variable& a) { return a.nanquantile(0.3, 1); }, {x}, {pair}, o);
  autograd::gradient_check::check_backward([](const Variable& a) { return a.adjoint().select(0, 1); }, {x}, {pair}, o);
}

BOOST_AUTO_TEST_SUITE_END()
