// Values and gradients of PyTorch for arithmetic, products, selection and statistics by its names; members, numbers as
// operands and errors.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/functions/torch_products.h>
#include <catena/autograd/functions/torch_statistics.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::GoldenCall;
using Doubles = std::vector<double>;

namespace {

int dim_of(const GoldenCall& c) { return int(c.integer("dim", -1)); }
std::optional<int> dim_or_none(const GoldenCall& c) {
  return c.has("dim") ? std::optional<int>(dim_of(c)) : std::nullopt;
}
Variables both(const Sorted& s) { return {s.values, s.indices}; }
bool is_list(const GoldenCall& c, const char* arg) { return c.args()[arg].is_array(); }
Sections sections_of(const GoldenCall& c) {
  if (is_list(c, "sections")) return c.dims("sections").to_vector();
  return c.integer("sections", 1);
}

// A function of two variables, or of one and a number.
template <class F> test::GoldenFunction of_two(F f) {
  return [f](const GoldenCall& c) {
    if (c.has("number")) return Variables{f(c.x(0), c.number("number", 0))};
    return Variables{f(c.x(0), c.x(1))};
  };
}
test::GoldenFunction of_one(Variable (*f)(const Variable&)) {
  return [f](const GoldenCall& c) { return Variables{f(c.x(0))}; };
}
#define OF_TWO(name) of_two([](const Variable& x, const auto& y) { return name(x, y); })

const test::GoldenFunctions kArithmetic = {
    {"add", [](const GoldenCall& c) { return Variables{add(c.x(0), c.x(1), {.alpha = c.number("alpha", 1)})}; }},
    {"sub",
     [](const GoldenCall& c) {
       if (!c.has("alpha")) return Variables{sub(c.x(0), c.x(1))};
       return Variables{sub(c.x(0), c.x(1), {.alpha = c.number("alpha", 1)})};
     }},
    {"rsub", OF_TWO(rsub)},
    {"mul", OF_TWO(mul)},
    {"true_divide", OF_TWO(true_divide)},
    {"div",
     [](const GoldenCall& c) {
       const std::string mode = c.text("rounding_mode", "");
       return Variables{div(c.x(0), c.x(1), {.rounding_mode = mode})};
     }},
    {"remainder", OF_TWO(remainder)},
    {"fmod", OF_TWO(fmod)},
    {"floor_divide", OF_TWO(floor_divide)},
    {"fmax", OF_TWO(fmax)},
    {"fmin", OF_TWO(fmin)},
    {"copysign", OF_TWO(copysign)},
    {"float_power", OF_TWO(float_power)},
    {"atan2", [](const GoldenCall& c) { return Variables{atan2(c.x(0), c.x(1))}; }},
    {"lerp",
     [](const GoldenCall& c) {
       if (c.has("weight")) return Variables{lerp(c.x(0), c.x(1), c.number("weight", 0))};
       return Variables{lerp(c.x(0), c.x(1), c.x(2))};
     }},
    {"addcmul",
     [](const GoldenCall& c) {
       if (!c.has("value")) return Variables{addcmul(c.x(0), c.x(1), c.x(2))};
       return Variables{addcmul(c.x(0), c.x(1), c.x(2), {.value = c.number("value", 1)})};
     }},
    {"addcdiv",
     [](const GoldenCall& c) {
       if (!c.has("value")) return Variables{addcdiv(c.x(0), c.x(1), c.x(2))};
       return Variables{addcdiv(c.x(0), c.x(1), c.x(2), {.value = c.number("value", 1)})};
     }},
    {"neg", of_one(neg)},
    {"reciprocal", of_one(reciprocal)},
    {"sgn", of_one(sgn)},
    {"trunc", of_one(trunc)},
    {"frac", of_one(frac)},
    {"acos", of_one(acos)},
    {"asin", of_one(asin)},
    {"atan", of_one(atan)},
    {"acosh", of_one(acosh)},
    {"asinh", of_one(asinh)},
    {"atanh", of_one(atanh)},
    {"deg2rad", of_one(deg2rad)},
    {"rad2deg", of_one(rad2deg)},
    {"round",
     [](const GoldenCall& c) { return Variables{round(c.x(0), {.decimals = int(c.integer("decimals", 0))})}; }},
    {"logit", [](const GoldenCall& c) { return Variables{logit(c.x(0), c.number("eps", 0))}; }},
    {"clamp",
     [](const GoldenCall& c) {
       const double low = c.number("low", 0), high = c.number("high", 0);
       return Variables{clamp(c.x(0), {.min = low, .max = high})};
     }},
    {"clamp_min", OF_TWO(clamp_min)},
    {"clamp_max", OF_TWO(clamp_max)},
    {"nan_to_num",
     [](const GoldenCall& c) {
       if (!c.has("nan")) return Variables{nan_to_num(c.x(0))};
       return Variables{nan_to_num(
           c.x(0), {.nan = c.number("nan", 0), .posinf = c.number("posinf", 0), .neginf = c.number("neginf", 0)})};
     }},
};

template <class F> test::GoldenFunction weighted(F f) {
  return [f](const GoldenCall& c) {
    if (!c.has("beta")) return Variables{f(c.x(0), c.x(1), c.x(2), BetaAlphaOptions{})};
    return Variables{
        f(c.x(0), c.x(1), c.x(2), BetaAlphaOptions{.beta = c.number("beta", 1), .alpha = c.number("alpha", 1)})};
  };
}

const test::GoldenFunctions kProducts = {
    {"bmm", [](const GoldenCall& c) { return Variables{bmm(c.x(0), c.x(1))}; }},
    {"mm", [](const GoldenCall& c) { return Variables{mm(c.x(0), c.x(1))}; }},
    {"mv", [](const GoldenCall& c) { return Variables{mv(c.x(0), c.x(1))}; }},
    {"ger", [](const GoldenCall& c) { return Variables{ger(c.x(0), c.x(1))}; }},
    {"addmm", weighted(addmm)},
    {"addmv", weighted(addmv)},
    {"addr", weighted(addr)},
    {"baddbmm", weighted(baddbmm)},
    {"addbmm", weighted(addbmm)},
    {"cross", [](const GoldenCall& c) { return Variables{cross(c.x(0), c.x(1), dim_of(c))}; }},
    {"dist", [](const GoldenCall& c) { return Variables{dist(c.x(0), c.x(1), c.number("p", 2))}; }},
    {"renorm",
     [](const GoldenCall& c) {
       return Variables{renorm(c.x(0), c.number("p", 2), dim_of(c), c.number("maxnorm", 1))};
     }},
    {"vander",
     [](const GoldenCall& c) { return Variables{vander(c.x(0), c.integer("n", 1), c.flag("increasing", false))}; }},
    {"cholesky_solve",
     [](const GoldenCall& c) { return Variables{cholesky_solve(c.x(0), c.x(1), {.upper = c.flag("upper", false)})}; }},
    {"cholesky_inverse",
     [](const GoldenCall& c) { return Variables{cholesky_inverse(c.x(0), {.upper = c.flag("upper", false)})}; }},
    {"triangular_solve", [](const GoldenCall& c) { return Variables{triangular_solve(c.x(0), c.x(1)).solution}; }},
    {"matrix_norm", [](const GoldenCall& c) { return Variables{linalg::matrix_norm(c.x(0))}; }},
    {"vecdot", [](const GoldenCall& c) { return Variables{linalg::vecdot(c.x(0), c.x(1), dim_of(c))}; }},
};

const test::GoldenFunctions kPositions = {
    {"narrow",
     [](const GoldenCall& c) {
       return Variables{narrow(c.x(0), dim_of(c), c.integer("start", 0), c.integer("length", 0))};
     }},
    {"select", [](const GoldenCall& c) { return Variables{c.x(0).select(dim_of(c), c.integer("index", 0))}; }},
    {"take", [](const GoldenCall& c) { return Variables{take(c.x(0), c.x("index"))}; }},
    {"take_along_dim", [](const GoldenCall& c) { return Variables{take_along_dim(c.x(0), c.x("index"))}; }},
    {"masked_scatter",
     [](const GoldenCall& c) { return Variables{masked_scatter(c.x(0), c.x("mask"), c.x("source"))}; }},
    {"index_copy",
     [](const GoldenCall& c) { return Variables{index_copy(c.x(0), dim_of(c), c.x("index"), c.x("source"))}; }},
    {"index_fill",
     [](const GoldenCall& c) { return Variables{index_fill(c.x(0), dim_of(c), c.x("index"), c.number("value", 0))}; }},
    {"index_put",
     [](const GoldenCall& c) {
       return Variables{index_put(c.x(0), {c.x("i"), c.x("k")}, c.x("values"), c.flag("accumulate", false))};
     }},
    {"scatter_reduce",
     [](const GoldenCall& c) {
       return Variables{scatter_reduce(c.x(0), dim_of(c), c.x("index"), c.x("src"), c.text("reduce", ""),
                                       {.include_self = c.flag("include_self", true)})};
     }},
    {"select_scatter",
     [](const GoldenCall& c) { return Variables{select_scatter(c.x(0), c.x(1), dim_of(c), c.integer("index", 0))}; }},
    {"slice_scatter",
     [](const GoldenCall& c) {
       return Variables{
           slice_scatter(c.x(0), c.x(1), dim_of(c), c.integer("start", 0), c.integer("end", 0), c.integer("step", 1))};
     }},
    {"diagonal_scatter",
     [](const GoldenCall& c) { return Variables{diagonal_scatter(c.x(0), c.x(1), c.integer("offset", 0))}; }},
    {"unflatten", [](const GoldenCall& c) { return Variables{unflatten(c.x(0), dim_of(c), c.dims("sizes"))}; }},
    {"column_stack", [](const GoldenCall& c) { return Variables{column_stack(c.xs())}; }},
    {"block_diag", [](const GoldenCall& c) { return Variables{block_diag(c.x(0), c.x(1), c.x(2))}; }},
    {"tensor_split", [](const GoldenCall& c) { return tensor_split(c.x(0), sections_of(c), dim_of(c)); }},
    {"hsplit", [](const GoldenCall& c) { return hsplit(c.x(0), sections_of(c)); }},
    {"vsplit", [](const GoldenCall& c) { return vsplit(c.x(0), sections_of(c)); }},
    {"dsplit", [](const GoldenCall& c) { return dsplit(c.x(0), sections_of(c)); }},
    {"diagflat", [](const GoldenCall& c) { return Variables{diagflat(c.x(0), c.integer("offset", 0))}; }},
    {"cartesian_prod", [](const GoldenCall& c) { return Variables{cartesian_prod(c.x(0), c.x(1))}; }},
    {"combinations",
     [](const GoldenCall& c) { return Variables{combinations(c.x(0), c.integer("r", 2), c.flag("again", false))}; }},
    {"tril_indices",
     [](const GoldenCall& c) {
       return Variables{tril_indices(c.integer("rows", 0), c.integer("columns", 0), c.integer("offset", 0))};
     }},
    {"triu_indices",
     [](const GoldenCall& c) {
       return Variables{triu_indices(c.integer("rows", 0), c.integer("columns", 0), c.integer("offset", 0))};
     }},
};

const test::GoldenFunctions kStatistics = {
    {"var_mean",
     [](const GoldenCall& c) {
       const auto [v, m] = c.has("dim") ? var_mean(c.x(0), {.dim = dim_of(c),
                                                            .correction = c.number("correction", 1),
                                                            .keepdim = c.flag("keepdim", false)})
                                        : var_mean(c.x(0));
       return Variables{v, m};
     }},
    {"std_mean",
     [](const GoldenCall& c) {
       const auto [s, m] = c.has("dim") ? std_mean(c.x(0), {.dim = dim_of(c),
                                                            .correction = c.number("correction", 1),
                                                            .keepdim = c.flag("keepdim", false)})
                                        : std_mean(c.x(0));
       return Variables{s, m};
     }},
    {"nansum", [](const GoldenCall& c) { return Variables{nansum(c.x(0))}; }},
    {"nanmean", [](const GoldenCall& c) { return Variables{nanmean(c.x(0), dim_of(c))}; }},
    {"cov",
     [](const GoldenCall& c) {
       if (c.size() == 1 && !c.has("correction")) return Variables{cov(c.x(0))};
       return Variables{
           cov(c.x(0), {.correction = c.number("correction", 1), .fweights = c.x("f"), .aweights = c.x("a")})};
     }},
    {"corrcoef", of_one(corrcoef)},
    {"aminmax",
     [](const GoldenCall& c) {
       const auto [low, high] =
           c.has("dim") ? aminmax(c.x(0), {.dim = dim_of(c), .keepdim = c.flag("keepdim", false)}) : aminmax(c.x(0));
       return Variables{low, high};
     }},
    {"median",
     [](const GoldenCall& c) {
       if (!c.has("dim")) return Variables{median(c.x(0))};
       return both(median(c.x(0), dim_of(c)));
     }},
    {"nanmedian",
     [](const GoldenCall& c) {
       if (!c.has("dim")) return Variables{nanmedian(c.x(0))};
       return both(nanmedian(c.x(0), dim_of(c)));
     }},
    {"kthvalue", [](const GoldenCall& c) { return both(kthvalue(c.x(0), c.integer("k", 1), dim_of(c))); }},
    {"mode", [](const GoldenCall& c) { return Variables{mode(c.x(0), dim_of(c)).values}; }},
    {"quantile",
     [](const GoldenCall& c) {
       const std::string between = c.text("interpolation", "linear");
       const QuantileOptions o{.dim = dim_or_none(c), .keepdim = c.flag("keepdim", false), .interpolation = between};
       if (is_list(c, "q")) return Variables{quantile(c.x(0), c.args()["q"].get<Doubles>(), o)};
       return Variables{quantile(c.x(0), c.number("q", 0), o)};
     }},
    {"diff",
     [](const GoldenCall& c) {
       if (c.size() == 1) return Variables{diff(c.x(0))};
       return Variables{
           diff(c.x(0), {.n = c.integer("n", 1), .dim = dim_of(c), .prepend = c.x("first"), .append = c.x("last")})};
     }},
    {"trapezoid",
     [](const GoldenCall& c) {
       if (c.has("dx")) return Variables{trapezoid(c.x(0), {.dx = c.number("dx", 1), .dim = dim_of(c)})};
       return Variables{trapezoid(c.x(0), c.x(1), dim_of(c))};
     }},
    {"cumulative_trapezoid",
     [](const GoldenCall& c) {
       if (c.has("dx")) return Variables{cumulative_trapezoid(c.x(0), {.dx = c.number("dx", 1), .dim = dim_of(c)})};
       return Variables{cumulative_trapezoid(c.x(0), c.x(1), dim_of(c))};
     }},
};

Variable numbers(const Doubles& values, const Shape& shape) {
  return Variable(array(values, shape), {.requires_grad = false});
}
Doubles of(const Variable& v) { return to_vector<double>(v.data()); }
void check_values(const Variable& v, const Doubles& expected) {
  BOOST_TEST(of(v) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_functions)

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions all = kArithmetic;
  for (const test::GoldenFunctions& family : {kProducts, kPositions, kStatistics})
    all.insert(family.begin(), family.end());
  test::run_golden("torch_tensor_functions", all);
}

BOOST_AUTO_TEST_CASE(members_are_the_functions) {
  const Variable x = numbers({1, -2, 3, 4, 0.5, -6}, {2, 3}), y = numbers({2, 2, 2, 1, 1, 1}, {2, 3});
  check_values(x.add(y, {.alpha = 2}), {5, 2, 7, 6, 2.5, -4});
  check_values(x.sub(1), {0, -3, 2, 3, -0.5, -7});
  check_values(x.mul(y).div(2), {1, -2, 3, 2, 0.25, -3});
  check_values(x.div(y, {.rounding_mode = "floor"}), {0, -1, 1, 4, 0, -6});
  check_values(x.remainder(2), {1, 0, 1, 0, 0.5, 0});
  check_values(x.neg().trunc(), {-1, 2, -3, -4, 0, 6});
  check_values(x.lerp(y, 0.5), {1.5, 0, 2.5, 2.5, 0.75, -2.5});
  check_values(x.addcmul(y, y, {.value = 0.5}), {3, 0, 5, 4.5, 1, -5.5});
  check_values(x.clamp_min(0).clamp_max(2), {1, 0, 2, 2, 0.5, 0});
  check_values(x.maximum(y).minimum(3), {2, 2, 3, 3, 1, 1});
  check_values(x.narrow(1, 1, 2), {-2, 3, 0.5, -6});
  check_values(x.select(0, -1), {4, 0.5, -6});
  check_values(x.index({0, Slice(1, None)}), {-2, 3});
  check_values(x.index({"...", 0}), {1, 4});
  check_values(x(Ellipsis, -1), {3, -6});
  check_values(x[numbers({1}, {1}).to_long()], {4, 0.5, -6});
  check_values(x[x > 2.5], {3, 4});
  check_values(x.unflatten(1, {3, 1}).flatten(), {1, -2, 3, 4, 0.5, -6});
  check_values(x.repeat(1, 2).select(0, 0), {1, -2, 3, 1, -2, 3});
  check_values(x.median(1).values, {1, 0.5});
  check_values(x.amax({.dim = 1}), {3, 4});
  check_values(x.quantile(0.5, 1), {1, 0.5});
  check_values(x.new_full({2}, 7), {7, 7});
  check_values(x.new_zeros(1, 2), {0, 0});
  check_values(Variable(x.eq(3)).astype(Dtype::float64), {0, 0, 1, 0, 0, 0});
  check_values(Variable(x.gt(y)).astype(Dtype::float64), {0, 0, 1, 1, 0, 0});
  const Variable deep = x.reshape(1, 2, 3);
  BOOST_TEST(deep.transpose(1, 2).shape() == (Shape{1, 3, 2}));
  BOOST_TEST(deep.transpose(-1, 0).shape() == (Shape{3, 2, 1}));
  BOOST_TEST(x.transpose(1, 0).shape() == (Shape{3, 2}));
  BOOST_TEST(x.to_float().is_floating_point());
  BOOST_TEST(!x.to_long().is_floating_point());
  BOOST_TEST(x.element_size() == 8);
  BOOST_TEST(x.nelement() == 6);
  BOOST_TEST(x.stride(0) == 3);
  BOOST_TEST((x.type_as(y.to_float()).dtype() == Dtype::float32));
}

// auto [values, indices] = max(x, {.dim = 1}), and reductions with options as functions.
BOOST_AUTO_TEST_CASE(options_of_functions) {
  const Variable x = numbers({1, 5, 3, 4}, {2, 2});
  const auto [values, indices] = max(x, {.dim = 1});
  check_values(values, {5, 4});
  check_values(indices, {1, 1});
  check_values(min(x, {.dim = 0, .keepdim = true}), {1, 4});
  check_values(sum(x, {.dim = 1}), {6, 7});
  check_values(sum(x, 0), {4, 9});
  check_values(sum(x, {0, 1}), {13});
  check_values(mean(x, {.axis = 0, .keepdims = true}), {2, 4.5});
  check_values(prod(x, {.dim = 1}), {5, 12});
  check_values(var(x, {.dim = 1, .unbiased = true}), {8, 0.5});
  check_values(autograd::std(x, {.dim = 1}), {2, 0.5});
  BOOST_TEST(of(logsumexp(x * 0, {.dim = 1}))[0] == std::log(2.0), boost::test_tools::tolerance(1e-12));
  check_values(amin(x, {.dim = 1}), {1, 3});
  check_values(flatten(x, {.start_dim = 0}), {1, 5, 3, 4});
  BOOST_TEST(flatten(x, 1).shape() == (Shape{2, 2}));
  check_values(gather(x, numbers({1, 0}, {2, 1}).to_long(), {.dim = 1}), {5, 3});
  check_values(index_add(x, 0, numbers({0}, {1}).to_long(), numbers({1, 1}, {1, 2}), {.alpha = 2}), {3, 7, 3, 4});
  check_values(transpose(x, 0, 1), {1, 3, 5, 4});
  check_values(meshgrid({x.select(0, 0), x.select(0, 1)}, {.indexing = "ij"})[0], {1, 1, 5, 5});
  const Variable nan = numbers({1, std::numeric_limits<double>::quiet_NaN(), 3}, {3});
  BOOST_TEST(std::isnan(of(median(nan))[0]));
  BOOST_TEST(std::isnan(of(quantile(nan, 0.5))[0]));
  check_values(nanmedian(nan), {1});
  check_values(mode(x, {.dim = 0}).values, {1, 4});
  check_values(kthvalue(x, 2, {.dim = 1, .keepdim = true}).values, {5, 4});
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x = numbers({1, 2, 3, 4}, {2, 2}), v = numbers({1, 2}, {2});
  BOOST_CHECK_THROW(div(x, x, {.rounding_mode = "up"}), catena::ValueError);
  BOOST_CHECK_THROW(bmm(x, x), catena::ValueError);
  BOOST_CHECK_THROW(mm(x, v), catena::ValueError);
  BOOST_CHECK_THROW(mv(x, x), catena::ValueError);
  BOOST_CHECK_THROW(cross(x, x), catena::ValueError);
  BOOST_CHECK_THROW(renorm(v, 2, 0, 1), catena::ValueError);
  BOOST_CHECK_THROW(vander(v, 0), catena::ValueError);
  BOOST_CHECK_THROW(narrow(x, 0, 1, 2), catena::IndexError);
  BOOST_CHECK_THROW(select(x, 2, 0), catena::AxisError);
  BOOST_CHECK_THROW(masked_scatter(x, v, v), catena::TypeError);
  BOOST_CHECK_THROW(masked_scatter(x, Variable(x > 0), v), catena::ValueError);
  BOOST_CHECK_THROW(index_copy(x, 0, x.to_long(), x), catena::IndexError);
  BOOST_CHECK_THROW(scatter_reduce(x, 0, x.to_long(), x, "max"), catena::ValueError);
  BOOST_CHECK_THROW(unflatten(x, 1, {3, 1}), catena::ValueError);
  BOOST_CHECK_THROW(block_diag(Variables{}), catena::ValueError);
  BOOST_CHECK_THROW(tensor_split(x, 0), catena::ValueError);
  BOOST_CHECK_THROW(hsplit(x, 3), catena::ValueError);
  BOOST_CHECK_THROW(vsplit(v, 2), catena::ValueError);
  BOOST_CHECK_THROW(combinations(x), catena::ValueError);
  BOOST_CHECK_THROW(combinations(v, -1), catena::ValueError);
  BOOST_CHECK_THROW(cov(reshape(x, {1, 2, 2})), catena::ValueError);
  BOOST_CHECK_THROW(cov(x, {.aweights = numbers({1}, {1})}), catena::ValueError);
  BOOST_CHECK_THROW(median(numbers({}, {0})), catena::ValueError);
  BOOST_CHECK_THROW(kthvalue(v, 3), catena::ValueError);
  BOOST_CHECK_THROW(quantile(v, 1.5), catena::ValueError);
  BOOST_CHECK_THROW(quantile(v, 0.5, {.interpolation = "cubic"}), catena::ValueError);
  BOOST_CHECK_THROW(diff(v, -1), catena::ValueError);
  BOOST_CHECK_THROW(x.index({"..", 0}), catena::ValueError);
  BOOST_CHECK_THROW(nan_to_num(v.to_long()), catena::InvalidType);
}

// Of (2 x)^2: 2 (2 x) with respect to 2 x.
BOOST_AUTO_TEST_CASE(gradients_of_results_that_ask_for_them) {
  const Variable x(array(Doubles{1, 3}, {2}));
  const Variable y = x * 2, z = y * 1;
  y.retain_grad();
  BOOST_TEST(y.retains_grad());
  sum(y * z).backward();
  BOOST_TEST(to_vector<double>(y.grad()) == (Doubles{4, 12}), boost::test_tools::per_element());
  BOOST_TEST(!z.grad());
  BOOST_TEST(to_vector<double>(x.grad()) == (Doubles{8, 24}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(x.detach().retain_grad(), catena::RuntimeError);
}

// A root without a gradient of the same array.
BOOST_AUTO_TEST_CASE(detached_in_place) {
  const Variable x(array(Doubles{1, 2}, {2}));
  const Variable y = x * 2;
  y.detach_();
  BOOST_TEST((y.creator() == nullptr));
  BOOST_TEST(!y.requires_grad());
  BOOST_TEST(y.is_leaf());
}

BOOST_AUTO_TEST_SUITE_END()
