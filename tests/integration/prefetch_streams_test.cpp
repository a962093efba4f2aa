// Batches that are copied to a GPU ahead: on a stream of their own, in order with the work of the program, and without
// a wait of the host. Watched by the software CUDA device.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/training_fixtures.h>

using autograd::Array;
using cuda_device::Control;

namespace {

bool watched() {
  if (Control::available()) return true;
  std::cout << "skipped: streams are watched by the software CUDA device\n";
  return false;
}

// A training whose examples are in host memory.
struct Training {
  training::TupleDataset data = [] {
    const nd::DeviceScope host(nd::cpu_device);
    return training::TupleDataset(nd::random::standard_normal({24, 6}).astype(nd::float32),
                                  (nd::arange(24) % 3).astype(nd::int32));
  }();
  nn::Classifier<nn::Linear> model{nn::Linear(6, 3), {.compute_accuracy = false}};
  training::SGD sgd{0.1};

  Training() { sgd.setup(model); }
  // The host waits for nothing in the updates, and the computations wait for the copies. The first three updates
  // allocate the memory.
  static void watch(training::StandardUpdater& updater, training::PrefetchIterator* ahead = nullptr) {
    for (int k = 0; k < 3; ++k) updater.update();
    nd::synchronize();
    Control control;
    control.set_check(true);
    control.reset_records();
    for (int k = 0; k < 12; ++k) updater.update();
    if (ahead != nullptr) ahead->finalize();
    BOOST_TEST(control.synchronisations().empty());
    BOOST_TEST(control.calls("cuStreamWaitEvent") >= 12u);
    nd::synchronize();
    BOOST_TEST(control.last_report() == "");
    control.set_check(false);
  }
};

// The examples are rows of an array on the device, so that batches are made of them by kernels.
struct Rows : training::DatasetMixin {
  nd::Array rows = nd::arange(60).reshape({12, 5}).astype(nd::float32);
  std::int64_t size() const override { return 12; }
  training::Example get_example(std::int64_t i) const override { return Array(rows(i)); }
};

BOOST_AUTO_TEST_SUITE(prefetch_streams)

BOOST_AUTO_TEST_CASE(kernels_on_a_stream_of_their_own) {
  if (!watched()) return;
  Control control;
  control.set_check(true);
  const Rows rows;
  training::PrefetchIterator it(training::SerialIterator(rows, 3, {.shuffle = false}), {.depth = 2});
  it.next();
  control.reset_records();
  for (int k = 1; k < 5; ++k) {
    const nd::Array x(it.next()->stacked->values[0]);
    BOOST_TEST(test::values(Array(x.sum(1)))[0] == 25.0 * 3 * (k % 4) + 10);
  }
  it.finalize();
  std::set<const void*> streams;
  for (const Control::Launch& l : control.launches()) streams.insert(l.stream);
  BOOST_TEST(streams.size() == 2u);  // that of the program, and the other
  BOOST_TEST(streams.contains(nullptr));
  BOOST_TEST(control.last_report() == "");
  control.set_check(false);
}

BOOST_FIXTURE_TEST_CASE(steps_on_examples_of_the_host, Training) {
  if (!watched()) return;
  training::PrefetchIterator it(training::SerialIterator(data, 4, {.seed = 1}), {.depth = 2});
  training::StandardUpdater updater(it, sgd);
  watch(updater, &it);
}

BOOST_FIXTURE_TEST_CASE(a_converter_that_copies_beside_computations, Training) {
  if (!watched()) return;
  training::StandardUpdater updater(training::SerialIterator(data, 4, {.seed = 1}), sgd,
                                    {.converter = training::ConcatWithAsyncTransfer(), .device = 0});
  watch(updater);
}

// Examples on the device are read behind the work that makes them.
BOOST_AUTO_TEST_CASE(a_converter_of_examples_on_the_device) {
  if (!watched()) return;
  Control control;
  control.set_check(true);
  const Rows rows;
  const training::ConcatWithAsyncTransfer converter;
  training::SerialIterator it(rows, 3, {.shuffle = false});
  converter(*it.next(), nd::current_device());
  control.reset_records();
  for (int k = 1; k < 5; ++k) {
    const nd::Array x(converter(*it.next(), nd::current_device()).values[0]);
    BOOST_TEST(test::values(Array(x.sum(1)))[0] == 25.0 * 3 * (k % 4) + 10);
  }
  std::set<const void*> streams;
  for (const Control::Launch& l : control.launches()) streams.insert(l.stream);
  BOOST_TEST(streams.size() == 2u);  // that of the program, and the other
  BOOST_TEST(control.last_report() == "");
  control.set_check(false);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
