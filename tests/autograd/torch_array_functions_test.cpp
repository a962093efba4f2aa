// Values and gradients of PyTorch for the functions that move, select and sort elements, and for running functions.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::GoldenCall;

namespace {

Variables both(const Sorted& s) { return {s.values, s.indices}; }
int axis_of(const GoldenCall& c) { return int(c.integer("axis", 0)); }
std::optional<int> axis_or_none(const GoldenCall& c) {
  return c.has("axis") ? std::optional<int>(axis_of(c)) : std::nullopt;
}
bool is_list(const GoldenCall& c, const char* arg) { return c.args()[arg].is_array(); }

const test::GoldenFunctions kPositions = {
    {"gather", [](const GoldenCall& c) { return Variables{gather(c.x(0), axis_of(c), c.x("index"))}; }},
    {"take_along_axis",
     [](const GoldenCall& c) { return Variables{take_along_axis(c.x(0), c.x("index"), axis_of(c))}; }},
    {"scatter",
     [](const GoldenCall& c) {
       if (!c.x("src")) return Variables{scatter(c.x(0), axis_of(c), c.x("index"), 7)};
       return Variables{scatter(c.x(0), axis_of(c), c.x("index"), c.x("src"))};
     }},
    {"scatter_add",
     [](const GoldenCall& c) { return Variables{scatter_add(c.x(0), axis_of(c), c.x("index"), c.x("src"))}; }},
    {"index_select", [](const GoldenCall& c) { return Variables{index_select(c.x(0), axis_of(c), c.x("index"))}; }},
    {"index_add",
     [](const GoldenCall& c) {
       return Variables{index_add(c.x(0), axis_of(c), c.x("index"), c.x("source"), c.number("alpha", 1))};
     }},
    {"masked_fill",
     [](const GoldenCall& c) {
       if (!c.x("value")) return Variables{masked_fill(c.x(0), c.x("mask"), -3)};
       return Variables{masked_fill(c.x(0), c.x("mask"), c.x("value"))};
     }},
    {"masked_select", [](const GoldenCall& c) { return Variables{masked_select(c.x(0), c.x("mask"))}; }},
    {"one_hot", [](const GoldenCall& c) { return Variables{one_hot(c.x(0), c.integer("n", -1))}; }},
};

const test::GoldenFunctions kOrder = {
    {"sort", [](const GoldenCall& c) { return both(sort(c.x(0), axis_of(c), c.flag("descending", false))); }},
    {"argsort", [](const GoldenCall& c) { return Variables{argsort(c.x(0), axis_of(c))}; }},
    {"topk",
     [](const GoldenCall& c) { return both(topk(c.x(0), c.integer("k", 1), axis_of(c), c.flag("largest", true))); }},
    {"cummax", [](const GoldenCall& c) { return both(cummax(c.x(0), axis_of(c))); }},
    {"cummin", [](const GoldenCall& c) { return both(cummin(c.x(0), axis_of(c))); }},
    {"cumsum", [](const GoldenCall& c) { return Variables{cumsum(c.x(0), axis_or_none(c))}; }},
    {"cumprod", [](const GoldenCall& c) { return Variables{cumprod(c.x(0), axis_or_none(c))}; }},
    {"logcumsumexp", [](const GoldenCall& c) { return Variables{logcumsumexp(c.x(0), axis_or_none(c))}; }},
};

const test::GoldenFunctions kPlaces = {
    {"tril", [](const GoldenCall& c) { return Variables{tril(c.x(0), c.integer("k", 0))}; }},
    {"triu", [](const GoldenCall& c) { return Variables{triu(c.x(0), c.integer("k", 0))}; }},
    {"diag", [](const GoldenCall& c) { return Variables{diag(c.x(0), c.integer("k", 0))}; }},
    {"diagonal",
     [](const GoldenCall& c) {
       return Variables{
           diagonal(c.x(0), c.integer("offset", 0), int(c.integer("axis1", 0)), int(c.integer("axis2", 1)))};
     }},
    {"diag_embed", [](const GoldenCall& c) { return Variables{diag_embed(c.x(0), c.integer("offset", 0))}; }},
    {"meshgrid", [](const GoldenCall& c) { return meshgrid(c.xs(), c.text("indexing", "xy")); }},
    {"moveaxis",
     [](const GoldenCall& c) { return Variables{moveaxis(c.x(0), c.dims("source"), c.dims("destination"))}; }},
    {"roll",
     [](const GoldenCall& c) {
       if (!c.has("axis")) return Variables{roll(c.x(0), c.integer("shift", 0))};
       return Variables{roll(c.x(0), c.dims("shift"), c.axes("axis"))};
     }},
    {"repeat",
     [](const GoldenCall& c) {
       if (!is_list(c, "repeats")) return Variables{repeat(c.x(0), c.integer("repeats", 1), axis_or_none(c))};
       return Variables{repeat(c.x(0), c.dims("repeats").to_vector(), axis_or_none(c))};
     }},
    {"rot90", [](const GoldenCall& c) { return Variables{rot90(c.x(0), int(c.integer("k", 1)), c.dims("axes"))}; }},
    {"chunk", [](const GoldenCall& c) { return chunk(c.x(0), c.integer("chunks", 1), axis_of(c)); }},
    {"split",
     [](const GoldenCall& c) {
       if (!is_list(c, "lengths")) return split(c.x(0), c.integer("lengths", 1), axis_of(c));
       return split(c.x(0), c.dims("lengths").to_vector(), axis_of(c));
     }},
    {"unbind", [](const GoldenCall& c) { return unbind(c.x(0), axis_of(c)); }},
    {"unfold",
     [](const GoldenCall& c) {
       return Variables{unfold(c.x(0), axis_of(c), c.integer("size", 1), c.integer("step", 1))};
     }},
    {"as_strided",
     [](const GoldenCall& c) {
       return Variables{as_strided(c.x(0), c.dims("shape"), c.dims("strides"), c.integer("offset", 0))};
     }},
};

const test::GoldenFunctions kMathematics = {
    {"add", [](const GoldenCall& c) { return Variables{add(c.xs())}; }},
    {"maximum", [](const GoldenCall& c) { return Variables{maximum(c.xs())}; }},
    {"minimum", [](const GoldenCall& c) { return Variables{minimum(c.x(0), c.x(1), c.x(2))}; }},
    {"clip",
     [](const GoldenCall& c) {
       if (c.size() > 1) return Variables{clip(c.x(0), c.x(1), c.x(2))};
       if (c.has("high")) return Variables{clip(c.x(0), {}, c.number("high", 0))};
       return Variables{clip(c.x(0), c.number("low", 0), {})};
     }},
    {"fix", [](const GoldenCall& c) { return Variables{fix(c.x(0))}; }},
    {"round", [](const GoldenCall& c) { return Variables{round(c.x(0))}; }},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_array_functions)

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions all = kPositions;
  for (const test::GoldenFunctions& family : {kOrder, kPlaces, kMathematics}) all.insert(family.begin(), family.end());
  test::run_golden("torch_array_functions", all);
}

BOOST_AUTO_TEST_SUITE_END()
