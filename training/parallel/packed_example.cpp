#include <catena/training/parallel/packed_example.h>

#include <cstdint>

#include <catena/kernels/base/error.h>

namespace training::internal {

void ExampleWriter::put(MessageWriter& w, const Example& e) {
  w.put(std::uint64_t(e.values.size()));
  for (const Array& a : e.values) put(w, a);
  w.put(std::uint64_t(e.names.size()));
  for (const std::string& name : e.names) w.put_text(name);
}

void ExampleWriter::put(MessageWriter& w, const Array& a) {
  w.put(bool(a));
  if (!a) return;
  catena::check<catena::TypeError>(
      a.device().kind == autograd::Device::Kind::cpu, "MultiprocessIterator", "the dataset gave an array on ",
      a.device(), "; a worker process works in host memory only (a converter moves batches to a device)");
  w.put(a.dtype());
  w.put(std::int64_t(a.ndim()));
  for (int k = 0; k < a.ndim(); ++k) w.put(a.shape(k));
  const std::size_t bytes = static_cast<std::size_t>(a.size()) * catena::itemsize(a.dtype());
  needed_ += bytes;
  const bool fits = bytes > 0 && bytes <= memory_.size() - used_;
  w.put(fits);
  if (fits) {
    autograd::to_host(a, memory_.data() + used_);
    used_ += bytes;
  } else {
    autograd::to_host(a, w.reserve(bytes));
  }
}

Example ExampleReader::get(MessageReader& r) {
  Example e;
  e.values.resize(r.get<std::uint64_t>());
  for (Array& a : e.values) a = get_array(r);
  e.names.resize(r.get<std::uint64_t>());
  for (std::string& name : e.names) name = r.get_text();
  return e;
}

Array ExampleReader::get_array(MessageReader& r) {
  if (!r.get<bool>()) return {};
  const auto dtype = r.get<autograd::Dtype>();
  autograd::Shape shape;
  for (auto ndim = r.get<std::int64_t>(); ndim > 0; --ndim) shape.push_back(r.get<std::int64_t>());
  const std::size_t bytes = static_cast<std::size_t>(catena::size_of(shape)) * catena::itemsize(dtype);
  const void* from = nullptr;
  if (r.get<bool>()) {
    from = memory_.data() + used_;
    used_ += bytes;
  } else {
    from = r.get_bytes(bytes).data();
  }
  return autograd::from_host(from, shape, dtype, autograd::Device{});
}

}  // namespace training::internal
