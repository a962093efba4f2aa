// The entry points of NVRTC. jit.h compiles a program; its image, "cubin" or "PTX", is the text of the program.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/nvrtc.h>
#include <catena/tests/support/cuda_device/fault.h>
#include <catena/tests/support/cuda_device/jit.h>

struct _nvrtcProgram {
  cuda_device::KernelText text;
  std::vector<cuda_device::Header> headers;
  bool compiled = false, for_device = false;  // for_device: with a "cubin"
  std::string log, image;
};

namespace cuda_device::exports {
using namespace nd::cuda::api;
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_NVRTC_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports

extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_NVRTC_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

using namespace cuda_device;
using nd::cuda::api::nvrtc_program;
using nd::cuda::api::nvrtc_result;

namespace {

enum : nvrtc_result {
  success = 0,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation = 6,
  no_name_expressions_after_compilation = 8,
  no_lowered_names_before_compilation = 9,
  name_expression_not_valid = 10,
};
constexpr const char* kErrorNames[] = {
    "NVRTC_SUCCESS",
    "NVRTC_ERROR_OUT_OF_MEMORY",
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "NVRTC_ERROR_INVALID_INPUT",
    "NVRTC_ERROR_INVALID_PROGRAM",
    "NVRTC_ERROR_INVALID_OPTION",
    "NVRTC_ERROR_COMPILATION",
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "NVRTC_ERROR_INTERNAL_ERROR",
};

// The architectures that the compiler of CUDA 13.0 supports.
constexpr int kArchitectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

// ---- options ------------------------------------------------------------------------------------
enum class Value { none, boolean, number, any, architecture, standard, define, undefine, folder };
struct Option {
  const char* name;
  const char* alias;  // or null
  Value value;
};
constexpr Option kOptions[] = {
    {"--gpu-architecture", "-arch", Value::architecture},
    {"--std", "-std", Value::standard},
    {"--define-macro", "-D", Value::define},
    {"--undefine-macro", "-U", Value::undefine},
    {"--include-path", "-I", Value::folder},
    {"--fmad", "-fmad", Value::boolean},
    {"--ftz", "-ftz", Value::boolean},
    {"--prec-div", "-prec-div", Value::boolean},
    {"--prec-sqrt", "-prec-sqrt", Value::boolean},
    {"--relocatable-device-code", "-rdc", Value::boolean},
    {"--extra-device-vectorization", "-extra-device-vectorization", Value::none},
    {"--use_fast_math", "-use_fast_math", Value::none},
    {"--device-as-default-execution-space", "-default-device", Value::none},
    {"--device-debug", "-G", Value::none},
    {"--generate-line-info", "-lineinfo", Value::none},
    {"--restrict", "-restrict", Value::none},
    {"--disable-warnings", "-w", Value::none},
    {"--minimal", "-minimal", Value::none},
    {"--no-cache", "-no-cache", Value::none},
    {"--maxrregcount", "-maxrregcount", Value::number},
    {"--ptxas-options", "-Xptxas", Value::any},
    {"--diag-suppress", "-diag-suppress", Value::any},
};

bool is_architecture(const std::string& value) {
  for (const char* prefix : {"compute_", "sm_"}) {
    if (!value.starts_with(prefix)) continue;
    char* end = nullptr;
    const long number = std::strtol(value.c_str() + std::strlen(prefix), &end, 10);
    const bool known =
        std::find(std::begin(kArchitectures), std::end(kArchitectures), number) != std::end(kArchitectures);
    return known && (*end == '\0' || std::strcmp(end, "a") == 0 || std::strcmp(end, "f") == 0);
  }
  return false;
}
bool is_standard(const std::string& value) {
  constexpr const char* known[] = {"c++03", "c++11", "c++14", "c++17", "c++20"};
  return std::find(std::begin(known), std::end(known), value) != std::end(known);
}

// Parses the options into the program; returns false after writing an error to its log.
class Options {
 public:
  Options(_nvrtcProgram& program, int count, const char* const* options)
      : program_(program), words_(options, options + count) {}

  bool read() {
    for (at_ = 0; at_ < words_.size(); ++at_)
      if (!one(words_[at_])) return false;
    return true;
  }

 private:
  bool fail(const std::string& text) {
    program_.log = "nvrtc: error: " + text + "\n";
    return false;
  }

  // Parses "--name=value", "--name value", "-Dvalue", "-D value".
  bool one(const std::string& word) {
    for (const Option& option : kOptions) {
      for (const std::string name : {option.name, option.alias}) {
        if (!word.starts_with(name)) continue;
        const std::string rest = word.substr(name.size());
        if (option.value == Value::none && rest.empty()) return true;
        if (option.value == Value::none) continue;
        if (rest.starts_with("=")) return take(option, rest.substr(1));
        if (!rest.empty() && name.size() == 2) return take(option, rest);
        if (!rest.empty()) continue;
        if (at_ + 1 == words_.size()) return fail("argument expected after option '" + word + "'");
        return take(option, words_[++at_]);
      }
    }
    return fail("unrecognized option " + word + " found");
  }

  bool take(const Option& option, const std::string& value) {
    std::string& head = program_.text.head;
    bool good = true;
    switch (option.value) {
      case Value::boolean: good = value == "true" || value == "false"; break;
      case Value::number: good = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos; break;
      case Value::standard: good = is_standard(value); break;
      case Value::architecture:
        good = is_architecture(value);
        program_.for_device = value.starts_with("sm_");
        break;
      case Value::define: {
        const std::size_t equals = value.find('=');
        head += "#define " + value.substr(0, equals) + " " +
                (equals == std::string::npos ? "1" : value.substr(equals + 1)) + "\n";
        break;
      }
      case Value::undefine: head += "#undef " + value + "\n"; break;
      case Value::folder: program_.text.folders.push_back(value); break;
      case Value::any:
      case Value::none: break;
    }
    return good || fail("invalid value '" + value + "' for option " + option.name);
  }

  _nvrtcProgram& program_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

// ---- entry points -------------------------------------------------------------------------------
// Counts the call and returns the planned failure, or the result of `body`.
template <class F> nvrtc_result enter(Entry entry, F body) {
  const Fault fault = begin_call(entry);
  return fault.code != 0 ? fault.code : body();
}
template <class F> nvrtc_result enter(Entry entry, nvrtc_program program, F body) {
  return enter(entry, [&] { return program == nullptr ? nvrtc_result(invalid_program) : body(); });
}

nvrtc_result give_size(const std::string& text, std::size_t* size) {
  if (size == nullptr) return invalid_input;
  *size = text.size();
  return success;
}
nvrtc_result give(const std::string& text, char* to) {
  if (to == nullptr) return invalid_input;
  std::memcpy(to, text.data(), text.size());
  return success;
}
const std::string& log_of(nvrtc_program program) {
  if (!program->log.ends_with('\0')) program->log += '\0';
  return program->log;
}
const std::string& cubin_of(nvrtc_program program) {
  static const std::string none;
  return program->for_device ? program->image : none;
}

}  // namespace

const char* nvrtcGetErrorString(nvrtc_result code) {
  begin_call(Entry::nvrtcGetErrorString);
  return code >= 0 && code < static_cast<int>(std::size(kErrorNames)) ? kErrorNames[code] : "NVRTC_ERROR unknown";
}

nvrtc_result nvrtcVersion(int* major, int* minor) {
  return enter(Entry::nvrtcVersion, [&] {
    if (major == nullptr || minor == nullptr) return invalid_input;
    *major = 13;
    *minor = 0;
    return success;
  });
}

nvrtc_result nvrtcGetNumSupportedArchs(int* count) {
  return enter(Entry::nvrtcGetNumSupportedArchs, [&] {
    if (count == nullptr) return invalid_input;
    *count = static_cast<int>(std::size(kArchitectures));
    return success;
  });
}

nvrtc_result nvrtcGetSupportedArchs(int* archs) {
  return enter(Entry::nvrtcGetSupportedArchs, [&] {
    if (archs == nullptr) return invalid_input;
    std::copy(std::begin(kArchitectures), std::end(kArchitectures), archs);
    return success;
  });
}

nvrtc_result nvrtcCreateProgram(nvrtc_program* program, const char* source, const char* name, int headers,
                                const char* const* texts, const char* const* names) {
  return enter(Entry::nvrtcCreateProgram, [&] {
    if (program == nullptr || source == nullptr || headers < 0) return invalid_input;
    auto* made = new _nvrtcProgram;
    made->text.source = source;
    made->text.name = name != nullptr ? name : "default_program";
    for (int k = 0; k < headers; ++k) made->headers.push_back({names[k], texts[k]});
    *program = made;
    return success;
  });
}

nvrtc_result nvrtcDestroyProgram(nvrtc_program* program) {
  return enter(Entry::nvrtcDestroyProgram, [&] {
    if (program == nullptr || *program == nullptr) return invalid_program;
    delete *program;
    *program = nullptr;
    return success;
  });
}

nvrtc_result nvrtcAddNameExpression(nvrtc_program program, const char* expression) {
  return enter(Entry::nvrtcAddNameExpression, program, [&] {
    if (expression == nullptr) return invalid_input;
    if (program->compiled) return no_name_expressions_after_compilation;
    program->text.expressions.push_back(expression);
    return success;
  });
}

nvrtc_result nvrtcGetLoweredName(nvrtc_program program, const char* expression, const char** name) {
  return enter(Entry::nvrtcGetLoweredName, program, [&] {
    if (expression == nullptr || name == nullptr) return invalid_input;
    if (!program->compiled) return no_lowered_names_before_compilation;
    const std::vector<std::string>& all = program->text.expressions;
    const auto found = std::find(all.begin(), all.end(), expression);
    if (found == all.end()) return name_expression_not_valid;
    *name = found->c_str();
    return success;
  });
}

nvrtc_result nvrtcCompileProgram(nvrtc_program program, int count, const char* const* options) {
  return enter(Entry::nvrtcCompileProgram, program, [&] {
    program->log.clear();
    program->text.head.clear();
    program->text.folders.clear();
    if (count < 0 || (count > 0 && options == nullptr)) return invalid_input;
    if (!Options(*program, count, options).read()) return invalid_option;
    program->text.headers = store_headers(program->headers);
    const Compiled result = cuda_device::compile(program->text);
    program->log = result.log;
    if (result.failed) return compilation;
    program->image = to_image(program->text);
    program->compiled = true;
    return success;
  });
}

nvrtc_result nvrtcGetProgramLogSize(nvrtc_program program, std::size_t* size) {
  return enter(Entry::nvrtcGetProgramLogSize, program, [&] { return give_size(log_of(program), size); });
}
nvrtc_result nvrtcGetProgramLog(nvrtc_program program, char* log) {
  return enter(Entry::nvrtcGetProgramLog, program, [&] { return give(log_of(program), log); });
}
nvrtc_result nvrtcGetCUBINSize(nvrtc_program program, std::size_t* size) {
  return enter(Entry::nvrtcGetCUBINSize, program,
               [&] { return program->compiled ? give_size(cubin_of(program), size) : nvrtc_result(invalid_program); });
}
nvrtc_result nvrtcGetCUBIN(nvrtc_program program, char* cubin) {
  return enter(Entry::nvrtcGetCUBIN, program,
               [&] { return program->compiled ? give(cubin_of(program), cubin) : nvrtc_result(invalid_program); });
}
nvrtc_result nvrtcGetPTXSize(nvrtc_program program, std::size_t* size) {
  return enter(Entry::nvrtcGetPTXSize, program,
               [&] { return program->compiled ? give_size(program->image, size) : nvrtc_result(invalid_program); });
}
nvrtc_result nvrtcGetPTX(nvrtc_program program, char* ptx) {
  return enter(Entry::nvrtcGetPTX, program,
               [&] { return program->compiled ? give(program->image, ptx) : nvrtc_result(invalid_program); });
}
