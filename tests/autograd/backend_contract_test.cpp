// The promises of every autograd::Backend beyond the value API: programs of several steps, in-outs, indexed rows,
// multi-tensor calls, scatters, views, versions, ownership.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/tests/support/backend_calls.h>

using namespace autograd;
using catena::EagerProgram;
using catena::KernelDef;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

namespace {

template <class T> void check_values(const Array& a, const std::vector<T>& expected) {
  const std::vector<T> got = to_vector<T>(a);
  BOOST_TEST(got == expected, boost::test_tools::per_element());
}
Array floats(const std::vector<float>& v, const Shape& shape) { return array(v, shape); }
Array numbers(const Shape& shape) { return reshape(arrays::arange(catena::size_of(shape), Dtype::float32), shape); }

int loop_of(const KernelDef& def, Dtype t) { return catena::choose_loop_by_output(def, t); }

}  // namespace

BOOST_AUTO_TEST_SUITE(backend_contract)

BOOST_AUTO_TEST_CASE(the_default_backend_is_known_by_its_arrays) {
  Backend& backend = default_backend();
  const Array a = arrays::ones({2});
  BOOST_TEST(&a.backend() == &backend);
  BOOST_TEST((a.device() == backend.default_device()));
  BOOST_CHECK_THROW(Array().backend(), ValueError);
  catena::ArrayOwner stranger{"stranger"};
  const Array foreign(catena::make_header(nullptr, nullptr, Dtype::float32, {0}, {4}, {}, &stranger));
  BOOST_CHECK_EXCEPTION(foreign.backend(), RuntimeError, [](const RuntimeError& e) {
    return std::string(e.what()).find("nothing adapts arrays made by stranger") != std::string::npos;
  });
  BOOST_CHECK_THROW(a + foreign, ValueError);
  backend.synchronize(a.device());
}

BOOST_AUTO_TEST_CASE(without_a_default_backend_creation_says_what_to_include) {
  Backend& backend = default_backend();
  static Backend* saved = &backend;
  set_default_backend(nullptr);
  BOOST_CHECK_EXCEPTION(arrays::empty({1}), RuntimeError, [](const RuntimeError& e) {
    return std::string(e.what()).find("include catena.h") != std::string::npos;
  });
  set_default_backend([]() -> Backend& { return *saved; });
  BOOST_TEST(arrays::empty({1}).size() == 1);
}

BOOST_AUTO_TEST_CASE(fused_steps_round_at_every_store) {
  // slot 3 = slot 0 * slot 1 in float16, output = slot 3 + slot 0: as the eager operations
  const KernelDef &mul = catena::kernels::multiply, &add = catena::kernels::add;
  catena::Step steps[2];
  steps[0].kernel = &mul;
  steps[0].loop = std::uint16_t(loop_of(mul, Dtype::float16));
  steps[0].slot = {0, 1, 3};
  steps[1].kernel = &add;
  steps[1].loop = std::uint16_t(loop_of(add, Dtype::float16));
  steps[1].slot = {3, 0, 2};
  const Dtype slots[] = {Dtype::float16, Dtype::float16, Dtype::float16, Dtype::float16};
  const catena::Program program{steps, slots, 2, 0, 1};
  Generator g{9, 0};
  const Array x = random_uniform({3, 700}, -4, 4, Dtype::float16, g),
              y = random_uniform({700}, -4, 4, Dtype::float16, g);
  Array out = arrays::empty({3, 700}, Dtype::float16);
  const Input in[] = {*x.get(), *y.get()};
  test::calls::elementwise(program, in, {&out, 1});
  check_values<double>(out, to_vector<double>(x * y + x));
}

BOOST_AUTO_TEST_CASE(operands_are_converted_to_their_slots) {
  const KernelDef& add = catena::kernels::add;
  const Array ints = array<int>({1, 2, 3}, {3});
  const Array half = astype(floats({.5, 1.5, 2.5}, {3}), Dtype::float16);
  Array out = arrays::zeros({2, 3}, Dtype::float64);
  const Input in[] = {*ints.get(), *half.get()};
  test::calls::elementwise(EagerProgram(add, loop_of(add, Dtype::float32)), in, {&out, 1});
  check_values<double>(out, {1.5, 3.5, 5.5, 1.5, 3.5, 5.5});
  Array small = arrays::zeros({1, 3});
  const Input wide[] = {*out.get(), *half.get()};
  BOOST_CHECK_THROW(test::calls::elementwise(EagerProgram(add, loop_of(add, Dtype::float32)), wide, {&small, 1}),
                    ValueError);
}

BOOST_AUTO_TEST_CASE(indexed_rows_know_their_position) {
  const Array x = numbers({1, 1, 3, 3});
  Array col = arrays::empty({1, 1, 2, 2, 2, 2}, Dtype::float32);
  const Operand in[] = {x, 1, 1, 0, 0, 1, 1};
  apply_indexed(catena::kernels::im2col_2d, in, {&col, 1});
  check_values<float>(col, {0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8});
  // raw operands: any strides; converted when the loop has another dtype
  const Operand turned[] = {astype(transpose(x), Dtype::float64), 1, 1, 0, 0, 1, 1};
  BOOST_TEST(x.ndim() == 4);
  Array col2 = arrays::empty({1, 1, 2, 2, 2, 2}, Dtype::float32);
  const Operand swapped[] = {swapaxes(astype(x, Dtype::float64), 2, 3), 1, 1, 0, 0, 1, 1};
  apply_indexed(catena::kernels::im2col_2d, swapped, {&col2, 1});
  check_values<float>(slice(reshape(col2, {16}), 0, 0, 4), {0, 3, 1, 4});
  // an output that overlaps what the body reads elsewhere
  Array memory = numbers({1, 1, 4, 4});
  const Array image = slice(slice(memory, 2, 0, 3), 3, 0, 3);
  const Operand over[] = {image, 1, 1, 0, 0, 1, 1};
  Array target = reshape(memory, {1, 1, 2, 2, 2, 2});
  apply_indexed(catena::kernels::im2col_2d, over, {&target, 1});
  check_values<float>(target, {0, 1, 4, 5, 1, 2, 5, 6, 4, 5, 8, 9, 5, 6, 9, 10});
  BOOST_CHECK_THROW(apply_indexed(catena::kernels::im2col_2d, {turned, 6}, {&col, 1}), TypeError);
}

BOOST_AUTO_TEST_CASE(indexed_rows_without_raw_operands_see_all_axes) {
  const KernelDef& dropout = catena::kernels::dropout;
  Array flat = arrays::empty({24}), shaped = arrays::empty({2, 3, 4});
  const Array one = arrays::ones({24});
  const Operand a[] = {one, std::uint64_t(5), std::uint64_t(0), 0.5};
  const Operand b[] = {reshape(one, {2, 3, 4}), std::uint64_t(5), std::uint64_t(0), 0.5};
  apply_indexed(dropout, a, {&flat, 1});
  apply_indexed(dropout, b, {&shaped, 1});
  check_values<float>(shaped, to_vector<float>(flat));
}

BOOST_AUTO_TEST_CASE(multi_tensor_updates_every_tensor) {
  const KernelDef& sgd = catena::kernels::sgd_update;
  for (Dtype t : {Dtype::float32, Dtype::float64, Dtype::float16}) {
    const Array g[] = {astype(numbers({3}), t), astype(arrays::ones({2, 2}), t), arrays::empty({0}, t)};
    const Array p[] = {arrays::zeros({3}, t), astype(numbers({2, 2}), t), arrays::empty({0}, t)};
    catena::ArrayHeader* const operands[] = {g[0].get(), p[0].get(), g[1].get(), p[1].get(), g[2].get(), p[2].get()};
    const catena::Hyper hyper[] = {{0.5}, {2.0}};
    const std::int32_t which[] = {0, 1, 0};
    catena::call::MultiTensor call{&sgd, loop_of(sgd, t), operands, hyper, which, nullptr, nullptr};
    const std::uint64_t version = p[0]->storage->version, of_input = g[0]->storage->version;
    default_backend().execute(call);
    check_values<double>(p[0], {0, -.5, -1});
    check_values<double>(p[1], {-2, -1, 0, 1});
    BOOST_TEST(p[0]->storage->version > version);
    BOOST_TEST(g[0]->storage->version == of_input);

    // A kept table: the same operands again, then another gradient, another size, one tensor less.
    catena::TensorTable table;
    call.table = &table;
    for (int i = 0; i < 2; ++i) default_backend().execute(call);
    check_values<double>(p[0], {0, -1.5, -3});
    catena::ArrayHeader* const fewer[] = {g[1].get(), p[1].get()};
    call.operands = fewer;
    call.hyper_of = {};
    default_backend().execute(call);
    check_values<double>(p[1], {-6.5, -5.5, -4.5, -3.5});
    const Array other = astype(numbers({2, 2}), t);
    catena::ArrayHeader* const moved[] = {other.get(), p[1].get()};
    call.operands = moved;
    default_backend().execute(call);
    check_values<double>(p[1], {-6.5, -6, -5.5, -5});
  }
}

BOOST_AUTO_TEST_CASE(multi_tensor_refuses_what_does_not_fit) {
  const KernelDef& sgd = catena::kernels::sgd_update;
  const Array g = arrays::ones({2, 2}, Dtype::float32), small = arrays::ones({3}, Dtype::float32),
              wide = arrays::ones({2, 2}, Dtype::float64);
  const catena::Hyper hyper{0.5};
  catena::TensorTable table;
  for (catena::TensorTable* kept : {static_cast<catena::TensorTable*>(nullptr), &table}) {
    const Array p = arrays::zeros({2, 2}, Dtype::float32), strided = transpose(p);
    const auto update = [&](std::vector<catena::ArrayHeader*> operands, std::vector<std::int32_t> which = {}) {
      default_backend().execute(
          catena::call::MultiTensor{&sgd, loop_of(sgd, Dtype::float32), operands, {&hyper, 1}, which, nullptr, kept});
    };
    update({g.get(), p.get()});
    BOOST_CHECK_THROW(update({g.get(), strided.get()}), TypeError);  // the same memory and size as p
    BOOST_CHECK_THROW(update({g.get(), p.get(), wide.get(), p.get()}), TypeError);
    BOOST_CHECK_THROW(update({small.get(), p.get()}), ValueError);
    BOOST_CHECK_THROW(update({g.get(), p.get(), g.get()}), ValueError);
    BOOST_CHECK_THROW(update({g.get(), p.get()}, {1}), ValueError);
    BOOST_CHECK_THROW(update({g.get(), p.get()}, {0, 0}), ValueError);
    update({});
    check_values<double>(p, {-.5, -.5, -.5, -.5});
    update({g.get(), p.get()});  // nothing of what was refused is left in a kept table
    check_values<double>(p, {-1, -1, -1, -1});
  }
}

BOOST_AUTO_TEST_CASE(joins_pieces_along_an_axis) {
  const Array a = numbers({2, 3}), columns = arrays::empty({2, 4}), rows = arrays::empty({2, 3});
  const Array beside[] = {slice(a, 1, 0, 2), arrays::ones({2, 0}), slice(a, 1, 1, 3)};
  test::calls::join(beside, 1, columns);
  check_values<float>(columns, {0, 1, 1, 2, 3, 4, 4, 5});
  const Array below[] = {slice(a, 0, 1, 2), arrays::ones({0, 3}), slice(a, 0, 0, 1)};
  test::calls::join(below, 0, rows);
  check_values<float>(rows, {3, 4, 5, 0, 1, 2});
  BOOST_CHECK_THROW(test::calls::join(below, 0, arrays::empty({3, 3})), ValueError);
}

// The first count is the number of all elements that are not 0; the others are of the backend, which reads them again.
BOOST_AUTO_TEST_CASE(counts_and_positions_of_nonzero_elements) {
  for (const std::int64_t rows : {0, 1, 7, 1100}) {
    std::vector<float> values;
    std::vector<std::int64_t> along[2];
    for (std::int64_t i = 0; i < 5 * rows; ++i) {
      values.push_back(i % 3 == 0 ? -0.0f : float(i));
      if (i % 3 == 0) continue;
      along[0].push_back(i / 5);
      along[1].push_back(i % 5);
    }
    const auto number = std::int64_t(along[0].size());
    const Array a = floats(values, {rows, 5});
    const Array counts = arrays::empty({catena::size_of_counts(a.size())}, Dtype::int64);
    a.backend().execute(catena::call::CountPieces{a.get(), counts.get()});
    BOOST_TEST(to_vector<std::int64_t>(counts)[0] == number);
    const Array places = arrays::empty({2, number}, Dtype::int64);
    a.backend().execute(catena::call::Nonzero{a.get(), counts.get(), places.get()});
    std::vector<std::int64_t> expected = along[0];
    expected.insert(expected.end(), along[1].begin(), along[1].end());
    check_values<std::int64_t>(places, expected);
  }
}

BOOST_AUTO_TEST_CASE(gathers_along_several_axes) {
  const Array a = numbers({3, 4, 5});
  const Array indices[] = {array<int>({0, 2}, {2, 1, 1}), array<int>({1, -1, 2}, {3, 1})};
  Array out = arrays::empty({2, 3, 5});
  // a[[[0], [2]], [1, -1, 2]]
  test::calls::gather(a, indices, {0, 1}, {2, 3, 5}, {-1, -1, 2}, out);
  check_values<float>(slice(out, 2, 0, 1), {5, 15, 10, 45, 55, 50});
  const Array misaligned[] = {array<int>({0, 2}, {2}), array<int>({1, 2}, {2})};
  BOOST_CHECK_THROW(test::calls::gather(a, misaligned, {0, 1}, {2, 5}, {-1, 2}, arrays::empty({2, 5})), ValueError);
  // index arrays may have any axes of the loop: a[:, i, :] with the index axis last
  const Array last[] = {array<int>({3, 0}, {2})};
  Array moved = arrays::empty({3, 5, 2});
  test::calls::gather(a, last, {1}, {3, 5, 2}, {0, 2, -1}, moved);
  check_values<float>(slice(slice(moved, 0, 1, 2), 1, 0, 2), {35, 20, 36, 21});
}

BOOST_AUTO_TEST_CASE(scatters_set_and_add) {
  Array a = arrays::zeros({4});
  const Array i[] = {array<int>({1, 3, 1, -1}, {4})};
  test::calls::scatter(catena::ScatterMode::add, a, i, {0}, {4}, {-1}, *floats({1, 2, 4, 8}, {4}).get());
  check_values<float>(a, {0, 5, 0, 10});
  test::calls::scatter(catena::ScatterMode::set, a, i, {0}, {4}, {-1}, Scalar(7));
  check_values<float>(a, {0, 7, 0, 7});
  // values broadcast and are converted
  Array m = arrays::zeros({3, 2}, Dtype::float64);
  const Array rows[] = {array<std::int64_t>({2, 0}, {2, 1})};
  const Array values = array<int>({1, 2}, {2});
  test::calls::scatter(catena::ScatterMode::add, m, rows, {0}, {2, 2}, {-1, 1}, *values.get());
  check_values<double>(m, {1, 2, 0, 0, 1, 2});
  // through a view
  Array big = arrays::zeros({6});
  const Array in_view[] = {array<int>({1, 2, 1, -1}, {4})};
  test::calls::scatter(catena::ScatterMode::set, slice(big, 0, 0, 6, 2), in_view, {0}, {4}, {-1}, Scalar(1));
  check_values<float>(big, {0, 0, 1, 0, 1, 0});
  // the CPU checks indices before it writes
  if (big.device().kind != Device::Kind::cpu) return;
  BOOST_CHECK_EXCEPTION(
      test::calls::scatter(catena::ScatterMode::set, slice(big, 0, 0, 6, 2), i, {0}, {4}, {-1}, Scalar(2)),
      catena::IndexError, [](const catena::Error& e) {
        return e.what() == std::string("index: the index 3 is out of range for axis 0 of length 3");
      });
  check_values<float>(big, {0, 0, 1, 0, 1, 0});
}

BOOST_AUTO_TEST_CASE(products_of_views) {
  const Array a = numbers({4, 6}), b = numbers({6, 4});
  const Array left = slice(slice(a, 0, 0, 4, 2), 1, 5, -7, -2), right = slice(slice(b, 0, 0, 6, 2), 1, 1, 3);
  check_values<float>(matmul(left, right), to_vector<float>(matmul(copy(left), copy(right))));
  check_values<float>(matmul(transpose(b), transpose(a)), to_vector<float>(transpose(matmul(a, b))));
  Array out = arrays::zeros({8, 4});
  test::calls::matmul(a, b, slice(out, 0, 0, 8, 2));
  check_values<float>(slice(out, 0, 0, 8, 2), to_vector<float>(matmul(a, b)));
  check_values<float>(slice(out, 0, 1, 8, 2), std::vector<float>(16));
  Array square = numbers({3, 3});
  const Array expected = matmul(square, square);
  test::calls::matmul(square, square, square);
  check_values<float>(square, to_vector<float>(expected));
  const Array row = numbers({1, 3});
  check_values<float>(matmul(broadcast_to(row, {2, 3}), numbers({3, 2})), {10, 13, 10, 13});
  BOOST_TEST(matmul(numbers({1, 1}), numbers({1, 1})).shape() == Shape({1, 1}));
}

BOOST_AUTO_TEST_CASE(reductions_and_rows_of_views_and_onto_views) {
  const Array a = numbers({4, 6});
  Array out = arrays::zeros({8});
  const KernelDef& sum = catena::kernels::sum;
  test::calls::reduce(sum, loop_of(sum, Dtype::float32), transpose(a), {0}, slice(out, 0, 0, 8, 2));
  check_values<float>(out, {15, 0, 51, 0, 87, 0, 123, 0});
  Array kept = arrays::empty({1, 6});
  test::calls::reduce(sum, loop_of(sum, Dtype::float32), a, {0}, kept);
  check_values<float>(kept, {36, 40, 44, 48, 52, 56});
  // reduced onto a part of itself
  Array self = numbers({3, 2});
  test::calls::reduce(sum, loop_of(sum, Dtype::float32), self, {0}, reshape(slice(self, 0, 0, 1), {2}));
  check_values<float>(self, {6, 9, 2, 3, 4, 5});
  const KernelDef& softmax = catena::kernels::softmax;
  Array x = arrays::zeros({2, 2, 3});
  const Array view = transpose(x, Dims{2, 0, 1});
  const Input in(*view.get());
  test::calls::row_wise(softmax, loop_of(softmax, Dtype::float32), view.shape(), {1, 2}, {&in, 1},
                        {&view, 1});  // in place
  check_values<float>(x, std::vector<float>(12, .25f));
}

BOOST_AUTO_TEST_CASE(reductions_of_what_a_program_gives) {
  // (a - b) * a * 2 over the rows, for one b per row and per column
  const Array a = numbers({5, 6}), row = floats({1, 0, 2, 1, 3, 1}, {6}), column = floats({2, 1, 0, 1, 3}, {5, 1});
  const KernelDef &sub = catena::kernels::subtract, &mul = catena::kernels::multiply, &sum = catena::kernels::sum;
  const auto loop = [](const KernelDef& def) { return std::uint16_t(loop_of(def, Dtype::float32)); };
  const catena::Step steps[] = {
      {&sub, loop(sub), {0, 1, 4}}, {&mul, loop(mul), {0, 4, 4}}, {&mul, loop(mul), {4, 2, 3}}};
  const std::vector<Dtype> slots(5, Dtype::float32);
  const catena::Program program{steps, slots, 3, 0, 1};
  const auto reduced = [&](const Array& x, const Array& b, const Dims& axes, const Array& out) {
    const Input in[] = {*x.get(), *b.get(), catena::Scalar(2)};
    test::calls::reduce(sum, loop(sum), program, in, axes, out);
  };
  const std::vector<float> x = to_vector<float>(a);
  for (const Array& b : {row, column}) {
    const std::vector<float> y = to_vector<float>(broadcast_to(b, {5, 6}));
    std::vector<float> rows(6), columns(5), all(1);
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 6; ++j) {
        const float value = (x[6 * i + j] - y[6 * i + j]) * x[6 * i + j] * 2;
        rows[j] += value, columns[i] += value, all[0] += value;
      }
    for (const Array& layout : {a, transpose(copy(transpose(a)))}) {
      const Array out = arrays::zeros({12}), kept = arrays::empty({5, 1}), one = arrays::empty({});
      reduced(layout, b, {0}, slice(out, 0, 0, 12, 2));
      check_values<float>(slice(out, 0, 0, 12, 2), rows);
      check_values<float>(slice(out, 0, 1, 12, 2), std::vector<float>(6));
      reduced(layout, b, {1}, kept);
      check_values<float>(kept, columns);
      reduced(layout, b, {0, 1}, one);
      check_values<float>(one, all);
    }
    Array self = copy(a);
    const auto version = self->storage->version.load();
    reduced(self, b, {0}, slice(self, 0, 2, 3));  // onto a part of an input
    check_values<float>(slice(self, 0, 2, 3), rows);
    BOOST_TEST(self->storage->version.load() > version);
  }
  const Array none = arrays::empty({0, 3}), zero = arrays::ones({3});
  reduced(none, arrays::ones({3}), {0}, zero);
  check_values<float>(zero, {0, 0, 0});
  BOOST_CHECK_THROW(reduced(a, row, {0}, arrays::empty({5})), ValueError);
  BOOST_CHECK_THROW(reduced(a, arrays::ones({4}), {0}, arrays::empty({6})), ValueError);
}

BOOST_AUTO_TEST_CASE(views_count_references) {
  const Array a = numbers({2, 2});
  // A view refers to the storage or to the array that owns it.
  const catena::ArrayHeader* const owner = a->base != nullptr ? a->base : a.get();
  const auto references = [&] { return owner->refs.load() + a->storage->refs.load(); };
  BOOST_TEST(references() == 2u);
  {
    const Array v = default_backend().view(a, {2}, {12}, 0);  // the diagonal
    check_values<float>(v, {0, 3});
    BOOST_TEST(references() == 3u);
    BOOST_TEST(!v.is_c_contiguous());
    BOOST_TEST(&v.backend() == &a.backend());
  }
  BOOST_TEST(references() == 2u);
  const Array negative = default_backend().view(a, {4}, {-4}, 12);
  check_values<float>(negative, {3, 2, 1, 0});
}

BOOST_AUTO_TEST_CASE(host_copies) {
  const double data[] = {1, 2, 3, 4};
  const Array a = default_backend().from_host(data, {2, 2}, Dtype::float64, default_backend().default_device());
  double back[4];
  default_backend().to_host(transpose(a), back);
  const double expected[] = {1, 3, 2, 4};
  BOOST_TEST(std::memcmp(back, expected, sizeof(back)) == 0);
  default_backend().to_host(broadcast_to(slice(a, 0, 0, 1), {2, 2}), back);
  BOOST_TEST(back[3] == 2);
  BOOST_TEST(default_backend().to_device(a, a.device()).get() == a.get());
}

BOOST_AUTO_TEST_SUITE_END()
