// Array: handles, attributes, flags, shape methods, copies, reinterpretation.
#include <catena/ndarray/core/array.h>

#include <cmath>
#include <sstream>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::message_of;

}  // namespace

BOOST_AUTO_TEST_SUITE(array)

BOOST_AUTO_TEST_CASE(handles) {
  Array a = nd::zeros(3);
  Array b = a;  // shares
  b.fill(1);
  BOOST_TEST(a.sum().item<double>() == 3);
  b = nd::zeros(3);  // rebinds
  BOOST_TEST(a.sum().item<double>() == 3);
  const Array c = std::move(a);
  BOOST_TEST(a.is_null());
  BOOST_TEST(Array().is_null());
  BOOST_CHECK_THROW(static_cast<void>(static_cast<bool>(Array())), catena::ValueError);
  BOOST_TEST(!c.is_null());
  a = c;
  std::swap(a, b);
  BOOST_TEST(b.get() == c.get());
  std::vector<Array> list = {a, b};
  list[0] = b;
  BOOST_TEST(list[0].get() == c.get());
  static_assert(std::is_nothrow_move_constructible_v<Array> && sizeof(Array) == sizeof(void*));
  static_assert(!std::is_assignable_v<Array&, double>, "a scalar cannot rebind a name");
}

BOOST_AUTO_TEST_CASE(views_keep_memory_alive) {
  Array row;
  {
    const Array a = nd::arange(6).reshape(2, 3);
    row = nd::internal::make_view(a, {3}, {8}, 24);
  }
  const Array other = nd::zeros(6, nd::int64);
  BOOST_TEST(row.to_vector<int>() == (std::vector<int>{3, 4, 5}));
}

BOOST_AUTO_TEST_CASE(attributes) {
  const Array a = nd::zeros({2, 3, 4}, nd::int16);
  BOOST_TEST(a.ndim() == 3);
  BOOST_TEST(a.size() == 24);
  BOOST_TEST(a.itemsize() == 2u);
  BOOST_TEST(a.nbytes() == 48u);
  BOOST_TEST(a.shape(-1) == 4);
  BOOST_TEST(a.strides() == (nd::Strides{24, 8, 2}));
  BOOST_TEST(a.len() == 2);
  BOOST_TEST((a.device() == nd::current_device()));
  BOOST_TEST(message_of<nd::IndexError>([&] { a.shape(3); }) ==
             "shape: axis 3 is out of bounds for array of dimension 3");
  BOOST_TEST(message_of<nd::TypeError>([] { nd::ones({}).len(); }) == "len: a 0-d array has no length");
  const Array gaps = nd::internal::make_view(a, {2}, {24});
  BOOST_TEST(gaps.nbytes() == 4u);
}

BOOST_AUTO_TEST_CASE(flags) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST(a.flags().c_contiguous);
  BOOST_TEST(!a.flags().f_contiguous);
  BOOST_TEST(a.flags()["OWNDATA"]);
  BOOST_TEST(a.T().flags()["F_CONTIGUOUS"]);
  BOOST_TEST(!a.T().flags()["C_CONTIGUOUS"]);
  for (const nd::Shape& s : {nd::Shape{}, nd::Shape{5}, nd::Shape{1, 5, 1}, nd::Shape{0, 3}}) {
    BOOST_TEST(nd::zeros(s).flags().c_contiguous);
    BOOST_TEST(nd::zeros(s).flags().f_contiguous);
  }
  BOOST_CHECK_THROW(a.flags()["WRITEABLE"], nd::KeyError);
  std::ostringstream out;
  out << a.flags();
  BOOST_TEST(out.str() == "  C_CONTIGUOUS : True\n  F_CONTIGUOUS : False\n  OWNDATA : True");
}

BOOST_AUTO_TEST_CASE(owners_and_views) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST((a.owndata() && a.base().is_null()));
  for (const Array& view : {a(nd::ellipsis), a.view(), a.reshape(6), a.T(), a(0), a.ravel(), nd::expand_dims(a, 0),
                            a(nd::Slice(1, 1)), nd::broadcast_to(a, {4, 2, 3}), a.T()(1)(nd::newaxis)}) {
    BOOST_TEST(!view.owndata(), view.shape());
    BOOST_TEST(view.base().get() == a.get(), view.shape());
  }
  for (const Array& owner : {a.copy(), a.T().copy(), a.copy(nd::Order::F), a.flatten(), a.astype(nd::int32), a + 1,
                             nd::empty({2, 3}, nd::CreateOptions{.order = nd::Order::F}), nd::zeros({0})}) {
    BOOST_TEST(owner.owndata(), owner.shape());
    BOOST_TEST(owner.base().is_null(), owner.shape());
  }
  BOOST_TEST((a.copy(nd::Order::F).is_f_contiguous() && a.flatten().shape() == nd::Shape{6}));
  // The base outlives its other handles.
  Array view;
  {
    Array temporary = nd::full({4}, 7);
    view = temporary(nd::Slice(1, 3));
  }
  BOOST_TEST(view.base().to_vector<int>() == (std::vector<int>{7, 7, 7, 7}));
  BOOST_TEST(nd::internal::make_view(view, {1}, {8}).base().get() == view.base().get());
  // Memory that is reused for a result belongs to the result.
  const Array sum = (nd::zeros({6}) + 1).reshape(2, 3) + 1;
  BOOST_TEST(sum.owndata());
  BOOST_TEST(sum.to_vector<int>() == std::vector<int>(6, 2));
  double memory[4] = {};
  const nd::DeviceScope host(nd::cpu_device);
  const Array wrapped = nd::wrap(memory, {4});
  BOOST_TEST(wrapped.base().is_null());
  BOOST_TEST(wrapped(nd::Slice(1, 2)).base().get() == wrapped.get());
}

BOOST_AUTO_TEST_CASE(shares_memory) {
  const Array a = nd::zeros({4, 4});
  BOOST_TEST(a.shares_memory(a.T()));
  const Array low = nd::internal::make_view(a, {4}, {8}), high = nd::internal::make_view(a, {4}, {8}, 64);
  BOOST_TEST(!low.shares_memory(high));
  const auto columns = [&](std::int64_t first, std::int64_t step) {
    return a(nd::Slice(), nd::Slice(first, {}, step));
  };
  BOOST_TEST(!columns(0, 2).shares_memory(columns(1, 2)));
  BOOST_TEST(columns(0, 2).shares_memory(columns(2, 1)));
  BOOST_TEST(!a.shares_memory(a.copy()));
  BOOST_TEST(!nd::zeros({0}).shares_memory(nd::zeros({0})));
}

BOOST_AUTO_TEST_CASE(reshape) {
  const Array a = nd::arange(24);
  const Array b = a.reshape({2, 3, -1});
  BOOST_TEST(b.shape() == (nd::Shape{2, 3, 4}));
  BOOST_TEST(b.shares_memory(a));
  BOOST_TEST(a.reshape(24).get() != a.get());  // a new view even so
  BOOST_TEST(a.reshape(-1).shares_memory(a));
  // Not contiguous, but splittable.
  const Array t = b.transpose(1, 0, 2);
  BOOST_TEST(t.reshape(3, 2, 2, 2).shares_memory(a));
  BOOST_TEST(!t.reshape(-1).shares_memory(a));
  BOOST_TEST(t.reshape(-1).to_vector<int>() == t.to_vector<int>());
  BOOST_TEST(nd::ones({1, 1}).T().reshape(nd::Shape{}).strides() == nd::Strides{});
  BOOST_TEST(nd::internal::make_view(nd::ones(9), {1}, {24}).reshape(1, 1).strides() == (nd::Strides{8, 8}));
  BOOST_TEST(nd::zeros({0, 3}).reshape(5, 0).shape() == (nd::Shape{5, 0}));
  BOOST_TEST(message_of<nd::ValueError>([&] { a.reshape(5, 5); }) ==
             "reshape: cannot reshape array of size 24 into shape (5, 5)");
  BOOST_CHECK_THROW(a.reshape(-1, -1), nd::ValueError);
  BOOST_CHECK_THROW(a.reshape(-2, 12), nd::ValueError);
  BOOST_CHECK_THROW(nd::zeros({0}).reshape(0, -1), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(transposition) {
  const Array a = nd::arange(24).reshape(2, 3, 4);
  BOOST_TEST(a.T().shape() == (nd::Shape{4, 3, 2}));
  BOOST_TEST(a.transpose(2, 0, -2).shape() == (nd::Shape{4, 2, 3}));
  BOOST_TEST(a.transpose({1, 0, 2}).strides() == (nd::Strides{32, 96, 8}));
  BOOST_TEST(a.swapaxes(0, -1).shape() == (nd::Shape{4, 3, 2}));
  BOOST_TEST(a.swapaxes(0, -1).shares_memory(a));
  const Array line = nd::arange(3);
  BOOST_TEST(line.T().get() == line.get());
  // Two axes of an array of a higher rank are exchanged, as in PyTorch; NumPy refuses them.
  BOOST_TEST(a.transpose(0, 1).strides() == a.swapaxes(0, 1).strides());
  BOOST_TEST(a.transpose(-1, 1).strides() == a.swapaxes(2, 1).strides());
  const Array matrix = nd::arange(6).reshape(2, 3);
  BOOST_TEST(matrix.transpose(0, 1).strides() == matrix.strides());
  BOOST_TEST(message_of<nd::ValueError>([&] {
               a.transpose({0, 1});
             }) == "transpose: 2 axes (0, 1) were given for an array of rank 3");
  BOOST_TEST(message_of<nd::IndexError>([&] { a.transpose(0, 1, 3); }) ==
             "transpose: axis 3 is out of bounds for array of dimension 3");
  BOOST_TEST(message_of<nd::ValueError>([&] { a.transpose(0, 1, -2); }) ==
             "transpose: axis 1 is given twice in (0, 1, -2)");
  BOOST_TEST(message_of<nd::ValueError>([&] { a.swapaxes(0, 3); }) ==
             "swapaxes: axis 3 is out of bounds for array of dimension 3");
}

BOOST_AUTO_TEST_CASE(squeezing) {
  const Array a = nd::zeros({1, 3, 1, 2});
  BOOST_TEST(a.squeeze().shape() == (nd::Shape{3, 2}));
  BOOST_TEST(a.squeeze(0).shape() == (nd::Shape{3, 1, 2}));
  BOOST_TEST(a.squeeze({0, -2}).shape() == (nd::Shape{3, 2}));
  BOOST_TEST(a.squeeze(nd::Axes(nd::Dims{})).get() == a.get());
  BOOST_TEST(nd::ones({2, 3}).squeeze().shape() == (nd::Shape{2, 3}));
  BOOST_TEST(nd::ones({}).squeeze(-1).ndim() == 0);
  BOOST_TEST(message_of<nd::ValueError>([&] { a.squeeze(1); }) ==
             "squeeze: axis 1 of shape (1, 3, 1, 2) has the length 3, not 1");
  BOOST_CHECK_THROW(a.squeeze(4), nd::ValueError);
  BOOST_CHECK_THROW(a.squeeze({0, 0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::ones({}).squeeze(1), nd::ValueError);
  BOOST_CHECK_THROW(nd::ones({}).squeeze({0, -1}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(flat_forms) {
  const Array a = nd::arange(6).reshape(2, 3);
  BOOST_TEST(a.ravel().shares_memory(a));
  BOOST_TEST(!a.T().ravel().shares_memory(a));
  BOOST_TEST(!a.flatten().shares_memory(a));
  BOOST_TEST(a.T().flatten().to_vector<int>() == (std::vector<int>{0, 3, 1, 4, 2, 5}));
  BOOST_TEST(nd::ones({}).flatten().shape() == nd::Shape{1});
  BOOST_TEST(nd::zeros({0, 2}).flatten().shape() == nd::Shape{0});
}

BOOST_AUTO_TEST_CASE(copies) {
  const Array a = nd::arange(6).reshape(2, 3).T();
  const Array c = a.copy(), f = a.copy(nd::Order::F);
  BOOST_TEST(c.is_c_contiguous());
  BOOST_TEST(f.is_f_contiguous());
  BOOST_TEST(!f.shares_memory(a));
  BOOST_TEST(test::same_bits(c, a));
  BOOST_TEST(test::same_bits(f, a));
  BOOST_TEST(a.astype(nd::int64, {.copy = false}).get() == a.get());
  BOOST_TEST(!a.astype(nd::int64).shares_memory(a));
  BOOST_TEST(a.astype(nd::float32).is_c_contiguous());
  BOOST_TEST(a.to_device(a.device()).get() == a.get());
  BOOST_TEST(nd::zeros({0, 3}).copy().shape() == (nd::Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(all_casts_in_random_layouts) {
  std::mt19937 random(1);
  for (nd::Dtype from : test::kAllDtypes)
    for (nd::Dtype to : test::kAllDtypes) {
      const Array a = test::random_array({3, 5, 2}, from, random);
      const Array b = a.astype(to);
      BOOST_TEST(test::same_bits(test::scattered(a, random).astype(to), b), from << " to " << to);
      if (nd::can_cast(from, to)) CHECK_SAME(difference(b.astype(from), a), from << " to " << to);
    }
}

BOOST_AUTO_TEST_CASE(reinterpretation) {
  const Array a = nd::array({1.0f, -2.0f, 3.0f, 4.0f}).reshape(2, 2);
  const Array bits = a.view(nd::uint32);
  BOOST_TEST(bits.shares_memory(a));
  BOOST_TEST(bits.to_vector<std::uint32_t>()[0] == 0x3f800000u);
  BOOST_TEST(a.view(nd::int8).shape() == (nd::Shape{2, 8}));
  BOOST_TEST(a.view(nd::float64).shape() == (nd::Shape{2, 1}));
  BOOST_TEST(a.T().view(nd::int32).strides() == a.T().strides());
  BOOST_TEST(a.view().get() != a.get());
  BOOST_TEST(message_of<nd::ValueError>([&] { a.T().view(nd::int8); }) ==
             "view: an array that is not C-contiguous cannot change its itemsize from 4 to 1");
  BOOST_TEST(message_of<nd::ValueError>([] { nd::zeros(3, nd::float32).view(nd::float64); }) ==
             "view: the last axis has 12 bytes, which is no multiple of 8, the itemsize of float64");
  BOOST_CHECK_THROW(nd::ones({}).view(nd::int8), nd::ValueError);
  const Array bytes = nd::zeros(17, nd::uint8);
  BOOST_CHECK_THROW(nd::internal::make_view(bytes, {16}, {1}, 1).view(nd::float64), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(fill) {
  Array a = nd::empty({2, 3}, nd::float32);
  a.T().fill(-0.0);
  BOOST_TEST(std::signbit(a.to_vector<float>()[5]));
  a.fill(1e300);
  BOOST_TEST(std::isinf(a.to_vector<float>()[0]));
  Array i = nd::empty(2, nd::uint8);
  i.fill(255.5);
  BOOST_CHECK_THROW(i.fill(-1.0), nd::OverflowError);
  BOOST_CHECK_THROW(i.fill(256), nd::OverflowError);
  BOOST_TEST(i.to_vector<int>()[1] == 255);
  nd::zeros({0}).fill(1);
  const Array part = nd::zeros(10);
  nd::internal::make_view(part, {3}, {24}).fill(7);
  BOOST_TEST(part.sum().item<int>() == 21);
}

BOOST_AUTO_TEST_CASE(zero_size_views_point_inside) {
  const Array a = nd::zeros(4);
  const Array none = nd::internal::make_view(a, {0}, {8}, 1 << 20);
  BOOST_TEST((none->data == a->data));
}

BOOST_AUTO_TEST_SUITE_END()
