#include <catena/tests/support/cuda_device/ptx/warp.h>

#include <algorithm>
#include <cstring>

#include <catena/tests/support/cuda_device/ptx/grid.h>
#include <catena/tests/support/cuda_device/ptx/lanes.h>
#include <catena/tests/support/cuda_device/ptx/profile.h>

namespace cuda_device::ptx {

// The effects of control-flow steps on the paths of a warp.
struct PathControl {
  Warp& w;

  Path& path() { return w.paths[static_cast<std::size_t>(w.current)]; }

  // ---- frames -------------------------------------------------------------------------------------
  Frame* make_frame(const Routine& routine) {
    if (w.frames_in_use == w.frames.size()) w.frames.push_back(std::make_unique<Frame>());
    Frame* frame = w.frames[w.frames_in_use++].get();
    frame->routine = &routine;
    frame->undefined.clear();
    // Values of an earlier use are not cleared: a register has no defined value before it is written.
    const std::size_t values = static_cast<std::size_t>(routine.registers) * kLanes;
    if (frame->registers.size() < values) frame->registers.resize(values);
    const auto predicates = static_cast<std::size_t>(routine.predicates);
    if (frame->predicates.size() < predicates) frame->predicates.resize(predicates);
    frame->predicates[kFalse] = 0;
    frame->predicates[kTrue] = kAllLanes;
    const std::size_t bytes = routine.frame_bytes * kLanes;
    if (frame->parameters.size() < bytes) frame->parameters.resize(bytes);
    return frame;
  }
  void release(Frame* frame) {
    const auto end = w.frames.begin() + std::ptrdiff_t(w.frames_in_use);
    const auto found = std::find_if(w.frames.begin(), end, [&](const auto& f) { return f.get() == frame; });
    std::iter_swap(found, end - 1);
    --w.frames_in_use;
  }

  // ---- choosing a path ----------------------------------------------------------------------------
  void enter(int number) {
    w.current = number;
    Frame* frame = path().frame;
    w.frame = frame;
    w.registers = frame->registers.data();
    w.predicates = frame->predicates.data();
    w.constants = frame->routine->constants.data();
  }
  int add(Path p) {
    // Only numbers of paths are stored, so the vector may be reallocated.
    for (std::size_t k = 0; k < w.paths.size(); ++k) {
      if (w.paths[k].state != Path::State::ended) continue;
      w.paths[k] = p;
      return static_cast<int>(k);
    }
    w.paths.push_back(p);
    return static_cast<int>(w.paths.size()) - 1;
  }
  // Chooses the path to continue; returns false if none can.
  bool choose() {
    for (std::size_t k = w.paths.size(); k-- > 0;) {
      if (w.paths[k].state != Path::State::ready) continue;
      enter(static_cast<int>(k));
      return true;
    }
    return false;
  }

  // ---- ends and meetings --------------------------------------------------------------------------
  // Called when path `number` has reached the step where its parent continues, or has no lanes left.
  void end(int number) {
    while (number >= 0) {
      Path& p = w.paths[static_cast<std::size_t>(number)];
      p.state = Path::State::ended;
      const int above = p.parent;
      if (above < 0) return;
      Path& parent = w.paths[static_cast<std::size_t>(above)];
      if (--parent.children > 0) return;
      if (p.frame != parent.frame) release(p.frame);
      parent.state = Path::State::ready;
      if (parent.lanes != 0 && parent.pc != parent.reconverge) return;
      number = above;
    }
  }

  void exit_lanes(Mask lanes) {
    w.live &= ~lanes;
    for (Path& p : w.paths) p.lanes &= ~lanes;
  }

  // Returns lanes from a call: copies the results to the caller's frame.
  void return_lanes(Mask lanes) {
    const Frame& from = *w.frame;
    const std::size_t from_bytes = from.routine->frame_bytes, to_bytes = from.caller->routine->frame_bytes;
    for (const Call::Copy& copy : from.call->results)
      each_lane(lanes, [&](unsigned lane) {
        std::memcpy(from.caller->parameters.data() + lane * to_bytes + copy.caller,
                    from.parameters.data() + lane * from_bytes + copy.callee, copy.bytes);
      });
    // The lanes continue in the path that waits for this call; they are removed from the paths between, in the same
    // routine.
    for (int k = w.current; k >= 0 && w.paths[std::size_t(k)].frame == w.frame; k = w.paths[std::size_t(k)].parent)
      w.paths[std::size_t(k)].lanes &= ~lanes;
  }

  void call(const Step& s, Mask lanes) {
    Path& caller = path();
    if (lanes != caller.lanes) return diverge_for(s, lanes);
    Frame* frame = make_frame(*s.call->routine);
    frame->caller = w.frame;
    frame->call = s.call;
    frame->local_begin = w.frame->local_begin + w.frame->routine->local_bytes;
    if (frame->local_begin + s.call->routine->local_bytes > kLocalBytes) fail(w, s, -1, "local memory is too small");
    const std::size_t from_bytes = w.frame->routine->frame_bytes, to_bytes = s.call->routine->frame_bytes;
    for (const Call::Copy& copy : s.call->arguments)
      each_lane(lanes, [&](unsigned lane) {
        std::memcpy(frame->parameters.data() + lane * to_bytes + copy.callee,
                    w.frame->parameters.data() + lane * from_bytes + copy.caller, copy.bytes);
      });
    caller.state = Path::State::meeting;
    caller.children = 1;
    ++caller.pc;
    const Path callee{frame, 0, -1, lanes, w.current, 0, Path::State::ready};
    enter(add(callee));
  }
  // A predicated call: the lanes that execute it become a path, which meets the others after the call.
  void diverge_for(const Step& s, Mask lanes) {
    Path& p = path();
    const std::int32_t at = p.pc;
    if (lanes == 0) {
      ++p.pc;
      return;
    }
    p.pc = at + 1;
    p.state = Path::State::meeting;
    p.children = 1;
    (void)s;
    const Path inside{p.frame, at, at + 1, lanes, w.current, 0, Path::State::ready};
    enter(add(inside));
  }

  // Lanes branch to several targets. All of them become separate paths, except lanes at the step where the path ends
  // anyway.
  void split(const Step& s, const std::vector<std::pair<std::int32_t, Mask>>& ways) {
    if (ways.size() == 1) {
      path().pc = ways[0].first;
      return;
    }
    int parent = w.current;
    const std::int32_t meet = s.reconverge;
    Path whole = path();
    const bool inherits = meet < 0 || meet == whole.reconverge;
    if (inherits) parent = whole.parent;
    int children = 0;
    std::vector<int> made;
    for (const auto& [target, lanes] : ways) {
      const std::int32_t end_of_way = inherits ? whole.reconverge : meet;
      if (target == end_of_way) continue;
      Path way{whole.frame, target, end_of_way, lanes, parent, 0, Path::State::ready};
      if (inherits && children == 0) w.paths[std::size_t(w.current)] = way;
      else made.push_back(add(way));
      ++children;
    }
    if (inherits) {
      if (parent >= 0) w.paths[std::size_t(parent)].children += children - 1;
    } else {
      Path& p = path();
      p.state = Path::State::meeting;
      p.children = children;
      p.pc = meet;
    }
    enter(made.empty() ? w.current : made.back());
  }

  void branch(const Step& s, Mask lanes) {
    Path& p = path();
    if (lanes == p.lanes) p.pc = s.target;
    else if (lanes == 0) ++p.pc;
    else split(s, {{s.target, lanes}, {p.pc + 1, p.lanes & ~lanes}});
  }
  void branch_table(const Step& s, Mask lanes) {
    std::vector<std::pair<std::int32_t, Mask>> ways;
    const auto go = [&](std::int32_t target, Mask who) {
      const auto found = std::find_if(ways.begin(), ways.end(), [&](const auto& way) { return way.first == target; });
      if (found != ways.end()) found->second |= who;
      else ways.emplace_back(target, who);
    };
    const std::uint64_t* index = in(w, s.from[0]);
    each_lane(lanes, [&](unsigned lane) {
      const auto k = static_cast<std::uint32_t>(index[lane]);
      if (k >= s.table->size()) fail(w, s, int(lane), "an index of a branch that is too large");
      go((*s.table)[k], Mask(1) << lane);
    });
    if (const Mask rest = path().lanes & ~lanes; rest != 0) go(path().pc + 1, rest);
    split(s, ways);
  }

  void execute(const Step& s, Mask lanes) {
    if (w.frame->undefined.any()) run_undefined(w, s, lanes);
    else s.run(w, s, lanes);
  }

  // ---- .sync --------------------------------------------------------------------------------------
  // Executes the instruction if all its members have arrived; else the path waits for them.
  bool sync(const Step& s, Mask lanes) {
    Path& p = path();
    if (lanes == 0) {
      ++p.pc;
      return true;
    }
    const Mask members = members_of(w, s, lanes) & w.live;
    Mask here = lanes;
    std::vector<std::size_t> others;
    if ((members & ~here) != 0) {
      for (std::size_t k = 0; k < w.paths.size(); ++k) {
        Path& other = w.paths[k];
        if (other.state != Path::State::sync) continue;
        const Step& at = other.frame->routine->steps[std::size_t(other.pc)];
        const bool same = other.frame == p.frame && other.pc == p.pc;
        if (!same && !(meets_anywhere(s) && meets_anywhere(at))) continue;
        const Mask active = other.lanes & (other.frame->predicates[std::size_t(at.guard)] ^ at.guard_flip);
        if ((active & members) == 0) continue;
        others.push_back(k);
        here |= active;
      }
      if ((members & ~here) != 0) {
        p.state = Path::State::sync;
        return false;
      }
    }
    execute(s, here);
    for (std::size_t k : others) {
      w.paths[k].state = Path::State::ready;
      advance(static_cast<int>(k));
    }
    ++path().pc;
    return true;
  }
  void advance(int number) {
    Path& p = w.paths[static_cast<std::size_t>(number)];
    if (++p.pc == p.reconverge) end(number);
  }

  bool barrier(const Step& s, Mask lanes) {
    Path& p = path();
    if (lanes != 0 && lanes != w.live && (s.extra & 1) != 0)
      fail(w, s, -1,
           "divergent barrier: only " + std::to_string(__builtin_popcount(lanes)) + " of " +
               std::to_string(__builtin_popcount(w.live)) + " lanes reach it together");
    if (lanes == 0) {
      ++p.pc;
      return true;
    }
    p.state = Path::State::barrier;
    return false;
  }

  [[noreturn]] void report_waiting() {
    for (const Path& p : w.paths) {
      if (p.state != Path::State::sync) continue;
      enter(static_cast<int>(&p - w.paths.data()));
      const Step& s = w.frame->routine->steps[std::size_t(p.pc)];
      const Mask members = members_of(w, s, p.lanes) & w.live;
      fail(w, s, -1,
           std::to_string(__builtin_popcount(members & ~p.lanes)) + " of its " +
               std::to_string(__builtin_popcount(members)) + " members never reach it");
    }
    throw Fault{"a warp that cannot continue"};
  }

  // Executes one step that is not plain. Returns false if the current path has ended or waits.
  bool step(const Step& s, Mask lanes) {
    switch (s.kind) {
      case Kind::plain: break;
      case Kind::branch: branch(s, lanes); break;
      case Kind::branch_table: branch_table(s, lanes); break;
      case Kind::call: call(s, lanes); break;
      case Kind::sync: return sync(s, lanes);
      case Kind::barrier: return barrier(s, lanes);
      case Kind::ret:
        if (w.frame->call != nullptr) {
          ++path().pc;
          return_lanes(lanes);
          break;
        }
        [[fallthrough]];
      case Kind::exit:
        ++path().pc;
        exit_lanes(lanes);
        break;
    }
    return true;
  }
};

void Warp::begin(Block& in_block, unsigned warp_number, Mask lanes) {
  block = &in_block;
  number = warp_number;
  live = lanes;
  carry = 0;
  copies.clear();
  copy_groups.fill(0);
  frames_in_use = 0;
  paths.clear();
  PathControl control{*this};
  Frame* frame = control.make_frame(*in_block.entry);
  frame->call = nullptr;
  frame->caller = nullptr;
  frame->local_begin = 0;
  paths.push_back({frame, 0, -1, lanes, -1, 0, Path::State::ready});
}

bool Warp::run() { return block->profile != nullptr ? run_as<true>() : run_as<false>(); }

template <bool Counted> bool Warp::run_as() {
  PathControl control{*this};
  while (live != 0) {
    if (!control.choose()) {
      bool at_barrier = false;
      each_waiting([&](const Path&) { at_barrier = true; });
      if (at_barrier) return false;
      control.report_waiting();
    }
    for (bool goes_on = true; goes_on;) {
      Path& path = paths[static_cast<std::size_t>(current)];
      if (path.lanes == 0 || path.pc == path.reconverge) {
        control.end(current);
        break;
      }
      const Step* steps = frame->routine->steps.data();
      for (;;) {
        const Step& s = steps[path.pc];
        const Mask lanes = path.lanes & (predicates[s.guard] ^ s.guard_flip);
        if constexpr (Counted) block->profile->count(*this, s, lanes);
        if (s.kind != Kind::plain) {
          goes_on = control.step(s, lanes);
          break;
        }
        if (lanes != 0) control.execute(s, lanes);
        if (++path.pc == path.reconverge) break;
      }
    }
  }
  return true;
}

void Warp::pass_barrier() {
  PathControl control{*this};
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (paths[k].state != Path::State::barrier) continue;
    paths[k].state = Path::State::ready;
    control.advance(static_cast<int>(k));
  }
}

void fail(const Warp& warp, const Step& step, int lane, const std::string& text) {
  const Block& block = *warp.block;
  const Routine& routine = *warp.frame->routine;
  const auto at = static_cast<std::size_t>(&step - routine.steps.data());
  std::string where = "kernel " + block.entry->name + ", block (" + std::to_string(block.index.x) + ", " +
                      std::to_string(block.index.y) + ", " + std::to_string(block.index.z) + "), ";
  where += lane >= 0 ? "thread " + std::to_string(warp.number * kLanes + unsigned(lane))
                     : "warp " + std::to_string(warp.number);
  throw Fault{where + ": " + text + "\n  at line " + std::to_string(step.line) +
              " of the PTX: " + (at < routine.texts.size() ? routine.texts[at] : "")};
}

}  // namespace cuda_device::ptx
