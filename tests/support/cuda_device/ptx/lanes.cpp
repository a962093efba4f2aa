#include <catena/tests/support/cuda_device/ptx/lanes.h>

#include <chrono>
#include <iterator>

#include <catena/tests/support/cuda_device/ptx/grid.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>

namespace cuda_device::ptx {
namespace {

constexpr std::size_t kMembers = 4;  // index of the member mask in Step::from

// ---- shuffles -------------------------------------------------------------------------------------
enum class Shuffle : std::uint32_t { up, down, bfly, idx };

template <Shuffle Mode> void shuffle(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t result[kLanes];
  Mask valid = 0;
  each_lane(lanes, [&](unsigned lane) {
    const int own = int(lane), distance = int(b[lane] & 31), clamp = int(c[lane] & 31), mask = int(c[lane] >> 8 & 31);
    const int last = (own & mask) | (clamp & ~mask & 31), first = own & mask;
    int from = own;
    bool inside = false;
    if constexpr (Mode == Shuffle::up) inside = (from = own - distance) >= last;
    if constexpr (Mode == Shuffle::down) inside = (from = own + distance) <= last;
    if constexpr (Mode == Shuffle::bfly) inside = (from = own ^ distance) <= last;
    if constexpr (Mode == Shuffle::idx) inside = (from = first | (distance & ~mask & 31)) <= last;
    if (!inside) from = own;
    valid |= Mask(inside) << lane;
    result[lane] = (lanes >> from & 1) != 0 ? a[from] & 0xffffffffu : kAbsentLane;
  });
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = result[lane]; });
  if (s.to[1] >= 0) set_predicate(w, s.to[1], lanes, valid);
}

Run find_shuffle(std::string_view mode) {
  if (mode == "up") return &shuffle<Shuffle::up>;
  if (mode == "down") return &shuffle<Shuffle::down>;
  if (mode == "bfly") return &shuffle<Shuffle::bfly>;
  if (mode == "idx") return &shuffle<Shuffle::idx>;
  throw Fault{"unknown instruction"};
}

// ---- votes and reductions -------------------------------------------------------------------------
Mask votes(const Warp& w, const Step& s, Mask lanes) {
  return (w.predicates[s.from[0]] ^ (s.extra != 0 ? kAllLanes : 0)) & lanes;
}
void vote_any(Warp& w, const Step& s, Mask lanes) {
  set_predicate(w, s.to[0], lanes, votes(w, s, lanes) != 0 ? kAllLanes : 0);
}
void vote_all(Warp& w, const Step& s, Mask lanes) {
  set_predicate(w, s.to[0], lanes, votes(w, s, lanes) == lanes ? kAllLanes : 0);
}
void vote_uni(Warp& w, const Step& s, Mask lanes) {
  const Mask all = votes(w, s, lanes);
  set_predicate(w, s.to[0], lanes, all == lanes || all == 0 ? kAllLanes : 0);
}
void vote_ballot(Warp& w, const Step& s, Mask lanes) {
  const Mask all = votes(w, s, lanes);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = all; });
}

template <class T, bool All> void match(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t result[kLanes];
  each_lane(lanes, [&](unsigned lane) {
    Mask same = 0;
    each_lane(lanes, [&](unsigned other) { same |= Mask(T(a[other]) == T(a[lane])) << other; });
    result[lane] = All && same != lanes ? 0 : same;
  });
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = result[lane]; });
  if (s.to[1] >= 0) set_predicate(w, s.to[1], lanes, result[__builtin_ctz(lanes)] != 0 ? kAllLanes : 0);
}

template <class T, class F> void reduce(Warp& w, const Step& s, Mask lanes, F combine) {
  const std::uint64_t* a = in(w, s.from[0]);
  T all = T(a[__builtin_ctz(lanes)]);
  each_lane(lanes & (lanes - 1), [&](unsigned lane) { all = T(combine(all, T(a[lane]))); });
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = static_cast<std::uint32_t>(all); });
}
template <class T> Run find_reduction(std::string_view op) {
  if (op == "add")
    return [](Warp& w, const Step& s, Mask m) { reduce<std::uint32_t>(w, s, m, [](auto a, auto b) { return a + b; }); };
  if (op == "min")
    return [](Warp& w, const Step& s, Mask m) { reduce<T>(w, s, m, [](T a, T b) { return a < b ? a : b; }); };
  if (op == "max")
    return [](Warp& w, const Step& s, Mask m) { reduce<T>(w, s, m, [](T a, T b) { return a > b ? a : b; }); };
  if (op == "and") return [](Warp& w, const Step& s, Mask m) { reduce<T>(w, s, m, [](T a, T b) { return a & b; }); };
  if (op == "or") return [](Warp& w, const Step& s, Mask m) { reduce<T>(w, s, m, [](T a, T b) { return a | b; }); };
  if (op == "xor") return [](Warp& w, const Step& s, Mask m) { reduce<T>(w, s, m, [](T a, T b) { return a ^ b; }); };
  throw Fault{"unknown instruction"};
}

// ---- others ---------------------------------------------------------------------------------------
void nothing(Warp&, const Step&, Mask) {}
void pass_warp_barrier(Warp& w, const Step&, Mask) { ++w.moment; }
void trap(Warp& w, const Step& s, Mask lanes) { fail(w, s, __builtin_ctz(lanes), "a trap"); }
void active_mask(Warp& w, const Step& s, Mask lanes) {
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = lanes; });
}
void elect(Warp& w, const Step& s, Mask lanes) {
  const auto leader = unsigned(__builtin_ctz(lanes));
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = leader; });
  set_predicate(w, s.to[1], lanes, Mask(1) << leader);
}

// ---- special registers ----------------------------------------------------------------------------
constexpr std::string_view kSpecial[] = {
    "%tid.x",       "%tid.y",       "%tid.z",    "%ntid.x",   "%ntid.y",      "%ntid.z",          "%ctaid.x",
    "%ctaid.y",     "%ctaid.z",     "%nctaid.x", "%nctaid.y", "%nctaid.z",    "%laneid",          "%warpid",
    "%nwarpid",     "%smid",        "%nsmid",    "%gridid",   "%lanemask_eq", "%lanemask_lt",     "%lanemask_le",
    "%lanemask_gt", "%lanemask_ge", "%clock",    "%clock64",  "%globaltimer", "%total_smem_size", "%dynamic_smem_size"};

std::uint64_t special_value(const Warp& w, std::uint32_t which, unsigned lane) {
  const Block& b = *w.block;
  const unsigned thread = w.number * kLanes + lane, bit = 1u << lane;
  switch (which) {
    case 0: return thread < b.size.x ? thread : thread % b.size.x;
    case 1: return thread < b.size.x ? 0 : thread / b.size.x % b.size.y;
    case 2: return thread < b.size.x ? 0 : thread / (b.size.x * b.size.y);
    case 3: return b.size.x;
    case 4: return b.size.y;
    case 5: return b.size.z;
    case 6: return b.index.x;
    case 7: return b.index.y;
    case 8: return b.index.z;
    case 9: return b.grid_size.x;
    case 10: return b.grid_size.y;
    case 11: return b.grid_size.z;
    case 12: return lane;
    case 13: return w.number;
    case 14: return b.warps;
    case 15: return 0;
    case 16: return 1;
    case 17: return b.grid;
    case 18: return bit;
    case 19: return bit - 1;
    case 20: return bit | (bit - 1);
    case 21: return ~(bit | (bit - 1));
    case 22: return ~(bit - 1);
    case 26: return b.static_shared + b.dynamic_shared;
    case 27: return b.dynamic_shared;
    default: return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
}
// Of a size or an index: all lanes have the same value.
void move_uniform(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t value = special_value(w, s.extra, 0);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = value; });
}
void move_special(Warp& w, const Step& s, Mask lanes) {
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = special_value(w, s.extra, lane); });
}

bool decode_special(const std::vector<Operand>& o, Operands& context, Step& s) {
  if (o.size() != 2 || o[1].kind != Operand::Kind::name || !o[1].name.starts_with("%")) return false;
  for (std::size_t k = 0; k < std::size(kSpecial); ++k) {
    if (kSpecial[k] != o[1].name) continue;
    const std::string_view name = kSpecial[k];
    const bool uniform = name.starts_with("%ntid") || name.starts_with("%ctaid") || name.starts_with("%nctaid");
    s.run = uniform ? &move_uniform : &move_special;
    s.extra = static_cast<std::uint32_t>(k);
    s.to[0] = context.destination(o[0]);
    return true;
  }
  throw Fault{"unknown special register"};
}

// ---- decoding -------------------------------------------------------------------------------------
// bar.sync 0; barrier.sync.aligned 0; bar.red.and.pred p, 0, q; for all threads of the block.
void decode_barrier(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  s.kind = Kind::barrier;
  s.extra = words[0] == "bar" || has(words, "aligned") ? 1 : 0;
  const bool reduces = has(words, "red");
  if (!reduces && !has(words, "sync")) throw Fault{"unknown instruction"};
  const Operand& id = o.at(reduces ? 1 : 0);
  s.from[0] = context.source(id);
  if (o.size() > (reduces ? 3u : 1u)) throw Fault{"a barrier of some threads of a block"};
  if (!reduces) return;
  s.from[1] = context.predicate(o.at(2));
  s.extra |= o[2].negated ? 2u : 0u;
  s.count = has(words, "popc") ? 1 : (has(words, "and") ? 2 : 3);
  s.bytes = 1;  // it has a result
  s.to[0] = s.count == 1 ? context.destination(o[0]) : context.predicate(o[0]);
}

void members(const Operand& operand, Operands& context, Step& s) {
  s.kind = Kind::sync;
  s.from[kMembers] = context.source(operand);
}

void decode_vote(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const bool ballot = words.at(2) == "ballot";
  s.to[0] = ballot ? context.destination(o.at(0)) : context.predicate(o.at(0));
  s.from[0] = context.predicate(o.at(1));
  s.extra = o[1].negated ? 1 : 0;
  s.run = ballot ? &vote_ballot : (words[2] == "any" ? &vote_any : (words[2] == "all" ? &vote_all : &vote_uni));
  members(o.at(2), context, s);
}

void decode_match(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const bool all = words.at(1) == "all", wide = words.back() == "b64";
  s.to[0] = context.destination(o.at(0));
  s.to[1] = o[0].other;
  s.from[0] = context.source(o.at(1));
  if (all) s.run = wide ? &match<std::uint64_t, true> : &match<std::uint32_t, true>;
  else s.run = wide ? &match<std::uint64_t, false> : &match<std::uint32_t, false>;
  members(o.at(2), context, s);
}

bool decode_sync(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  if (words[0] == "shfl") {
    s.run = find_shuffle(words.at(2));
    s.to[0] = context.destination(o.at(0));
    s.to[1] = o[0].other;
    for (std::size_t k = 0; k < 3; ++k) s.from[k] = context.source(o.at(k + 1));
    members(o.at(4), context, s);
  } else if (words[0] == "vote") {
    decode_vote(words, o, context, s);
  } else if (words[0] == "match") {
    decode_match(words, o, context, s);
  } else if (words[0] == "redux") {
    s.run =
        words.back() == "s32" ? find_reduction<std::int32_t>(words.at(2)) : find_reduction<std::uint32_t>(words.at(2));
    s.to[0] = context.destination(o.at(0));
    s.from[0] = context.source(o.at(1));
    members(o.at(2), context, s);
  } else if (words[0] == "elect") {
    s.run = &elect;
    s.to[0] = context.destination(o.at(0));
    s.to[1] = o[0].other;
    members(o.at(1), context, s);
  } else {
    return false;
  }
  if (words.at(1) != "sync" && words[words.size() > 2 ? 2 : 1] != "sync" && words[0] != "match")
    throw Fault{"an instruction between lanes without .sync"};
  return true;
}

}  // namespace

bool decode_control(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const std::string_view op = words[0];
  if (op == "mov") return decode_special(o, context, s);
  if (op == "ret" || op == "exit") {
    s.kind = op == "ret" ? Kind::ret : Kind::exit;
  } else if (op == "trap" || op == "brkpt") {
    s.run = &trap;
  } else if (op == "bar" && words.at(1) == "warp") {
    s.run = &pass_warp_barrier;
    members(o.at(0), context, s);
  } else if (op == "bar" || op == "barrier") {
    decode_barrier(words, o, context, s);
  } else if (op == "activemask") {
    s.run = &active_mask;
    s.to[0] = context.destination(o.at(0));
  } else if (op == "membar" || op == "fence" || op == "nanosleep" || op == "pmevent") {
    s.run = &nothing;  // one thread runs all warps, and every access is complete when the next begins
  } else {
    return decode_sync(words, o, context, s);
  }
  return true;
}

Mask members_of(const Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* masks = in(w, s.from[kMembers]);
  const auto wanted = static_cast<Mask>(masks[__builtin_ctz(lanes)]);
  each_lane(lanes, [&](unsigned lane) {
    const auto own = static_cast<Mask>(masks[lane]);
    if ((own >> lane & 1) == 0) fail(w, s, int(lane), "a lane that is not in its own member mask");
    if (own != wanted) fail(w, s, int(lane), "lanes with different member masks");
  });
  return wanted;
}

bool meets_anywhere(const Step& step) { return step.run == &pass_warp_barrier; }

}  // namespace cuda_device::ptx
