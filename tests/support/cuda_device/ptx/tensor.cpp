#include <catena/tests/support/cuda_device/ptx/tensor.h>

#include <array>
#include <cstring>
#include <string>

#include <catena/tests/support/cuda_device/ptx/floating.h>
#include <catena/tests/support/cuda_device/ptx/grid.h>
#include <catena/tests/support/cuda_device/ptx/memory.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>

namespace cuda_device::ptx {
namespace {

void need_whole_warp(const Warp& w, const Step& s, Mask lanes) {
  if (lanes != kAllLanes) fail(w, s, -1, "an instruction of the whole warp, executed by a part of its lanes");
}

// ---- products -------------------------------------------------------------------------------------
// Returns the values of all bit patterns of a 16-bit format.
std::vector<float> values_of(const Format& format) {
  std::vector<float> all(65536);
  for (std::uint32_t k = 0; k < all.size(); ++k) all[k] = static_cast<float>(unpacked(format, k));
  return all;
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type". The products are exact, and their sum, whose
// order and rounding the ISA leaves open, is rounded once.
void multiply(Warp& w, const Step& s, Mask lanes, const std::vector<float>& value) {
  need_whole_warp(w, s, lanes);
  float a[16][16], b[16][8];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned group = lane / 4, within = lane % 4;
    for (unsigned r = 0; r < 4; ++r) {
      const std::uint64_t v = in(w, s.from[r])[lane];
      float* const at = &a[group + r % 2 * 8][within * 2 + r / 2 * 8];
      at[0] = value[v & 0xffff];
      at[1] = value[v >> 16 & 0xffff];
    }
    for (unsigned r = 0; r < 2; ++r) {
      const std::uint64_t v = in(w, s.from[4 + r])[lane];
      b[within * 2 + r * 8][group] = value[v & 0xffff];
      b[within * 2 + r * 8 + 1][group] = value[v >> 16 & 0xffff];
    }
  }
  double sum[16][8] = {};
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned k = 0; k < 16; ++k)
      for (unsigned j = 0; j < 8; ++j) sum[i][j] += double(a[i][k]) * double(b[k][j]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    std::array<std::uint64_t, 4> result;
    for (unsigned r = 0; r < 4; ++r) {
      const double c = as<float>(in(w, s.from[6 + r])[lane]);
      result[r] = bits_of(canonical(static_cast<float>(c + sum[lane / 4 + r / 2 * 8][lane % 4 * 2 + r % 2])));
    }
    for (unsigned r = 0; r < 4; ++r) out(w, s.to[r])[lane] = result[r];
  }
}
void multiply_f16(Warp& w, const Step& s, Mask lanes) {
  static const std::vector<float>& values = *new std::vector<float>(values_of(kFloat16));
  multiply(w, s, lanes, values);
}
void multiply_bf16(Warp& w, const Step& s, Mask lanes) {
  static const std::vector<float>& values = *new std::vector<float>(values_of(kBfloat16));
  multiply(w, s, lanes, values);
}

// ---- tiles ----------------------------------------------------------------------------------------
constexpr std::uint32_t kCountMask = 7, kTransposed = 8;  // Step::extra of ldmatrix

void load_matrices(Warp& w, const Step& s, Mask lanes) {
  need_whole_warp(w, s, lanes);
  const unsigned count = s.extra & kCountMask;
  std::uint16_t rows[kLanes][8];
  for (unsigned lane = 0; lane < count * 8; ++lane)
    std::memcpy(rows[lane], reach(w, s, lane, s.space, address_of(w, s, lane), 16, Access::read), 16);
  for (unsigned m = 0; m < count; ++m) {
    std::uint64_t* d = out(w, s.to[m]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned group = lane / 4, first = lane % 4 * 2;
      const bool across = (s.extra & kTransposed) == 0;
      const auto element = [&](unsigned k) -> std::uint64_t {
        return across ? rows[8 * m + group][first + k] : rows[8 * m + first + k][group];
      };
      d[lane] = element(0) | element(1) << 16;
    }
  }
}

// ---- copies ---------------------------------------------------------------------------------------
// Step: from[0] and offset: the destination; from[1] and extra: the source; from[2]: the bytes that are read;
// extends_sign: through level 1.
void begin_copy(Warp& w, const Step& s, Mask lanes) {
  each_lane(lanes, [&](unsigned lane) {
    LateCopy copy{&s, lane, w.copy_groups[lane], address_of(w, s, lane), {}};
    const auto read = static_cast<std::uint32_t>(in(w, s.from[2])[lane]);
    if (read != 0 && read != s.bytes) fail(w, s, int(lane), "a copy that reads a part of its bytes");
    if (read != 0)
      std::memcpy(copy.data.data(), reach(w, s, lane, Space::global, copy_source(w, s, lane), s.bytes, Access::read),
                  s.bytes);
    reach(w, s, lane, Space::shared, copy.to, s.bytes, Access::write);
    w.copies.push_back(copy);
  });
}
void end_group(Warp& w, const Step&, Mask lanes) {
  each_lane(lanes, [&](unsigned lane) { ++w.copy_groups[lane]; });
}
void wait(Warp& w, const Step& s, Mask lanes) {
  const int left = groups_left(s);
  std::erase_if(w.copies, [&](const LateCopy& c) {
    if ((lanes >> c.lane & 1) == 0) return false;
    if (left >= 0 && c.group + std::uint32_t(left) >= w.copy_groups[c.lane]) return false;
    std::memcpy(reach(w, *c.step, c.lane, Space::shared, c.to, c.step->bytes, Access::write), c.data.data(),
                c.step->bytes);
    return true;
  });
}

// ---- decoding -------------------------------------------------------------------------------------
std::vector<Operand> elements(const Operand& o, std::size_t count) {
  if (o.kind != Operand::Kind::vector || o.elements.size() != count) throw Fault{"a vector of another length"};
  return o.elements;
}

void decode_product(std::string_view form, const std::vector<Operand>& o, Operands& context, Step& s) {
  if (form == "sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") s.run = &multiply_f16;
  else if (form == "sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") s.run = &multiply_bf16;
  else throw Fault{"unknown instruction"};
  std::size_t from = 0, to = 0;
  for (const Operand& d : elements(o.at(0), 4)) s.to[to++] = context.destination(d);
  for (const auto& [number, count] : {std::pair<std::size_t, std::size_t>{1, 4}, {2, 2}, {3, 4}})
    for (const Operand& v : elements(o.at(number), count)) s.from[from++] = context.source(v);
}

void decode_matrices(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const unsigned count = has(words, "x4") ? 4 : has(words, "x2") ? 2 : 1;
  if (!has(words, "m8n8") || words.back() != "b16") throw Fault{"unknown instruction"};
  s.space = Space::shared;
  context.address(o.at(1), s);
  s.bytes = 16;
  s.extra = count | (has(words, "trans") ? kTransposed : 0);
  for (unsigned m = 0; m < count; ++m) s.to[m] = context.destination(elements(o.at(0), count)[m]);
  s.run = &load_matrices;
}

void decode_copy(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const std::string_view what = words.at(2);
  s.to[0] = -1;
  if (what == "commit_group") {
    s.run = &end_group;
  } else if (what == "wait_group" || what == "wait_all") {
    s.run = &wait;
    s.extra = what == "wait_all" ? ~0u : static_cast<std::uint32_t>(o.at(0).value);
  } else if ((what == "ca" || what == "cg") && has(words, "global")) {
    Step source;
    source.space = Space::global;
    context.address(o.at(1), source);
    s.space = Space::shared;
    context.address(o.at(0), s);
    s.from[1] = source.from[0];
    s.extra = static_cast<std::uint32_t>(source.offset);
    s.bytes = static_cast<std::uint8_t>(o.at(2).value);
    if (s.bytes != 16 && (what == "cg" || (s.bytes != 4 && s.bytes != 8))) throw Fault{"a copy of so many bytes"};
    s.from[2] = o.size() > 3 ? context.source(o[3]) : context.constant(s.bytes);
    s.extends_sign = what == "ca";
    s.run = &begin_copy;
  } else {
    throw Fault{"unknown instruction"};
  }
}

}  // namespace

bool decode_tensor(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  if (words[0] == "mma") {
    std::string form;
    for (std::size_t k = 1; k < words.size(); ++k) form += (k > 1 ? "." : "") + std::string(words[k]);
    decode_product(form, o, context, s);
  } else if (words[0] == "ldmatrix") {
    decode_matrices(words, o, context, s);
  } else if (words[0] == "cp" && words.size() > 2 && words[1] == "async") {
    decode_copy(words, o, context, s);
  } else {
    return false;
  }
  return true;
}

Mask lanes_with_addresses(const Step& s, Mask lanes) {
  if (s.run != &load_matrices || (s.extra & kCountMask) == 4) return lanes;
  return lanes & ((Mask(1) << 8 * (s.extra & kCountMask)) - 1);
}
CopyAction copy_action(const Step& s) {
  if (s.run == &begin_copy) return CopyAction::begins;
  if (s.run == &end_group) return CopyAction::ends_group;
  return s.run == &wait ? CopyAction::waits : CopyAction::none;
}
std::uint64_t copy_source(const Warp& w, const Step& s, unsigned lane) {
  return in(w, s.from[1])[lane] + static_cast<std::uint64_t>(static_cast<std::int32_t>(s.extra));
}
bool copy_reads(const Warp& w, const Step& s, unsigned lane) {
  return static_cast<std::uint32_t>(in(w, s.from[2])[lane]) != 0;
}
bool copy_is_cached(const Step& s) { return s.extends_sign; }
int groups_left(const Step& s) { return static_cast<int>(s.extra); }

}  // namespace cuda_device::ptx
