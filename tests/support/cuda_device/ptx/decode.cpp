#include <catena/tests/support/cuda_device/ptx/decode.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include <catena/tests/support/cuda_device/ptx/arithmetic.h>
#include <catena/tests/support/cuda_device/ptx/lanes.h>
#include <catena/tests/support/cuda_device/ptx/memory.h>
#include <catena/tests/support/cuda_device/ptx/tensor.h>
#include <catena/tests/support/cuda_device/ptx/undefined.h>

namespace cuda_device::ptx {
namespace {

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

Words words_of(std::string_view opcode) {
  Words words;
  for (std::size_t at = 0; at <= opcode.size();) {
    const std::size_t end = std::min(opcode.find('.', at), opcode.size());
    words.push_back(opcode.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Assigns offsets from `end` on to variables, and advances `end`.
void place(std::vector<Variable>& variables, Space space, std::size_t& end) {
  for (Variable& v : variables) {
    if (v.space != space || v.dynamic) continue;
    v.offset = round_up(end, std::max<std::size_t>(v.alignment, 1));
    end = v.offset + v.bytes;
  }
}

// Properties of the whole module, used while its functions are decoded.
struct DecodedModule {
  Source source;
  Program* program;
  std::map<std::string, const Definition*, std::less<>> functions;
  std::map<std::string, const Variable*, std::less<>> variables;
};

class RoutineDecoder : public Operands {
 public:
  RoutineDecoder(const DecodedModule& module, Definition& function, Routine& routine)
      : module_(module), function_(function), routine_(routine) {}

  void run() {
    for (const Variable& v : function_.variables) own_[v.name] = &v;
    for (const Variable& v : function_.parameters) own_[v.name] = &v;
    for (const Variable& v : function_.results) own_[v.name] = &v;
    routine_.registers = function_.registers;
    routine_.predicates = function_.predicates;
    for (const Instruction& i : function_.instructions) {
      try {
        reads_.clear();
        writes_.clear();
        routine_.steps.push_back(step_of(i));
        routine_.flows.push_back(flow_of(words_of(i.opcode), routine_.steps.back(), reads_, writes_));
      } catch (const Fault& fault) {
        throw Fault{"line " + std::to_string(i.line) + ": " + fault.text + ": " + std::string(i.text)};
      }
      routine_.texts.emplace_back(i.text);
    }
    Step end;
    end.kind = routine_.entry ? Kind::exit : Kind::ret;
    routine_.steps.push_back(end);
    routine_.flows.emplace_back();
    routine_.texts.emplace_back("the end of " + routine_.name);
    find_reconvergence(routine_.steps);
  }

  // ---- Operands -----------------------------------------------------------------------------------
  std::int32_t destination(const Operand& operand) override {
    if (operand.discarded && sink_ < 0) sink_ = routine_.registers++;
    if (!operand.discarded && operand.kind != Operand::Kind::reg) throw Fault{"a result that is no register"};
    writes_.push_back(operand.discarded ? sink_ : operand.number);
    return writes_.back();
  }
  std::int32_t source(const Operand& operand) override {
    switch (operand.kind) {
      case Operand::Kind::reg:
        if (operand.discarded) return constant(0);
        reads_.push_back(operand.number);
        return operand.number;
      case Operand::Kind::integer:
      case Operand::Kind::bits: return constant(static_cast<std::uint64_t>(operand.value));
      case Operand::Kind::name:
        if (const Variable* v = variable(operand.name); v != nullptr && v->space != Space::local)
          return constant(address_of(*v) + static_cast<std::uint64_t>(operand.value));
        break;
      default: break;
    }
    throw Fault{"unknown operand " + std::string(operand.name)};
  }
  std::int32_t constant(std::uint64_t value) override {
    const auto [found, is_new] = constants_.emplace(value, static_cast<std::int32_t>(constants_.size()));
    if (is_new) routine_.constants.insert(routine_.constants.end(), kLanes, value);
    return ~found->second;
  }
  std::int32_t predicate(const Operand& operand) override {
    if (operand.kind == Operand::Kind::integer) return operand.value != 0 ? kTrue : kFalse;
    if (operand.kind == Operand::Kind::reg && operand.discarded) {
      if (predicate_sink_ < 0) predicate_sink_ = routine_.predicates++;
      return predicate_sink_;
    }
    if (operand.kind != Operand::Kind::predicate) throw Fault{"expected a predicate"};
    return operand.number;
  }
  void address(const Operand& operand, Step& step) override {
    if (operand.kind != Operand::Kind::address) throw Fault{"expected an address"};
    const Operand& base = operand.elements[0];
    step.offset = operand.value;
    if (base.kind == Operand::Kind::reg) {
      step.from[0] = base.number;
      reads_.push_back(base.number);
      if (step.space == Space::frame_param) {
        if (!routine_.entry) throw Fault{"an address in a register in the parameter space of a function"};
        step.space = Space::entry_param;
      }
      return;
    }
    step.from[0] = constant(0);
    if (base.kind == Operand::Kind::integer) {
      step.offset += base.value;
      return;
    }
    const Variable* v = variable(base.name);
    if (v == nullptr) throw Fault{"unknown variable " + std::string(base.name)};
    const bool parameter = step.space == Space::frame_param;
    if (step.space != v->space && step.space != Space::generic && !parameter)
      throw Fault{"a variable of another space"};
    step.space = v->space;
    step.offset += static_cast<std::int64_t>(address_of(*v));
  }
  const Variable* variable(std::string_view name) const override {
    if (const auto found = own_.find(name); found != own_.end()) return found->second;
    const auto found = module_.variables.find(name);
    return found == module_.variables.end() ? nullptr : found->second;
  }

 private:
  std::uint64_t address_of(const Variable& v) const {
    if (v.space == Space::global || v.space == Space::constant)
      return reinterpret_cast<std::uint64_t>(module_.program->globals.at(v.name).address);
    return v.offset;
  }

  std::int32_t label(std::string_view name, int scope) const {
    for (; scope >= 0; scope = function_.parents[static_cast<std::size_t>(scope)]) {
      const auto found = function_.labels.find(std::to_string(scope) + ":" + std::string(name));
      if (found != function_.labels.end()) return found->second;
    }
    throw Fault{"unknown label " + std::string(name)};
  }

  Step step_of(const Instruction& i) {
    Step step;
    step.line = i.line;
    step.guard = i.guard;
    step.guard_flip = i.guard_negated ? kAllLanes : 0;
    const Words words = words_of(i.opcode);
    if (words[0] == "bra") {
      step.kind = Kind::branch;
      step.target = label(i.operands.at(0).name, i.scope);
    } else if (i.opcode.starts_with("brx.idx")) {
      branch_table(i, step);
    } else if (words[0] == "call") {
      call(i, step);
    } else if (!decode_control(words, i.operands, *this, step) && !decode_memory(words, i.operands, *this, step) &&
               !decode_tensor(words, i.operands, *this, step) && !decode_arithmetic(words, i.operands, *this, step)) {
      throw Fault{"unknown instruction"};
    }
    routine_.barriers |= step.kind == Kind::barrier;
    return step;
  }

  void branch_table(const Instruction& i, Step& step) {
    step.kind = Kind::branch_table;
    step.from[0] = source(i.operands.at(0));
    const auto found = function_.tables.find(std::string(i.operands.at(1).name));
    if (found == function_.tables.end()) throw Fault{"unknown targets"};
    auto targets = std::make_unique<std::vector<std::int32_t>>();
    for (std::string_view name : found->second) targets->push_back(label(name, i.scope));
    step.table = targets.get();
    routine_.tables.push_back(std::move(targets));
  }

  // call.uni (results), name, (arguments); both lists are optional.
  void call(const Instruction& i, Step& step) {
    step.kind = Kind::call;
    std::size_t at = 0;
    const std::vector<Operand> none;
    const bool has_results = i.operands.at(0).kind == Operand::Kind::list;
    const std::vector<Operand>& results = has_results ? i.operands[at++].elements : none;
    const Operand& name = i.operands.at(at++);
    const auto callee = module_.functions.find(name.name);
    if (callee == module_.functions.end() || !callee->second->defined)
      throw Fault{name.kind == Operand::Kind::reg ? "a call by an address" : "a call of an unknown function"};
    const std::vector<Operand>& arguments = at < i.operands.size() ? i.operands[at].elements : none;
    auto record = std::make_unique<Call>();
    record->routine = module_.program->by_name.at(callee->second->name);
    match(arguments, callee->second->parameters, record->arguments);
    match(results, callee->second->results, record->results);
    step.call = record.get();
    routine_.calls.push_back(std::move(record));
  }
  void match(const std::vector<Operand>& given, const std::vector<Variable>& wanted, std::vector<Call::Copy>& copies) {
    if (given.size() != wanted.size()) throw Fault{"a call with another number of parameters"};
    for (std::size_t k = 0; k < given.size(); ++k) {
      const Variable* v = variable(given[k].name);
      if (v == nullptr || v->space != Space::frame_param) throw Fault{"an argument that is no parameter variable"};
      copies.push_back({v->offset, wanted[k].offset, wanted[k].bytes});
    }
  }

  const DecodedModule& module_;
  Definition& function_;
  Routine& routine_;
  std::map<std::string, const Variable*, std::less<>> own_;
  std::unordered_map<std::uint64_t, std::int32_t> constants_;
  std::int32_t sink_ = -1, predicate_sink_ = -1;
  std::vector<std::int32_t> reads_, writes_;  // registers of the current instruction
};

// ---- variables ------------------------------------------------------------------------------------
void place_globals(DecodedModule& module) {
  Program& program = *module.program;
  std::vector<Variable*> all;
  for (Variable& v : module.source.variables)
    if (v.space == Space::global || v.space == Space::constant) all.push_back(&v);
  for (Definition& f : module.source.functions)
    for (Variable& v : f.variables)
      if (v.space == Space::global || v.space == Space::constant) all.push_back(&v);
  constexpr std::size_t kGap = 64;  // so that an access past the end of a variable is detected
  std::size_t end = 0;
  for (Variable* v : all) {
    v->offset = round_up(end, std::max<std::size_t>(v->alignment, 16));
    end = v->offset + v->bytes + kGap;
  }
  program.memory.assign(end + 256, std::byte(0));
  program.memory_begin = round_up(reinterpret_cast<std::uintptr_t>(program.memory.data()), 256) -
                         reinterpret_cast<std::uintptr_t>(program.memory.data());
  std::byte* const base = program.memory.data() + program.memory_begin;
  for (Variable* v : all) {
    program.globals[v->name] = {base + v->offset, v->bytes};
    std::copy(v->initial.begin(), v->initial.end(), base + v->offset);
  }
  for (Variable* v : all) {
    for (const Variable::Reference& r : v->references) {
      const auto found = program.globals.find(r.name);
      if (found == program.globals.end()) throw Fault{"the initial value of " + v->name + " is unknown: " + r.name};
      const auto value = reinterpret_cast<std::uint64_t>(found->second.address) + static_cast<std::uint64_t>(r.addend);
      std::memcpy(base + v->offset + r.at, &value, sizeof value);
    }
  }
}

// Shared variables of the module and of functions come first, then those of each entry; dynamic shared memory begins at
// the same address in all entries (memory.h).
void place_shared(DecodedModule& module) {
  std::size_t common = 0;
  place(module.source.variables, Space::shared, common);
  for (Definition& f : module.source.functions)
    if (!f.entry) place(f.variables, Space::shared, common);
  for (Definition& f : module.source.functions) {
    std::size_t end = common;
    if (f.entry) place(f.variables, Space::shared, end);
    module.program->by_name.at(f.name)->shared_bytes = end;
    module.program->dynamic_shared_begin =
        std::max(module.program->dynamic_shared_begin, round_up(end, kSharedAlignment));
  }
  for (Variable& v : module.source.variables)
    if (v.dynamic) v.offset = module.program->dynamic_shared_begin;
  for (Definition& f : module.source.functions)
    for (Variable& v : f.variables)
      if (v.dynamic) v.offset = module.program->dynamic_shared_begin;
}

void place_frame(Definition& f, Routine& routine) {
  place(f.variables, Space::local, routine.local_bytes);
  routine.local_bytes = round_up(routine.local_bytes, 16);
  place(f.parameters, Space::entry_param, routine.parameter_bytes);
  place(f.parameters, Space::frame_param, routine.frame_bytes);
  place(f.results, Space::frame_param, routine.frame_bytes);
  place(f.variables, Space::frame_param, routine.frame_bytes);
  routine.frame_bytes = round_up(routine.frame_bytes, 16);
  routine.parameters = f.parameters;
  routine.results = f.results;
}

// A routine has barriers if it calls one that has barriers.
void spread_barriers(Program& program) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& routine : program.routines)
      for (const auto& call : routine->calls)
        if (call->routine->barriers && !routine->barriers) changed = routine->barriers = true;
  }
}

}  // namespace

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void decode(std::string_view text, Program& program) {
  DecodedModule module{parse(text), &program, {}, {}};
  for (Definition& f : module.source.functions) {
    const auto known = module.functions.find(f.name);
    if (known != module.functions.end() && !f.defined) continue;
    module.functions[f.name] = &f;
    if (program.by_name.count(f.name) != 0) continue;
    auto routine = std::make_unique<Routine>();
    routine->name = f.name;
    routine->entry = f.entry;
    program.by_name[f.name] = routine.get();
    program.routines.push_back(std::move(routine));
  }
  place_globals(module);
  place_shared(module);
  for (const auto& [name, f] : module.functions)
    if (f->defined) place_frame(const_cast<Definition&>(*f), *program.by_name.at(name));
  for (const Variable& v : module.source.variables) module.variables[v.name] = &v;
  for (Definition& f : module.source.functions)
    if (f.defined) RoutineDecoder(module, f, *program.by_name.at(f.name)).run();
  spread_barriers(program);
}

// ---- reconvergence --------------------------------------------------------------------------------
// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the reversed graph of basic blocks.
namespace {

class PostDominators {
 public:
  explicit PostDominators(const std::vector<Step>& steps) : steps_(steps) {
    find_blocks();
    order();
    solve();
  }

  std::int32_t of(std::size_t step) const {
    const int block = dominator_[static_cast<std::size_t>(block_of_[step])];
    return block < 0 || block == exit_ ? -1 : first_[static_cast<std::size_t>(block)];
  }

 private:
  static bool ends_block(const Step& s) {
    return s.kind == Kind::branch || s.kind == Kind::branch_table || s.kind == Kind::ret || s.kind == Kind::exit;
  }
  template <class F> void each_target(std::size_t at, F visit) const {
    const Step& s = steps_[at];
    const bool always = s.guard == kTrue && s.guard_flip == 0;
    if (s.kind == Kind::branch) visit(s.target);
    if (s.kind == Kind::branch_table)
      for (std::int32_t target : *s.table) visit(target);
    if (!ends_block(s) || !always) visit(static_cast<std::int32_t>(at) + 1);
    if (s.kind == Kind::ret || s.kind == Kind::exit) visit(-1);
  }

  void find_blocks() {
    std::set<std::int32_t> begins{0};
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (!ends_block(steps_[k])) continue;
      each_target(k, [&](std::int32_t target) { begins.insert(target); });
      begins.insert(static_cast<std::int32_t>(k) + 1);
    }
    begins.erase(-1);
    begins.erase(static_cast<std::int32_t>(steps_.size()));
    first_.assign(begins.begin(), begins.end());
    exit_ = static_cast<int>(first_.size());
    block_of_.resize(steps_.size());
    before_.resize(first_.size() + 1);
    after_.resize(first_.size() + 1);
    for (std::size_t b = 0; b < first_.size(); ++b) {
      const std::size_t end = b + 1 < first_.size() ? std::size_t(first_[b + 1]) : steps_.size();
      for (std::size_t k = std::size_t(first_[b]); k < end; ++k) block_of_[k] = static_cast<int>(b);
    }
    for (std::size_t b = 0; b < first_.size(); ++b) {
      const std::size_t last = (b + 1 < first_.size() ? std::size_t(first_[b + 1]) : steps_.size()) - 1;
      each_target(last, [&](std::int32_t target) {
        const int to = target < 0 ? exit_ : block_of_[static_cast<std::size_t>(target)];
        after_[b].push_back(to);
        before_[static_cast<std::size_t>(to)].push_back(static_cast<int>(b));
      });
    }
  }

  // Postorder of the reversed graph from the exit.
  void order() {
    number_.assign(first_.size() + 1, -1);
    std::vector<std::pair<int, std::size_t>> path{{exit_, 0}};
    std::vector<bool> seen(first_.size() + 1, false);
    seen[static_cast<std::size_t>(exit_)] = true;
    while (!path.empty()) {
      auto& [block, next] = path.back();
      const std::vector<int>& list = before_[static_cast<std::size_t>(block)];
      if (next < list.size()) {
        const int to = list[next++];
        if (seen[static_cast<std::size_t>(to)]) continue;
        seen[static_cast<std::size_t>(to)] = true;
        path.emplace_back(to, 0);
        continue;
      }
      number_[static_cast<std::size_t>(block)] = static_cast<int>(postorder_.size());
      postorder_.push_back(block);
      path.pop_back();
    }
  }

  void solve() {
    dominator_.assign(first_.size() + 1, -1);
    dominator_[static_cast<std::size_t>(exit_)] = exit_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = postorder_.rbegin(); it != postorder_.rend(); ++it) {
        if (*it == exit_) continue;
        int found = -1;
        for (int to : after_[static_cast<std::size_t>(*it)]) {
          if (dominator_[static_cast<std::size_t>(to)] < 0) continue;
          found = found < 0 ? to : common(found, to);
        }
        changed |= dominator_[static_cast<std::size_t>(*it)] != found;
        dominator_[static_cast<std::size_t>(*it)] = found;
      }
    }
  }
  int common(int a, int b) const {
    while (a != b) {
      while (number_[static_cast<std::size_t>(a)] < number_[static_cast<std::size_t>(b)])
        a = dominator_[static_cast<std::size_t>(a)];
      while (number_[static_cast<std::size_t>(b)] < number_[static_cast<std::size_t>(a)])
        b = dominator_[static_cast<std::size_t>(b)];
    }
    return a;
  }

  const std::vector<Step>& steps_;
  std::vector<std::int32_t> first_;  // the first step of each block
  std::vector<int> block_of_, number_, postorder_, dominator_;
  std::vector<std::vector<int>> before_, after_;
  int exit_ = 0;  // a block after the others, which follows every end
};

}  // namespace

void find_reconvergence(std::vector<Step>& steps) {
  const PostDominators dominators(steps);
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (steps[k].kind == Kind::branch || steps[k].kind == Kind::branch_table) steps[k].reconverge = dominators.of(k);
}

}  // namespace cuda_device::ptx
