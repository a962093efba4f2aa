// The memory pool: a large temporary, and a long sequence of allocations and deallocations of mixed sizes. Copies of
// host memory to the device.
#include <cmath>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

// The contents are undefined, so contenders compare the number of bytes.
nd::Array bytes(std::int64_t n) { return nd::array({n}); }

Ready temporary(const Parameters& p) {
  return {repeated([n = p.at("bytes")] { return nd::empty({n}, nd::uint8); }), [p] { return bytes(p.at("bytes")); }};
}

// Operation i frees the block in a slot, or allocates one if the slot is empty. Slots and sizes (64 bytes to 4 MB,
// logarithmic) are hashes; the sequence repeats after p["operations"].
Ready trace(const Parameters& p) {
  const std::int64_t n = p.at("operations");
  const auto slot = uniform({n}, 0, 0, double(p.at("live"))).to_vector<float>();
  const auto exponent = uniform({n}, 1, 6, 22).to_vector<float>();
  std::vector<std::pair<std::int32_t, std::int32_t>> operations;
  for (std::size_t i = 0; i < slot.size(); ++i)
    operations.emplace_back(std::int32_t(slot[i]), std::int32_t(std::exp2(exponent[i])));
  return {
      repeated([operations, held = std::vector<nd::Array>(std::size_t(p.at("live"))), at = std::size_t{0}]() mutable {
        const auto [slot, size] = operations[at];
        if (++at == operations.size()) at = 0;
        nd::Array& block = held[std::size_t(slot)];
        block = block.get() ? nd::Array() : nd::empty({size}, nd::uint8);
      }),
      [n] { return bytes(n); }};
}

// The memory of the host is not pinned.
Ready host_to_device(const Parameters& p) {
  const std::int64_t n = p.at("bytes") / 4;
  const nd::Array on_device = nd::zeros({n}, nd::float32);
  const nd::DeviceScope scope(nd::cpu_device);
  const auto copy = [on_device, host = uniform({n}, 0)] {
    on_device.set(host);
    return on_device;
  };
  return ready(copy);
}

Parameters some_bytes(Draw& draw) { return {{"bytes", 4 * draw.log_uniform(1, draw.at_most(100000000))}}; }

const Cases cases{
    {"transfer/host_to_device", {{"bytes", 64 << 20}}, {{"bytes", 1 << 10}}, host_to_device, some_bytes},
    {"pool/temporary",
     {{"bytes", 64 << 20}},
     {{"bytes", 1 << 10}},
     temporary,
     [](Draw& draw) {
       return Parameters{{"bytes", draw.log_uniform(1, 4 * draw.at_most(100000000))}};
     }},
    {"pool/trace", {{"operations", 1000000}, {"live", 256}}, {{"operations", 200}, {"live", 16}}, trace},
};

}  // namespace
}  // namespace bench
