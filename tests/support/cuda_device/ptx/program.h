// The interpreter of PTX executes the output of NVRTC, 32 lanes at a time. A text is parsed (parser.h) and decoded
// (decode.h) once into steps, each with the function that executes it for all lanes of a warp (arithmetic.h,
// floating.h, convert.cpp, memory.h); warp.h follows the control flow and grid.h runs the blocks.
//
// This header: the decoded form. A register is an array of one 64-bit value per lane, of which an instruction uses the
// low bits, as many as its type has. A predicate is a mask with one bit per lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuda_device::ptx {

inline constexpr int kLanes = 32;
inline constexpr std::size_t kSharedAlignment = 128;  // alignment of dynamic shared memory
using Mask = std::uint32_t;
inline constexpr Mask kAllLanes = 0xffffffffu;

struct Warp;
struct Step;
using Run = void (*)(Warp& warp, const Step& step, Mask lanes);

enum class Space : std::uint8_t { generic, global, constant, shared, local, entry_param, frame_param };

// The action of the warp's loop for a step; `plain` steps only call `run`.
enum class Kind : std::uint8_t { plain, branch, branch_table, call, ret, exit, barrier, sync };

// Predicates with a fixed value; the predicates of a routine follow.
inline constexpr int kFalse = 0, kTrue = 1, kFixedPredicates = 2;

struct Call;

struct Step {
  Run run = nullptr;
  // Numbers of registers; ~n is constant n of the routine. For predicate operands, numbers of predicates.
  std::array<std::int32_t, 4> to{};
  std::array<std::int32_t, 10> from{};
  std::int32_t guard = kTrue;
  Mask guard_flip = 0;  // all ones: the guard is negated
  Kind kind = Kind::plain;
  Space space = Space::generic;  // memory
  std::uint8_t count = 1;        // elements of a vector
  std::uint8_t bytes = 0;        // size of an element
  bool extends_sign = false;
  std::uint32_t extra = 0;       // modifiers; their meaning depends on the form
  std::int64_t offset = 0;       // added to an address
  std::int32_t target = -1;      // target of a branch
  std::int32_t reconverge = -1;  // where the paths of a divergent branch meet; -1: only at the end of the routine
  std::int32_t line = 0;
  const Call* call = nullptr;
  const std::vector<std::int32_t>* table = nullptr;  // targets of a branch by index
};

// A variable in a memory space; its offset is relative to the part of that space (module, routine, frame).
struct Variable {
  std::string name;
  Space space = Space::global;
  std::size_t alignment = 1, bytes = 0, offset = 0;
  bool dynamic = false;  // extern shared memory without a size
  struct Reference {
    std::size_t at;  // byte
    std::string name;
    std::int64_t addend;
  };
  std::vector<std::byte> initial;  // shorter than `bytes`: the rest is 0
  std::vector<Reference> references;
};

struct Routine;
// A call: the positions of its arguments and results in the frames of both routines.
struct Call {
  struct Copy {
    std::size_t caller, callee, bytes;
  };
  const Routine* routine = nullptr;
  std::vector<Copy> arguments, results;
};

// The effect of a step on bits without a value (undefined.h).
struct Flow {
  enum class Kind : std::uint8_t { uses, memory, moves, conjunction, disjunction, difference, inverse };
  Kind kind = Kind::uses;
  std::uint8_t moved = 0;                   // one bit for each of Step::from whose undefined bits are moved
  std::vector<std::int32_t> reads, writes;  // registers
};

struct Routine {
  std::string name;
  bool entry = false;
  std::vector<Variable> parameters, results;
  std::vector<Step> steps;  // ends with `ret`
  std::vector<Flow> flows;  // effects of the steps
  int registers = 0, predicates = kFixedPredicates;
  std::vector<std::uint64_t> constants;  // kLanes equal values each
  std::size_t parameter_bytes = 0;       // size of an entry's parameters
  std::size_t frame_bytes = 0;           // size of the variables in parameter space, per lane
  std::size_t local_bytes = 0;           // size of the variables in local memory, per lane
  std::size_t shared_bytes = 0;          // static shared memory of the module and of all routines that may be called
  bool barriers = false;                 // true if a routine that may be called has a barrier of the block
  std::vector<std::unique_ptr<Call>> calls;
  std::vector<std::unique_ptr<std::vector<std::int32_t>>> tables;
  std::vector<std::string> texts;  // texts of the steps, for messages
};

struct Program {
  std::vector<std::unique_ptr<Routine>> routines;
  std::unordered_map<std::string, Routine*> by_name;
  struct Placed {
    std::byte* address;
    std::size_t bytes;
  };
  std::unordered_map<std::string, Placed> globals;  // variables in global and constant memory
  std::vector<std::byte> memory;                    // contents of these variables
  std::size_t memory_begin = 0;
  std::size_t dynamic_shared_begin = 0;  // offset of the dynamic shared memory of all entries
};

// Thrown by the parser, the decoder and the execution.
struct Fault {
  std::string text;
};

}  // namespace cuda_device::ptx
