// Reductions, executed on the CPU from their generated text in three thread orders, against the host loops.
#include <catena/tests/cuda/structural_kernels.h>

#include <cmath>
#include <optional>

namespace {

using namespace cuda_device;
using catena::Dims;
using nd::cuda::Form;

// Axes of `in` to reduce; the expected value of every output by one call of the host loop over its elements in order.
// `second`: whether a second kernel is expected; none: either.
void check_reduction(const char* name, const char* signature, HostArray in, const Dims& axes, Form form,
                     std::optional<bool> second, double bound) {
  const Row row(name, signature);
  const catena::ReductionLoop& host = *row.loop.reduction;
  Shape out_shape = in.shape, kept, reduced;
  for (int a = 0; a < in.shape.size(); ++a) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), a) != axes.end();
    (is_reduced ? reduced : kept).push_back(in.shape[a]);
    if (is_reduced) out_shape[a] = 1;
  }
  HostArray out = make_array(row.loop.type[1], out_shape);
  for (std::int64_t a : axes) out.strides[int(a)] = 0;

  const std::int64_t outputs = catena::size_of(out_shape), count = catena::size_of(reduced);
  const Dtype wide = catena::compute_dtype(in.dtype), wide_out = catena::compute_dtype(out.dtype);
  std::vector<double> expected;
  for (std::int64_t o = 0; o < outputs; ++o) {
    HostArray values = make_array(wide, {count});
    HostArray part = in;
    part.offset += element(in, out_shape, o) - in.data();
    Dims reduced_strides;
    for (std::int64_t a : axes) reduced_strides.push_back(in.strides[int(a)]);
    part.strides = reduced_strides;
    for (std::int64_t i = 0; i < count; ++i)
      convert(in.dtype, element(part, reduced, i), wide, values.data() + i * std::int64_t(catena::itemsize(wide)));
    alignas(64) std::byte acc[64];
    alignas(64) std::byte result[16], rounded[16], number[16];
    host.init(acc, 1);
    host.reduce(acc, values.data(), std::int64_t(catena::itemsize(wide)), 0, count);
    host.finish(acc, count, result, 0, 1);
    convert(wide_out, result, out.dtype, rounded);
    convert(out.dtype, rounded, Dtype::float64, number);
    expected.push_back(*reinterpret_cast<double*>(number));
  }

  std::string first_content;
  for (Order order : kOrders) {
    HostArray actual = out;
    catena::bound::Reduce call;
    call.kernel = &row.def;
    call.loop = row.number;
    call.in = in.operand();
    call.out = actual.operand();
    call.axes = axes;
    const nd::cuda::Sequence plan = nd::cuda::plan_reduce(call, kProcessors);
    BOOST_CHECK_EQUAL(nd::cuda::name_of(plan.launches[0].key.form), nd::cuda::name_of(form));
    if (second) BOOST_CHECK_EQUAL(plan.launches.size(), *second ? 2u : 1u);
    run_sequence(plan, order);
    for (std::int64_t o = 0; o < outputs; ++o) {
      alignas(16) std::byte number[16];
      convert(actual.dtype, element(actual, out_shape, o), Dtype::float64, number);
      const double v = *reinterpret_cast<double*>(number), e = expected[std::size_t(o)];
      BOOST_REQUIRE_MESSAGE(std::fabs(v - e) <= bound,
                            name << " over " << count << " elements: output " << o << " is " << v << ", not " << e);
    }
    if (order == Order::ascending) first_content = actual.content();
    BOOST_CHECK_MESSAGE(actual.content() == first_content, name << ": the result depends on the order of threads");

    // With counters, the block that finishes last does the work of the second kernel.
    std::vector<std::uint32_t> counters(nd::cuda::kCounters);
    HostArray anew = out;
    call.out = anew.operand();
    const nd::cuda::Sequence alone = nd::cuda::plan_reduce(call, kProcessors, [&] { return counters.data(); });
    BOOST_CHECK_EQUAL(alone.launches.size(), 1u);
    run_sequence(alone, order);
    BOOST_CHECK_MESSAGE(anew.content() == first_content, name << ": one launch gives another result than two");
    BOOST_CHECK(counters == std::vector<std::uint32_t>(nd::cuda::kCounters));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(reductions) {
  constexpr Dtype f = Dtype::float32, e = Dtype::float16;
  // Sums: the order of additions differs from the host's; errors stay below count * 2^-24 * sum of magnitudes.
  check_reduction("sum", "f->f", random_array(f, {3000}, 1), {0}, Form::reduce_block, false, 1e-3);
  check_reduction("sum", "f->f", random_array(f, {50000}, 2), {0}, Form::reduce_block, true, 2e-2);
  check_reduction("sum", "f->f", random_array(f, {37, 100}, 3), {1}, Form::reduce_warp, false, 1e-4);
  check_reduction("sum", "f->f", random_array(f, {100, 37}, 4), {0}, Form::reduce_columns, false, 1e-4);
  check_reduction("sum", "f->f", random_array(f, {3000, 70}, 5), {0}, Form::reduce_columns, true, 2e-3);
  check_reduction("sum", "f->f", random_array(f, {6, 7, 8, 9}, 6), {1, 3}, Form::reduce_warp, false, 1e-4);
  check_reduction("sum", "f->f", random_array(f, {2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, 7), {1, 3, 5, 7, 9}, Form::reduce_warp,
                  false, 1e-4);
  check_reduction("sum", "e->e", random_array(e, {11, 50}, 8), {1}, Form::reduce_warp, false, 0.02);
  // Positions: exact, ties included (many equal values).
  for (unsigned seed : {1u, 2u, 3u}) {
    HostArray ties = random_array(f, {60000}, seed);
    for (int i = 0; i < 60000; ++i) ties.as<float>()[i] = std::floor(ties.as<float>()[i]);
    check_reduction("argmax", "f->l", ties, {0}, Form::reduce_block, true, 0);
    HostArray matrix = ties;
    matrix.shape = Shape{600, 100};
    matrix.strides = Strides{400, 4};
    check_reduction("argmax", "f->l", matrix, {1}, Form::reduce_warp, false, 0);
    check_reduction("argmax", "f->l", matrix, {0}, Form::reduce_columns, true, 0);
  }
  check_reduction("any", "f->?", random_array(f, {2000}, 9), {0}, Form::reduce_block, false, 0);
}

namespace {

// Over the first axis of a matrix.
void check_columns(const char* name, const char* signature, const HostArray& a, double bound) {
  check_reduction(name, signature, a, {0}, Form::reduce_columns, {}, bound);
}
HostArray floored(HostArray a) {
  for (std::int64_t i = 0; i < catena::size_of(a.shape); ++i) a.as<float>()[i] = std::floor(a.as<float>()[i]);
  return a;
}

}  // namespace

// Groups of 1 to 32 threads per row, around the lengths from which they are larger.
BOOST_AUTO_TEST_CASE(reductions_of_short_rows) {
  for (const std::int64_t count : {1, 3, 15, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257})
    for (const std::int64_t rows : {2, 9, 523}) {
      check_reduction("sum", "f->f", random_array(Dtype::float32, {rows, count}, 1), {1}, Form::reduce_warp, false,
                      1e-3);
      if (rows == 9 && (count == 16 || count == 33 || count == 257))
        check_reduction("argmax", "f->l", floored(random_array(Dtype::float32, {rows, count}, 2)), {1},
                        Form::reduce_warp, false, 0);
    }
  // Rows that are not aligned, and elements that do not lie together.
  check_reduction("sum", "f->f", random_array(Dtype::float32, {50, 16}, 3, 4), {1}, Form::reduce_warp, false, 1e-3);
  HostArray apart = random_array(Dtype::float32, {40, 60}, 4);
  apart.shape = Shape{40, 20};
  apart.strides = Strides{240, 12};
  check_reduction("sum", "f->f", apart, {1}, Form::reduce_warp, false, 1e-3);
  check_reduction("sum", "e->e", random_array(Dtype::float16, {37, 40}, 5), {1}, Form::reduce_warp, false, 0.2);
  check_reduction("sum", "d->d", random_array(Dtype::float64, {37, 30}, 6), {1}, Form::reduce_warp, false, 1e-9);
}

// Threads side by side over the columns compute several outputs each.
BOOST_AUTO_TEST_CASE(reductions_of_columns) {
  for (const std::int64_t outputs : {2, 3, 8, 16, 33, 36, 132})
    for (const std::int64_t length : {5, 64, 65, 700}) {
      const std::int64_t count = outputs < 32 ? 1020 + length : length;  // few outputs: only long columns
      if (count <= 1024 && outputs < 32) continue;
      const HostArray a = random_array(Dtype::float32, {count, outputs}, 1);
      check_columns("sum", "f->f", a, 1e-3);
      if (length != 65 || (outputs != 3 && outputs != 8 && outputs != 36)) continue;
      check_columns("argmax", "f->l", floored(a), 0);
      check_columns("sum", "e->e", random_array(Dtype::float16, {count, outputs}, 2), 0.3);
      check_columns("amax", "B->B", random_array(Dtype::uint8, {count, outputs}, 3), 0);
      check_columns("var", "d->d", random_array(Dtype::float64, {count, outputs}, 4), 1e-9);
    }
  // Not aligned; rows of an odd number of bytes; every second element.
  check_columns("sum", "f->f", random_array(Dtype::float32, {70, 32}, 5, 4), 1e-3);
  HostArray part = random_array(Dtype::float32, {70, 33}, 6);
  part.shape = Shape{70, 32};
  check_columns("sum", "f->f", part, 1e-3);
  part = random_array(Dtype::float32, {70, 64}, 7);
  part.shape = Shape{70, 32};
  part.strides = Strides{256, 8};
  check_columns("sum", "f->f", part, 1e-3);
  // So many columns that a thread reduces whole ones.
  check_columns("sum", "f->f", random_array(Dtype::float32, {2, (1 << 17) + 1}, 8), 1e-5);
}

// Reduced axes that do not merge: rows of a multiple of 16 bytes and others.
BOOST_AUTO_TEST_CASE(reductions_over_separate_axes) {
  constexpr Dtype f = Dtype::float32;
  for (const std::int64_t side : {4, 7, 12, 40}) {
    check_reduction("sum", "f->f", random_array(f, {5, 3, side, side}, 1), {0, 2, 3},
                    5 * side * side > 1024 ? Form::reduce_block : Form::reduce_warp, false, 2e-2);
    check_reduction("argmax", "f->l", floored(random_array(f, {5, 3, side, side}, 2)), {0, 2, 3},
                    5 * side * side > 1024 ? Form::reduce_block : Form::reduce_warp, false, 0);
  }
  check_reduction("sum", "f->f", random_array(f, {5, 3, 8, 8}, 3, 4), {0, 2, 3}, Form::reduce_warp, false, 1e-3);
  check_reduction("sum", "e->e", random_array(Dtype::float16, {5, 3, 8, 8}, 4), {0, 2, 3}, Form::reduce_warp, false,
                  0.5);
}
