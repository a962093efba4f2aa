#include <catena/ndarray/cpu/program_text.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/compile/type_name.h>

namespace nd::cpu {
namespace {

using catena::concat;
using catena::Dtype;
using catena::Program;
using catena::Step;

#ifdef __clang__
constexpr int kClang = 1;
#else
constexpr int kClang = 0;
#endif

// Number of elements of a block: a multiple of the vector length; small enough that the processor starts the next loop
// while it waits for roots and quotients; and large enough that compilers vectorise a loop before they unroll it.
constexpr int kBlock = 32;

constexpr std::uint32_t bit(int k) { return std::uint32_t(1) << k; }

bool has_text(const Program& program) {
  for (const Dtype t : program.slots)
    if (catena::compute_dtype(t) != t || catena::is_complex_dtype(t)) return false;
  for (int k = 0; k < program.nin + program.ninout; ++k)
    if (program.slots[std::size_t(k)] == Dtype::bool_) return false;
  for (const Step& step : program.steps) {
    const catena::KernelDef& def = *step.kernel;
    if (def.kind != catena::KernelKind::elementwise || def.is(catena::is_random)) return false;
    for (int k = 0; k < def.num_operands(); ++k)
      if (step.resolved().type[std::size_t(k)] != program.slots[step.slot[std::size_t(k)]]) return false;
  }
  return true;
}

// Neighbouring steps that share a loop. A step with mathematical functions has its own loop, so that compilers choose
// their vector versions as they do for the kernel's own loop.
struct Group {
  std::size_t begin, end;
  std::uint32_t reads = 0;   // slots whose values are computed before the group
  std::uint32_t writes = 0;  // slots that the group writes
};

class Text {
 public:
  Text(const Program& program, unsigned scalars)
      : program_(program), scalars_(scalars), operands_(program.num_operands()) {}

  std::string make() {
    find_groups();
    for (const Step& step : program_.steps) {
      const std::string line = concat("#include <", step.kernel->header, ">\n");
      if (text_.find(line) == std::string::npos) text_ += line;
    }
    const bool has_mathematics = std::any_of(program_.steps.begin(), program_.steps.end(),
                                             [](const Step& step) { return step.kernel->transcendental; });
    if (has_mathematics)
      text_ += concat("#if defined(__clang__) != ", kClang,
                      "\n#error another compiler has other vector functions\n#endif\n");
    text_ += concat("namespace {\nconstexpr int kBlock = ", kBlock, ";\n");
    add_block();
    text_ += "}  // namespace\n";
    add_entry();
    return std::move(text_);
  }

 private:
  bool is_scalar(int slot) const { return slot < program_.nin && ((scalars_ >> slot) & 1) != 0; }
  bool is_input(int slot) const { return slot < program_.nin + program_.ninout; }
  bool is_output(int slot) const { return slot >= program_.nin && slot < operands_; }
  std::string_view type(int slot) const { return compile::type_name(program_.slots[std::size_t(slot)]); }

  void find_groups() {
    for (std::size_t j = 0; j < program_.steps.size(); ++j) {
      const Step& step = program_.steps[j];
      const auto alone = [&](std::size_t k) { return program_.steps[k].kernel->transcendental; };
      if (j == 0 || alone(j) || alone(j - 1)) groups_.push_back({j, j});
      Group& group = groups_.back();
      group.end = j + 1;
      for (int k = 0; k < step.kernel->num_operands(); ++k) {
        const std::uint32_t slot = bit(step.slot[std::size_t(k)]);
        if (k < step.kernel->first_output() && !(group.writes & slot)) group.reads |= slot;
      }
      for (int k = step.kernel->nin; k < step.kernel->num_operands(); ++k)
        group.writes |= bit(step.slot[std::size_t(k)]);
    }
  }

  // Returns the slots that a group after `g` reads.
  std::uint32_t read_after(std::size_t g) const {
    std::uint32_t slots = 0;
    for (std::size_t later = g + 1; later < groups_.size(); ++later) slots |= groups_[later].reads;
    return slots;
  }
  std::uint32_t written_before(std::size_t g) const {
    std::uint32_t slots = 0;
    for (std::size_t earlier = 0; earlier < g; ++earlier) slots |= groups_[earlier].writes;
    return slots;
  }

  // Writes the function of one block. The last loop writes the outputs, because they may share memory with inputs.
  void add_block() {
    std::string parameters;
    for (int k = 0; k < operands_; ++k) {
      if (k > 0) parameters += ", ";
      parameters +=
          is_scalar(k) ? concat(type(k), " s", k) : concat(k < program_.nin ? "const " : "", type(k), "* p", k);
    }
    text_ += concat("inline void block(", parameters, ") {\n");
    std::uint32_t kept = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) kept |= groups_[g].writes & kept_after(g);
    for (int s = 0; s < int(program_.slots.size()); ++s)
      if (kept & bit(s)) text_ += concat("  alignas(64) ", type(s), " t", s, "[kBlock];\n");
    for (std::size_t g = 0; g < groups_.size(); ++g) add_loop(g);
    text_ += "}\n";
  }
  std::uint32_t kept_after(std::size_t g) const {
    std::uint32_t slots = read_after(g);
    for (int s = 0; s < operands_; ++s)
      if (is_output(s) && g + 1 < groups_.size()) slots |= bit(s);
    return slots;
  }

  void add_loop(std::size_t g) {
    const Group& group = groups_[g];
    const bool last = g + 1 == groups_.size();
    const std::uint32_t before = written_before(g), kept = kept_after(g);
    text_ += "#pragma GCC ivdep\n  for (int i = 0; i < kBlock; ++i) {\n";
    for (int s = 0; s < int(program_.slots.size()); ++s) {
      const bool completes = last && is_output(s) && !(group.writes & bit(s));
      if ((group.reads & bit(s)) || completes) {
        if (is_scalar(s)) continue;
        text_ += concat("    ", type(s), " s", s, " = ", (before & bit(s)) ? "t" : "p", s, "[i];\n");
      } else if (group.writes & bit(s)) {
        text_ += concat("    ", type(s), " s", s, ";\n");
      }
    }
    for (std::size_t j = group.begin; j < group.end; ++j) add_step(program_.steps[j]);
    for (int s = 0; s < int(program_.slots.size()); ++s) {
      if (last && is_output(s)) text_ += concat("    p", s, "[i] = s", s, ";\n");
      else if ((group.writes & bit(s)) && (kept & bit(s))) text_ += concat("    t", s, "[i] = s", s, ";\n");
    }
    text_ += "  }\n";
  }

  void add_step(const Step& step) {
    std::string arguments;
    for (int k = 0; k < step.kernel->num_operands(); ++k)
      arguments += concat(k > 0 ? ", s" : "s", int(step.slot[std::size_t(k)]));
    text_ += concat("    catena::k::", step.body(), "::run(", arguments, ");\n");
  }

  // Writes the entry function: whole blocks, then the remaining elements in a block that is filled up with the first of
  // them.
  void add_entry() {
    std::string whole, rest, fill, copy;
    for (int k = 0; k < operands_; ++k) {
      const std::string_view t = type(k);
      const char* const comma = k > 0 ? ", " : "";
      if (is_scalar(k)) {
        text_head_ += concat("  const ", t, " s", k, " = *reinterpret_cast<const ", t, "*>(ptr[", k, "]);\n");
        whole += concat(comma, "s", k);
        rest += concat(comma, "s", k);
        continue;
      }
      text_head_ += concat("  ", t, "* const p", k, " = reinterpret_cast<", t, "*>(ptr[", k, "]);\n");
      whole += concat(comma, "p", k, " + i");
      rest += concat(comma, "r", k);
      fill += concat("  alignas(64) ", t, " r", k, "[kBlock];\n");
      if (is_input(k))
        fill += concat("  for (long j = 0; j < kBlock; ++j) r", k, "[j] = p", k, "[j < n - i ? i + j : i];\n");
      if (is_output(k)) copy += concat("  for (long j = 0; j < n - i; ++j) p", k, "[i + j] = r", k, "[j];\n");
    }
    text_ += concat("extern \"C\" __attribute__((visibility(\"default\"))) void ", kProgramEntry,
                    "(char* const* ptr, long n) {\n", text_head_,
                    "  long i = 0;\n  for (; i + kBlock <= n; i += kBlock) block(", whole,
                    ");\n  if (i == n) return;\n", fill, "  block(", rest, ");\n", copy, "}\n");
  }

  const Program& program_;
  const unsigned scalars_;
  const int operands_;
  std::vector<Group> groups_;
  std::string text_, text_head_;
};

}  // namespace

std::string text_of(const Program& program, unsigned scalars) {
  return has_text(program) ? Text(program, scalars).make() : std::string();
}

}  // namespace nd::cpu
