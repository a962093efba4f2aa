#include <catena/tests/support/cuda_device/ptx/memory.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/memory.h>
#include <catena/tests/support/cuda_device/ptx/floating.h>
#include <catena/tests/support/cuda_device/ptx/grid.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>
#include <catena/tests/support/cuda_device/record.h>

namespace cuda_device::ptx {

std::uint64_t address_of(const Warp& w, const Step& s, unsigned lane) {
  std::uint64_t address = in(w, s.from[0])[lane] + static_cast<std::uint64_t>(s.offset);
  // Addresses of shared and local memory may be in 32-bit registers.
  if (s.space == Space::shared || s.space == Space::local) address &= 0xffffffffu;
  if (s.space == Space::local && s.extra != 0) address += w.frame->local_begin;
  return address;
}

namespace {

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

const char* verb(Access access) {
  return access == Access::read ? "reads" : (access == Access::write ? "writes" : "changes atomically");
}

// ---- spaces ---------------------------------------------------------------------------------------
// One access of one lane.
struct Request {
  Warp& warp;
  const Step& step;
  unsigned lane;
  std::size_t bytes;
  Access access;
  // The location, in shared memory or in the local memory of all threads, and whether bits that it reads have no value.
  Space space = Space::generic;
  std::size_t at = 0;
  bool undefined = false;
  Space within = step.space;  // that of the address

  [[noreturn]] void refuse(const std::string& what) const {
    fail(warp, step, int(lane), std::string(verb(access)) + " " + std::to_string(bytes) + " bytes " + what);
  }
  unsigned thread() const { return warp.number * kLanes + lane; }
};

bool in_module(const Program& program, std::uint64_t address, std::size_t bytes, Block::Range* range) {
  const auto memory = reinterpret_cast<std::uint64_t>(program.memory.data());
  if (address < memory || address >= memory + program.memory.size()) return false;
  for (const auto& [name, placed] : program.globals) {
    const auto begin = reinterpret_cast<std::uint64_t>(placed.address);
    *range = {begin, begin + placed.bytes};
    if (address >= begin && address + bytes <= begin + placed.bytes) return true;
  }
  return false;
}

std::byte* global(const Request& r, std::uint64_t address) {
  Block& b = *r.warp.block;
  auto* const at = reinterpret_cast<std::byte*>(address);
  if (b.checks_order) check_access(at, r.bytes, r.access != Access::read, nullptr);
  for (const Block::Range& known : b.known)
    if (address >= known.begin && address + r.bytes <= known.end) return at;
  Block::Range found;
  if (!in_module(*b.program, address, r.bytes, &found)) {
    const Allocation* allocation = find_allocation(at, r.bytes);
    if (allocation == nullptr) r.refuse("at " + hex(address) + ", " + describe_address(at));
    found.begin = reinterpret_cast<std::uint64_t>(allocation->data);
    found.end = found.begin + allocation->bytes;
  }
  std::copy_backward(b.known, b.known + 3, b.known + 4);
  b.known[0] = found;
  return at;
}

std::byte* shared(Request& r, std::uint64_t offset) {
  Block& b = *r.warp.block;
  const std::uint64_t end = offset + r.bytes, dynamic = b.program->dynamic_shared_begin;
  const bool inside = end <= b.static_shared || (offset >= dynamic && end <= dynamic + b.dynamic_shared);
  if (!inside || end < offset)
    r.refuse("at " + hex(offset) + " of shared memory, of which " + std::to_string(b.static_shared) + " static and " +
             std::to_string(b.dynamic_shared) + " dynamic bytes exist");
  const Shadow::Finding found = b.shadow.note(offset, r.bytes, r.access, r.thread(), r.warp.moment, r.step.line);
  if (found.undefined && r.access == Access::atomic)
    r.refuse("at " + hex(offset) + " of shared memory that the block has not written");
  if (found.race)
    r.refuse("at " + hex(offset) + " of shared memory that thread " + std::to_string(found.thread) + " " +
             verb(found.access) + " at line " + std::to_string(found.line) + ", without a barrier in between");
  r.space = Space::shared;
  r.at = offset;
  r.undefined = found.undefined;
  return b.shared.data() + offset;
}

std::byte* local(Request& r, std::uint64_t offset) {
  if (offset + r.bytes > kLocalBytes || offset + r.bytes < offset) r.refuse("outside of local memory");
  r.space = Space::local;
  r.at = r.thread() * kLocalBytes + offset;
  r.undefined = !r.warp.block->undefined_local.empty();
  return r.warp.block->local + r.at;
}

std::byte* parameter(const Request& r, std::uint64_t offset) {
  std::vector<std::byte>& all = r.warp.block->parameters;
  if (offset + r.bytes > all.size() || offset + r.bytes < offset) r.refuse("outside of the kernel's parameters");
  if (r.access != Access::read) r.refuse("in the kernel's parameters");
  return all.data() + offset;
}

std::byte* resolve(Request& r, std::uint64_t address) {
  if ((address & (r.bytes - 1)) != 0) r.refuse("at " + hex(address) + ", which is not aligned to them");
  r.space = r.within == Space::generic ? Space::global : r.within;
  switch (r.within) {
    case Space::global:
    case Space::constant: return global(r, address);
    case Space::shared: return shared(r, address);
    case Space::local: return local(r, address);
    case Space::entry_param: return parameter(r, address);
    case Space::frame_param: {
      Frame& frame = *r.warp.frame;
      return frame.parameters.data() + r.lane * frame.routine->frame_bytes + address;
    }
    case Space::generic: break;
  }
  const std::uint64_t at = address - shared_window();
  if (at >= 3 * kWindow) return global(r, address);
  if (at < kWindow) return shared(r, at);
  return at < 2 * kWindow ? local(r, at - kWindow) : parameter(r, at - 2 * kWindow);
}

}  // namespace

std::byte* reach(Warp& w, const Step& s, unsigned lane, Space space, std::uint64_t address, std::size_t bytes,
                 Access access) {
  Request r{w, s, lane, bytes, access};
  r.within = space;
  std::byte* const at = resolve(r, address);
  if (r.undefined && access == Access::read) r.refuse("at " + hex(address) + " that the block has not written");
  return at;
}

namespace {

// Returns true if the lanes access global memory only, all of it known: then nothing else has to be checked.
bool all_known(const Warp& w, const Step& s, Mask lanes, std::size_t bytes) {
  const Block& b = *w.block;
  if (b.checks_order || (s.space != Space::global && s.space != Space::generic)) return false;
  const std::uint64_t* addresses = in(w, s.from[0]);
  std::uint64_t lowest = ~std::uint64_t(0), highest = 0, digits = 0;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t address = addresses[lane] + static_cast<std::uint64_t>(s.offset);
    lowest = std::min(lowest, address);
    highest = std::max(highest, address);
    digits |= address;
  });
  if ((digits & (bytes - 1)) != 0) return false;
  return std::any_of(std::begin(b.known), std::end(b.known), [&](const Block::Range& known) {
    return lowest >= known.begin && highest < known.end && known.end - highest >= bytes;
  });
}

// Returns true if all lanes read the same memory and the reads are not recorded.
bool is_uniform_read(const Step& s) { return s.from[0] < 0 && s.space == Space::entry_param; }

// ---- loads and stores -----------------------------------------------------------------------------
// The elements have the type T, whose sign is extended.
template <class T> std::uint64_t read(const std::byte* from) {
  T v;
  std::memcpy(&v, from, sizeof v);
  return static_cast<std::uint64_t>(v);
}

// Bits without a value (undefined.h): a load puts them into registers, and a store takes them from registers.
Undefined undefined_byte(const Request& r, std::size_t at) {
  const Block& b = *r.warp.block;
  if (r.space == Space::shared) return {b.shadow.undefined(at), at};
  const auto found = b.undefined_local.find(at);
  return found == b.undefined_local.end() ? Undefined() : found->second;
}
void note_loaded(const Request& r) {
  const Step& s = r.step;
  for (std::size_t k = 0; k < s.count; ++k) {
    Undefined bits;
    for (std::size_t j = 0; r.undefined && j < s.bytes; ++j) {
      const Undefined byte = undefined_byte(r, r.at + k * s.bytes + j);
      if (byte.mask != 0) bits = {bits.mask | byte.mask << 8 * j, byte.origin};
    }
    const auto unused = static_cast<int>(64 - 8 * s.bytes);
    if (s.extends_sign)
      bits.mask = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits.mask << unused) >> unused);
    r.warp.frame->undefined.set(s.to[k], r.lane, bits);
  }
}
void note_stored(const Request& r) {
  const Step& s = r.step;
  Block& b = *r.warp.block;
  bool nothing_else = true;
  std::uint64_t origin = 0;
  for (std::size_t k = 0; k < s.count; ++k) {
    const Undefined bits = r.warp.frame->undefined.of(s.from[k + 1], r.lane);
    origin = bits.origin;
    for (std::size_t j = 0; j < s.bytes; ++j) {
      const auto mask = static_cast<std::uint8_t>(bits.mask >> 8 * j);
      const std::size_t at = r.at + k * s.bytes + j;
      nothing_else = nothing_else && mask == 0xff;
      if (r.space == Space::shared) b.shadow.set_undefined(at, mask);
      if (r.space == Space::local && mask != 0) b.undefined_local[at] = {mask, bits.origin};
      if (r.space == Space::local && mask == 0) b.undefined_local.erase(at);
    }
  }
  if (r.space == Space::global && nothing_else && (r.bytes >= 4 || !b.shadow.written_near(origin)))
    r.refuse("of what was read at " + hex(origin) + " of shared memory that the block has not written");
}

template <class T> void load_lane(Warp& w, const Step& s, unsigned lane) {
  Request r{w, s, lane, sizeof(T) * s.count, Access::read};
  const std::byte* from = resolve(r, address_of(w, s, lane));
  for (std::size_t k = 0; k < s.count; ++k) out(w, s.to[k])[lane] = read<T>(from + k * sizeof(T));
  if (r.undefined || w.frame->undefined.any()) note_loaded(r);
}

template <class T> void load(Warp& w, const Step& s, Mask lanes) {
  const std::size_t bytes = sizeof(T) * s.count;
  const bool plain = !w.frame->undefined.any();
  if (plain && is_uniform_read(s)) {
    Request r{w, s, static_cast<unsigned>(__builtin_ctz(lanes)), bytes, Access::read};
    const std::byte* from = resolve(r, address_of(w, s, r.lane));
    for (std::size_t k = 0; k < s.count; ++k) {
      const std::uint64_t value = read<T>(from + k * sizeof(T));
      std::uint64_t* d = out(w, s.to[k]);
      each_lane(lanes, [&](unsigned lane) { d[lane] = value; });
    }
  } else if (plain && s.count == 1 && all_known(w, s, lanes, bytes)) {
    const std::uint64_t* addresses = in(w, s.from[0]);
    std::uint64_t* d = out(w, s.to[0]);
    const auto offset = static_cast<std::uint64_t>(s.offset);
    each_lane(lanes, [&](unsigned lane) { d[lane] = read<T>(reinterpret_cast<std::byte*>(addresses[lane] + offset)); });
  } else {
    each_lane(lanes, [&](unsigned lane) { load_lane<T>(w, s, lane); });
  }
}

template <class T> void store_lane(Warp& w, const Step& s, unsigned lane) {
  Request r{w, s, lane, sizeof(T) * s.count, Access::write};
  std::byte* to = resolve(r, address_of(w, s, lane));
  for (std::size_t k = 0; k < s.count; ++k) {
    const auto v = static_cast<T>(in(w, s.from[k + 1])[lane]);
    std::memcpy(to + k * sizeof v, &v, sizeof v);
  }
  if (w.frame->undefined.any() || !w.block->undefined_local.empty()) note_stored(r);
}

template <class T> void store(Warp& w, const Step& s, Mask lanes) {
  const bool plain = s.count == 1 && !w.frame->undefined.any() && w.block->undefined_local.empty();
  if (!plain || !all_known(w, s, lanes, sizeof(T)))
    return each_lane(lanes, [&](unsigned lane) { store_lane<T>(w, s, lane); });
  const std::uint64_t *addresses = in(w, s.from[0]), *values = in(w, s.from[1]);
  const auto offset = static_cast<std::uint64_t>(s.offset);
  each_lane(lanes, [&](unsigned lane) {
    const auto v = static_cast<T>(values[lane]);
    std::memcpy(reinterpret_cast<std::byte*>(addresses[lane] + offset), &v, sizeof v);
  });
}

Run find_load(const Step& s) {
  switch (s.bytes) {
    case 1: return s.extends_sign ? &load<std::int8_t> : &load<std::uint8_t>;
    case 2: return s.extends_sign ? &load<std::int16_t> : &load<std::uint16_t>;
    case 4: return s.extends_sign ? &load<std::int32_t> : &load<std::uint32_t>;
    default: return &load<std::uint64_t>;
  }
}
Run find_store(const Step& s) {
  switch (s.bytes) {
    case 1: return &store<std::uint8_t>;
    case 2: return &store<std::uint16_t>;
    case 4: return &store<std::uint32_t>;
    default: return &store<std::uint64_t>;
  }
}

// ---- atomic operations ----------------------------------------------------------------------------
// Computes the new value from the old one and the operands.
using Change = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);

struct AtomicOp {
  const char* name;
  Change change;
};

std::uint64_t add_f32(std::uint64_t a, std::uint64_t b, std::uint64_t) { return bits_of(as<float>(a) + as<float>(b)); }
// In global memory, subnormal operands and results are replaced by zeros of the same sign.
std::uint64_t add_f32_flushed(std::uint64_t a, std::uint64_t b, std::uint64_t) {
  return bits_of(flushed(flushed(as<float>(a)) + flushed(as<float>(b))));
}
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b, std::uint64_t) {
  return bits_of(as<double>(a) + as<double>(b));
}

template <class T> std::uint64_t add_16_bits(std::uint64_t a, std::uint64_t b, std::uint64_t) {
  const float sum = float(T::from_bits(std::uint16_t(a))) + float(T::from_bits(std::uint16_t(b)));
  return std::isnan(sum) ? 0x7fff : T(sum).bits;
}
template <class T> std::uint64_t add_pair(std::uint64_t a, std::uint64_t b, std::uint64_t) {
  return add_16_bits<T>(a, b, 0) | add_16_bits<T>(a >> 16, b >> 16, 0) << 16;
}

template <class T>
constexpr AtomicOp kIntegerOps[] = {
    {"add", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return a + b; }},
    {"exch", [](std::uint64_t, std::uint64_t b, std::uint64_t) { return b; }},
    {"cas", [](std::uint64_t a, std::uint64_t b, std::uint64_t c) { return T(a) == T(b) ? c : a; }},
    {"min", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return T(a) < T(b) ? a : b; }},
    {"max", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return T(a) > T(b) ? a : b; }},
    {"and", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return a & b; }},
    {"or", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return a | b; }},
    {"xor", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return a ^ b; }},
    {"inc", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return T(a) >= T(b) ? 0 : a + 1; }},
    {"dec", [](std::uint64_t a, std::uint64_t b, std::uint64_t) { return T(a) == 0 || T(a) > T(b) ? b : a - 1; }},
};
template <class T> Change find_integer_op(std::string_view name) {
  for (const AtomicOp& op : kIntegerOps<T>)
    if (op.name == name) return op.change;
  return nullptr;
}

Change find_change(const Words& words, const Step& s) {
  const std::string_view type = words.back();
  std::string_view op;
  for (std::string_view word : words)
    if (find_integer_op<std::uint32_t>(word) != nullptr) op = word;
  if (op == "add" && type == "f32") return s.space == Space::shared ? &add_f32 : &add_f32_flushed;
  if (op == "add" && type == "f64") return &add_f64;
  if (op == "add" && type == "f16") return &add_16_bits<catena::float16>;
  if (op == "add" && type == "bf16") return &add_16_bits<catena::bfloat16>;
  if (op == "add" && type == "f16x2") return &add_pair<catena::float16>;
  if (op == "add" && type == "bf16x2") return &add_pair<catena::bfloat16>;
  if (op.empty() || type.starts_with("f") || type.starts_with("bf")) return nullptr;
  if (type == "s32") return find_integer_op<std::int32_t>(op);
  if (type == "s64") return find_integer_op<std::int64_t>(op);
  if (s.bytes == 8) return find_integer_op<std::uint64_t>(op);
  return s.bytes == 2 ? find_integer_op<std::uint16_t>(op) : find_integer_op<std::uint32_t>(op);
}

constexpr std::int32_t kNoResult = -1;

// The operation is found at run time by the number in the step.
std::vector<Change>& changes() {
  static auto& all = *new std::vector<Change>;
  return all;
}
std::uint64_t read_bytes(const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 2: return read<std::uint16_t>(from);
    case 4: return read<std::uint32_t>(from);
    default: return read<std::uint64_t>(from);
  }
}
void change_numbered(Warp& w, const Step& s, Mask lanes) {
  const Change op = changes()[s.extra >> 1];
  each_lane(lanes, [&](unsigned lane) {
    Request r{w, s, lane, s.bytes, Access::atomic};
    if (s.space != Space::shared) count_atomic();
    std::byte* at = resolve(r, address_of(w, s, lane));
    const std::uint64_t old = read_bytes(at, s.bytes);
    const std::uint64_t value = op(old, in(w, s.from[1])[lane], in(w, s.from[2])[lane]);
    std::memcpy(at, &value, s.bytes);
    if (s.to[0] != kNoResult) out(w, s.to[0])[lane] = old;
  });
}

// ---- addresses ------------------------------------------------------------------------------------
std::uint64_t window_of(Space space) {
  if (space == Space::shared) return shared_window();
  if (space == Space::local) return local_window();
  return space == Space::entry_param ? parameter_window() : 0;
}
void to_generic(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), window = window_of(s.space);
  std::uint64_t* d = out(w, s.to[0]);
  const std::uint64_t used = window != 0 ? 0xffffffffu : ~std::uint64_t(0);
  each_lane(lanes, [&](unsigned lane) { d[lane] = (a[lane] & used) + window; });
}
void from_generic(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), window = window_of(s.space);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = a[lane] - window; });
}
void is_space(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  const std::uint64_t window = window_of(s.space);
  Mask result = 0;
  each_lane(lanes, [&](unsigned lane) {
    const bool in_window = window != 0 ? a[lane] - window < kWindow : a[lane] - shared_window() >= 3 * kWindow;
    result |= Mask(in_window) << lane;
  });
  set_predicate(w, s.to[0], lanes, result);
}
void local_address(Warp& w, const Step& s, Mask lanes) {
  std::uint64_t* d = out(w, s.to[0]);
  const std::uint64_t address = w.frame->local_begin + static_cast<std::uint64_t>(s.offset);
  each_lane(lanes, [&](unsigned lane) { d[lane] = address; });
}
void nothing(Warp&, const Step&, Mask) {}

// ---- decoding -------------------------------------------------------------------------------------
Space space_of(const Words& words) {
  for (std::string_view word : words) {
    word = word.substr(0, word.find("::"));
    if (word == "global") return Space::global;
    if (word == "const") return Space::constant;
    if (word == "shared") return Space::shared;
    if (word == "local") return Space::local;
    if (word == "param") return Space::frame_param;
  }
  return Space::generic;
}

// True for words that have no effect on a device without caches and with one thread.
bool is_hint(std::string_view word) {
  constexpr std::string_view known[] = {"nc",  "volatile", "relaxed", "acquire", "release", "acq_rel", "weak",
                                        "cta", "gpu",      "sys",     "ca",      "cg",      "cs",      "lu",
                                        "cv",  "wb",       "wt",      "mmio",    "cluster", "noftz"};
  return word.starts_with("L1::") || word.starts_with("L2::") ||
         std::find(std::begin(known), std::end(known), word) != std::end(known);
}

void set_type(std::string_view type, Step& s) {
  constexpr std::string_view letters[] = {"b", "u", "s", "f"};
  const std::string_view letter = type.substr(0, 1), digits = type.substr(1);
  const int bits = std::atoi(std::string(digits).c_str());
  const bool known = std::find(std::begin(letters), std::end(letters), letter) != std::end(letters);
  if (!known || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) throw Fault{"unknown type"};
  s.bytes = static_cast<std::uint8_t>(bits / 8);
  s.extends_sign = letter == "s";
}

// A symbol in local memory is relative to the frame.
void set_address(const Operand& operand, Operands& context, Step& s) {
  s.extra = 0;
  context.address(operand, s);
  if (s.space == Space::local && operand.elements[0].kind != Operand::Kind::reg) s.extra = 1;
}

void decode_access(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const bool loads = words[0] == "ld" || words[0] == "ldu";
  s.space = space_of(words);
  set_type(words.back(), s);
  for (std::size_t k = 1; k + 1 < words.size(); ++k) {
    if (words[k] == "v2" || words[k] == "v4") s.count = words[k] == "v2" ? 2 : 4;
    else if (space_of({words[k]}) == Space::generic && !is_hint(words[k])) throw Fault{"unknown instruction"};
  }
  const Operand& values = o.at(loads ? 0 : 1);
  set_address(o.at(loads ? 1 : 0), context, s);
  s.run = loads ? find_load(s) : find_store(s);
  if (s.count != (values.kind == Operand::Kind::vector ? values.elements.size() : 1))
    throw Fault{"a vector of another length"};
  for (std::size_t k = 0; k < s.count; ++k) {
    const Operand& value = values.kind == Operand::Kind::vector ? values.elements[k] : values;
    if (loads) s.to[k] = context.destination(value);
    else s.from[k + 1] = context.source(value);
  }
}

void decode_atomic(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const bool gives = words[0] == "atom";
  s.space = space_of(words);
  const std::string_view type = words.back();
  set_type(type.ends_with("f16x2") ? "b32" : type == "bf16" ? "b16" : type, s);
  set_address(o.at(gives ? 1 : 0), context, s);
  const Change op = find_change(words, s);
  if (op == nullptr) throw Fault{"unknown instruction"};
  s.to[0] = gives ? context.destination(o.at(0)) : kNoResult;
  s.from[1] = s.from[2] = context.constant(0);
  for (std::size_t k = gives ? 2 : 1, to = 1; k < o.size(); ++k) s.from[to++] = context.source(o[k]);
  const auto found = std::find(changes().begin(), changes().end(), op);
  const auto number = static_cast<std::uint32_t>(found - changes().begin());
  if (found == changes().end()) changes().push_back(op);
  s.extra |= number << 1;
  s.run = &change_numbered;
}

void decode_conversion(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  s.space = space_of(words);
  if (s.space == Space::frame_param) s.space = Space::entry_param;
  s.from[0] = context.source(o.at(1));
  if (words[0] == "isspacep") {
    s.run = &is_space;
    s.to[0] = context.predicate(o.at(0));
  } else {
    s.run = words[1] == "to" ? &from_generic : &to_generic;
    s.to[0] = context.destination(o.at(0));
  }
}

}  // namespace

bool decode_memory(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const std::string_view op = words[0];
  if (op == "ld" || op == "ldu" || op == "st") {
    decode_access(words, o, context, s);
  } else if (op == "atom" || op == "red") {
    decode_atomic(words, o, context, s);
  } else if (op == "cvta" || op == "isspacep") {
    decode_conversion(words, o, context, s);
  } else if (op == "prefetch" || op == "prefetchu" || op == "applypriority" || op == "discard") {
    s.run = &nothing;
  } else if (op == "mov" && o.size() == 2 && o[1].kind == Operand::Kind::name) {
    const Variable* v = context.variable(o[1].name);
    if (v == nullptr || v->space != Space::local) return false;
    s.run = &local_address;
    s.offset = static_cast<std::int64_t>(v->offset) + o[1].value;
    s.to[0] = context.destination(o[0]);
  } else {
    return false;
  }
  return true;
}

}  // namespace cuda_device::ptx
