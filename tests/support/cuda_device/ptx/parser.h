// Parser of PTX: converts text to functions of instructions with resolved registers. Does not interpret instructions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/program.h>

namespace cuda_device::ptx {

struct Operand {
  enum class Kind { reg, predicate, integer, bits, name, vector, address, list };
  Kind kind = Kind::name;
  int number = 0;                 // number of a register or predicate
  int other = -1;                 // the second predicate, after '|'
  bool negated = false;           // !%p
  bool discarded = false;         // "_"
  std::int64_t value = 0;         // integer; bits: of a 0f or 0d literal; address: offset
  std::string_view name;          // symbol, label, special register
  std::vector<Operand> elements;  // vector, list in parentheses; address: the register or symbol
};

struct Instruction {
  int line = 0, scope = 0;
  int guard = kTrue;
  bool guard_negated = false;
  std::string_view opcode;
  std::vector<Operand> operands;
  std::string_view text;
};

struct Definition {
  std::string name;
  bool entry = false, defined = false;
  std::vector<Variable> parameters, results, variables;
  int registers = 0, predicates = kFixedPredicates;
  std::vector<Instruction> instructions;
  std::vector<int> parents;                     // parents of the scopes; scope 0 is the body
  std::unordered_map<std::string, int> labels;  // "<scope>:<name>": number of the instruction that follows
  std::unordered_map<std::string, std::vector<std::string_view>> tables;  // .branchtargets by their label
};

struct Source {
  std::vector<Definition> functions;
  std::vector<Variable> variables;  // variables of the module
};

// Throws Fault with the line. The result refers to `text`.
Source parse(std::string_view text);

}  // namespace cuda_device::ptx
