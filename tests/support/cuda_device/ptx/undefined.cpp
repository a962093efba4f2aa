#include <catena/tests/support/cuda_device/ptx/undefined.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include <catena/tests/support/cuda_device/ptx/lanes.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>

namespace cuda_device::ptx {
namespace {

using Bits = std::array<Undefined, kLanes>;

bool is_integer(std::string_view type) { return type.starts_with("u") || type.starts_with("s"); }

Bits bits_of_register(const Frame& frame, std::int32_t number) {
  Bits all;
  for (unsigned lane = 0; lane < kLanes; ++lane) all[lane] = frame.undefined.of(number, lane);
  return all;
}

void refuse_use(Warp& w, const Step& s, Mask lanes, std::int32_t number) {
  each_lane(lanes, [&](unsigned lane) {
    const Undefined bits = w.frame->undefined.of(number, lane);
    if (bits.mask == 0) return;
    char at[24];
    std::snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(bits.origin));
    fail(w, s, int(lane),
         std::string("uses what was read at ") + at + " of shared memory that the block has not written");
  });
}

// For instructions that only move bits: the same instruction moves the masks, in registers after those of the routine.
std::vector<Bits> moved(Warp& w, const Step& s, const Flow& flow, Mask lanes) {
  Frame& frame = *w.frame;
  const std::int32_t sources = frame.routine->registers, results = sources + int(s.from.size());
  const std::size_t values = (std::size_t(results) + s.to.size()) * kLanes;
  if (frame.registers.size() < values) frame.registers.resize(values);
  w.registers = frame.registers.data();
  Step masks = s;
  Undefined any;
  for (std::size_t k = 0; k < s.from.size(); ++k) {
    if ((flow.moved >> k & 1) == 0) continue;
    const Bits bits = bits_of_register(frame, s.from[k]);
    masks.from[k] = sources + int(k);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      out(w, masks.from[k])[lane] = bits[lane].mask;
      if (bits[lane].mask != 0) any = bits[lane];
    }
  }
  for (std::size_t k = 0; k < s.to.size(); ++k) masks.to[k] = k < flow.writes.size() ? results + int(k) : -1;
  masks.run(w, masks, lanes);
  std::vector<Bits> all(flow.writes.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    each_lane(lanes, [&](unsigned lane) {
      const std::uint64_t mask = out(w, masks.to[k])[lane];
      if (mask != 0 && mask != kAbsentLane) all[k][lane] = {mask, any.origin};
    });
  return all;
}

// For bitwise operations: a bit that one operand determines has a value.
Bits combined(const Warp& w, const Step& s, const Flow& flow, Mask lanes) {
  const Bits a = bits_of_register(*w.frame, s.from[0]);
  const Bits b = flow.kind == Flow::Kind::inverse ? Bits() : bits_of_register(*w.frame, s.from[1]);
  Bits all;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t ma = a[lane].mask, mb = b[lane].mask;
    std::uint64_t mask = ma | mb;
    if (flow.kind == Flow::Kind::conjunction || flow.kind == Flow::Kind::disjunction) {
      const std::uint64_t flip = flow.kind == Flow::Kind::conjunction ? 0 : ~std::uint64_t(0);
      mask = (ma & mb) | (ma & (in(w, s.from[1])[lane] ^ flip)) | (mb & (in(w, s.from[0])[lane] ^ flip));
    }
    all[lane] = {mask, ma != 0 ? a[lane].origin : b[lane].origin};
  });
  return all;
}

}  // namespace

Undefined UndefinedRegisters::of(std::int32_t number, unsigned lane) const {
  if (number < 0) return {};
  const auto found = bits_.find(std::uint32_t(number) * kLanes + lane);
  return found == bits_.end() ? Undefined() : found->second;
}
void UndefinedRegisters::set(std::int32_t number, unsigned lane, Undefined bits) {
  const std::uint32_t key = std::uint32_t(number) * kLanes + lane;
  if (bits.mask != 0) bits_[key] = bits;
  else if (any()) bits_.erase(key);
}

Flow flow_of(const Words& words, const Step& s, std::vector<std::int32_t> reads, std::vector<std::int32_t> writes) {
  const std::string_view op = words[0], type = words.back();
  Flow flow;
  flow.reads = std::move(reads);
  flow.writes = std::move(writes);
  const auto moves = [&](unsigned operands) {
    flow.kind = Flow::Kind::moves;
    flow.moved = static_cast<std::uint8_t>(operands);
  };
  if (op == "ld" || op == "ldu" || op == "st") flow.kind = Flow::Kind::memory;
  else if (flow.reads.empty()) return flow;
  else if (op == "mov") moves(flow.writes.size() > 1 ? 1u : (1u << s.count) - 1);
  else if (op == "shl" || op == "shr" || op == "bfe" || op == "brev" || op == "shfl") moves(1);
  else if (op == "prmt" || op == "shf" || op == "bfi" || op == "selp") moves(3);
  else if (op == "cvt" && is_integer(type) && is_integer(words[words.size() - 2]) && !has(words, "sat")) moves(1);
  else if (op == "and") flow.kind = Flow::Kind::conjunction;
  else if (op == "or") flow.kind = Flow::Kind::disjunction;
  else if (op == "xor") flow.kind = Flow::Kind::difference;
  else if (op == "not") flow.kind = Flow::Kind::inverse;
  return flow;
}

void run_undefined(Warp& w, const Step& s, Mask lanes) {
  Frame& frame = *w.frame;
  const Flow& flow = frame.routine->flows[static_cast<std::size_t>(&s - frame.routine->steps.data())];
  std::vector<Bits> results(flow.writes.size());
  switch (flow.kind) {
    case Flow::Kind::uses:
      for (const std::int32_t number : flow.reads) refuse_use(w, s, lanes, number);
      break;
    case Flow::Kind::memory:
      refuse_use(w, s, lanes, s.from[0]);
      s.run(w, s, lanes);  // the step records its reads and writes itself
      return;
    case Flow::Kind::moves: results = moved(w, s, flow, lanes); break;
    default: results[0] = combined(w, s, flow, lanes); break;
  }
  s.run(w, s, lanes);
  for (std::size_t k = 0; k < results.size(); ++k)
    each_lane(lanes, [&](unsigned lane) { frame.undefined.set(flow.writes[k], lane, results[k][lane]); });
}

}  // namespace cuda_device::ptx
