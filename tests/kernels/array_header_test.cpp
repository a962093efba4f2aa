#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/array_header.h>

#include <chrono>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <catena/tests/support/allocations.h>

using namespace catena;

namespace {

int destroyed = 0;
const ArrayOwner kOwner{"test"};

Storage* new_storage(std::size_t bytes) {
  auto* s = new Storage;
  s->data = static_cast<std::byte*>(std::malloc(bytes));
  s->bytes = bytes;
  s->destroy = [](Storage* dead) {
    ++destroyed;
    std::free(dead->data);
    delete dead;
  };
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_header)

BOOST_AUTO_TEST_CASE(a_header_describes_its_array) {
  Storage* s = new_storage(96);
  const HeaderRef h(make_header(s, s->data + 8, Dtype::float32, {2, 3}, {24, 8}, {Device::Kind::cuda, 1}, &kOwner));
  BOOST_TEST(s->refs.load() == 2u);
  BOOST_TEST(h->size == 6);
  BOOST_TEST(!h->c_contiguous);
  BOOST_TEST(h->data == s->data + 8);
  BOOST_TEST(to_string(h->device) == "cuda:1");
  BOOST_TEST(to_string(Device{}) == "cpu:0");
  BOOST_TEST(to_string(h->shape) == "(2, 3)");
  BOOST_TEST(to_string(h->strides) == "(24, 8)");
  BOOST_TEST(h->owner == &kOwner);
  const HeaderRef packed(make_header(nullptr, nullptr, Dtype::int8, {0, 4}, {4, 1}, {}, &kOwner));
  BOOST_TEST(packed->c_contiguous);
  BOOST_TEST(packed->size == 0);
  release(s);
}

BOOST_AUTO_TEST_CASE(the_last_view_destroys_the_storage) {
  destroyed = 0;
  Storage* s = new_storage(64);
  HeaderRef a(make_header(s, s->data, Dtype::float64, {8}, {8}, {}, &kOwner));
  HeaderRef b(make_header(s, s->data + 8, Dtype::float64, {7}, {8}, {}, &kOwner));
  release(s);
  HeaderRef copy = a;
  BOOST_TEST(a->refs.load() == 2u);
  a = HeaderRef();
  BOOST_TEST(copy->refs.load() == 1u);
  copy = HeaderRef();
  BOOST_TEST(destroyed == 0);
  b = std::move(copy);
  BOOST_TEST(destroyed == 1);
  BOOST_TEST(!b);
}

BOOST_AUTO_TEST_CASE(views_refer_to_the_array_that_owns) {
  destroyed = 0;
  Storage* s = new_storage(64);
  HeaderRef owner(make_header(s, s->data, Dtype::float64, {8}, {8}, {}, &kOwner));
  release(s);
  BOOST_TEST((is_sole_reference(*owner.get()) && !owner->viewed.load()));
  HeaderRef view(make_view_header(*owner.get(), 8, Dtype::float64, {7}, {8}));
  HeaderRef second(make_view_header(*view.get(), 8, Dtype::int64, {6}, {8}));
  BOOST_TEST((view->base == owner.get() && second->base == owner.get() && owner->base == nullptr));
  BOOST_TEST((view->storage == s && second->owner == &kOwner && owner->viewed.load()));
  BOOST_TEST(owner->refs.load() == 3u);
  BOOST_TEST(s->refs.load() == 1u);
  const ArrayHeader* const first = owner.get();
  owner = HeaderRef();
  BOOST_TEST((view->base == first && first->refs.load() == 2u));
  BOOST_TEST((!is_sole_reference(*view.get()) && !is_sole_reference(*second.get())));
  view = HeaderRef();
  BOOST_TEST(is_sole_reference(*second.get()));
  BOOST_TEST(destroyed == 0);
  take_ownership(*second.get());
  BOOST_TEST((second->base == nullptr && second->storage == s && s->refs.load() == 1u));
  BOOST_TEST((is_sole_reference(*second.get()) && destroyed == 0));
  second = HeaderRef();
  BOOST_TEST(destroyed == 1);
  // A view of an array without memory.
  const HeaderRef none(make_header(nullptr, nullptr, Dtype::int8, {0}, {1}, {}, &kOwner));
  const HeaderRef of_none(make_view_header(*none.get(), 0, Dtype::int8, {0, 3}, {3, 1}));
  BOOST_TEST((of_none->base == none.get() && !is_sole_reference(*of_none.get())));
}

BOOST_AUTO_TEST_CASE(the_layout_of_a_view) {
  Storage* s = new_storage(64);
  const HeaderRef whole(make_header(s, s->data, Dtype::float64, {2, 4}, {32, 8}, {}, &kOwner));
  release(s);
  const auto view = [&](const Shape& shape, const Strides& strides, std::int64_t offset) {
    return HeaderRef(make_view_header(*whole.get(), offset, Dtype::float64, shape, strides));
  };
  BOOST_TEST((view({2, 2}, {32, 8}, 16)->data == s->data + 16 && view({2, 2}, {32, 8}, 16)->size == 4));
  // Without elements, the offset may be anything.
  const HeaderRef none = view({0, 2}, {32, 8}, 1 << 20);
  BOOST_TEST((none->data == s->data && none->size == 0 && none->c_contiguous));
  const std::int64_t most = INT64_MAX;
  const HeaderRef repeated = view({most, 1}, {0, 8}, 0);
  BOOST_TEST((repeated->size == most && !repeated->c_contiguous));
  for (const auto& [shape, strides] : std::vector<std::pair<Shape, Strides>>{{{2, 4}, {32, 8}},
                                                                             {{2, 2}, {32, 8}},
                                                                             {{4, 2}, {8, 32}},
                                                                             {{1, 4}, {0, 8}},
                                                                             {{4, 1, 1}, {8, -8, 3}},
                                                                             {{8}, {8}},
                                                                             {{8}, {-8}},
                                                                             {{}, {}},
                                                                             {{1}, {-8}},
                                                                             {{2, 0}, {5, 3}},
                                                                             {{4}, {16}},
                                                                             {{2, 1, 4}, {32, 1, 8}}})
    BOOST_TEST(view(shape, strides, 0)->c_contiguous == is_c_contiguous(shape, strides, 8));
}

BOOST_AUTO_TEST_CASE(a_recycled_header_is_like_new) {
  delete_header(make_header(nullptr, nullptr, Dtype::int8, {2, 3}, {-3, 7}, {Device::Kind::cuda, 3}, &kOwner));
  ArrayHeader* h = new_header();
  BOOST_TEST(h->refs.load() == 1u);
  BOOST_TEST(h->dtype == Dtype::float64);
  BOOST_TEST(h->c_contiguous);
  BOOST_TEST((h->device == Device{}));
  BOOST_TEST(h->size == 0);
  BOOST_TEST((h->data == nullptr && h->storage == nullptr && h->owner == nullptr));
  BOOST_TEST((h->shape.empty() && h->strides.empty()));
  delete_header(h);
}

#if !defined(__SANITIZE_ADDRESS__)  // there nothing is recycled
BOOST_AUTO_TEST_CASE(the_steady_state_allocates_nothing) {
  const HeaderRef warm(make_header(nullptr, nullptr, Dtype::float64, {2}, {8}, {}, &kOwner));
  for (int i = 0; i < 2; ++i) delete_header(new_header());
  const long before = test::allocations;
  const auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 1000000;
  for (int i = 0; i < kRounds; ++i) {
    ArrayHeader* a = new_header();
    asm volatile("" : : "r"(a) : "memory");
    delete_header(a);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  BOOST_TEST(test::allocations == before);
  BOOST_TEST_MESSAGE("new_header + delete_header: " << took.count() / kRounds << " ns");
}

BOOST_AUTO_TEST_CASE(the_free_list_is_bounded) {
  const auto round = [] {
    std::vector<ArrayHeader*> many(10000);
    for (auto& h : many) h = new_header();
    for (auto* h : many) delete_header(h);
  };
  round();
  const long before = test::allocations;
  round();
  const long fresh = test::allocations - before - 1;  // the vector
  BOOST_TEST(fresh >= 9000);                          // so at most 1000 were kept
  BOOST_TEST(fresh < 10000);
}
#endif

// Headers made on one thread die on another, whose list they join; both threads go on, and end.
BOOST_AUTO_TEST_CASE(headers_cross_threads) {
  for (int round = 0; round < 20; ++round) {
    const long before = test::live_allocations;
    std::vector<ArrayHeader*> made(500);
    for (auto& h : made) h = new_header();
    BOOST_TEST(std::set<ArrayHeader*>(made.begin(), made.end()).size() == made.size());
    std::thread other([&] {
      for (auto* h : made) delete_header(h);
      std::vector<ArrayHeader*> again(300);
      for (auto& h : again) h = new_header();
      if (std::set<ArrayHeader*>(again.begin(), again.end()).size() != again.size()) std::abort();
      for (auto* h : again) delete_header(h);
    });
    other.join();
    made = std::vector<ArrayHeader*>();
    BOOST_TEST(test::live_allocations <= before);  // this thread's list may only have shrunk
  }
}

// An array that lives in a thread_local or static variable dies after the free list of its thread.
struct LateOwner {
  HeaderRef held;
};
BOOST_AUTO_TEST_CASE(headers_may_die_after_the_list_of_their_thread) {
  static LateOwner at_exit;
  at_exit.held = HeaderRef(new_header());
  const long before = test::live_allocations;
  std::thread([] {
    static thread_local LateOwner late;  // constructed before the list, so destroyed after it
    late.held = HeaderRef(new_header());
    delete_header(new_header());
  }).join();
  BOOST_TEST(test::live_allocations == before);
}

BOOST_AUTO_TEST_SUITE_END()
