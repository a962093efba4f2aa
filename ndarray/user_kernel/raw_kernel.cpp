#include <catena/ndarray/user_kernel/raw_kernel.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>

#include <catena/kernels/base/descriptors.h>
#include <catena/ndarray/device/text_kernels.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/user_kernel/memo_map.h>
#include <catena/ndarray/user_kernel/signature.h>

namespace nd {

using catena::check;
using catena::concat;

// A text and the modules loaded from it, per device; shared by all its kernels.
struct RawKernel::Program {
  using Loaded = std::unique_ptr<DeviceModule>;
  struct DeviceHash {
    std::size_t operator()(const Device& d) const noexcept {
      return static_cast<std::size_t>(d.kind) << 16 | static_cast<std::uint16_t>(d.id);
    }
  };
  using Table = internal::MemoMap<Device, Loaded, DeviceHash>;

  explicit Program(ModuleText t) : text(std::move(t)) {}
  std::shared_ptr<const Loaded> on(Device device) {
    return table->find(device, [&] { return text_kernels(device.kind).load_module(text, device.id); });
  }

  ModuleText text;
  std::shared_ptr<Table> table = Table::make();
};

// The parameters of a kernel, for checking launches.
struct RawKernel::Parameters {
  std::string label;  // "RawKernel saxpy"
  std::optional<internal::RawParameters> signature;
};

namespace {

// Compares the sizes of arguments with the sizes of the parameters, if the backend provides them.
void check_sizes(std::string_view op, std::span<const unsigned long> sizes, std::span<const ArgumentBytes> values,
                 bool integers_are_wide, std::initializer_list<KernelArgument> args) {
  check<TypeError>(values.size() == sizes.size(), op, "takes ", sizes.size(), " arguments, ", values.size(),
                   " were given");
  for (std::size_t k = 0; k < values.size(); ++k) {
    const KernelArgument& a = args.begin()[k];
    const bool integer = a.form() == KernelArgument::Form::number && *a.dtype() <= Dtype::uint64;
    const bool fits = values[k].size() == sizes[k] || (integers_are_wide && integer && sizes[k] <= values[k].size());
    check<TypeError>(fits, op, "argument ", k, " has ", values[k].size(), " bytes, its parameter ", sizes[k]);
  }
}

std::string read_file(const std::string& path) {
  catena::reserve_standard_descriptors();
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in || bytes.empty()) throw IOError(concat("load_file: \"", path, "\" cannot be read or is empty"));
  return bytes;
}

// Returns the common device of the arrays with elements; if there are none, of the arrays without elements.
internal::OneDevice device_of(std::string_view op, std::span<const Operand> arrays) {
  internal::OneDevice filled(op), any(op);
  for (const Operand& a : arrays) filled.add(a.header());
  if (filled.any()) return filled;
  for (const Operand& a : arrays) any.add(a.header()->device);
  return any;
}

}  // namespace

LaunchDims::LaunchDims(std::initializer_list<std::int64_t> lengths) {
  check<ValueError>(lengths.size() >= 1 && lengths.size() <= 3, "launch", lengths.size(),
                    " lengths are given; a grid or block has 1 to 3");
  std::size_t k = 0;
  for (const std::int64_t length : lengths) {
    check<ValueError>(length >= 1 && length <= std::numeric_limits<std::int32_t>::max(), "launch",
                      "a grid or block of length ", length);
    lengths_[k++] = static_cast<unsigned>(length);
  }
}

RawKernel::RawKernel(std::string_view code, std::string_view name, const std::vector<std::string>& options)
    : RawKernel(
          catena::Shared<Program>::make(ModuleText{concat("RawKernel ", name), std::string(code), options, {}, {}}),
          name) {
  check<ValueError>(!name.empty(), "RawKernel", "the name of the kernel is empty");
  if (!is_identifier(name)) program_->text.name_expressions.push_back(name_);
}
RawKernel::RawKernel(catena::Shared<Program> program, std::string_view name)
    : program_(std::move(program)),
      parameters_(catena::Shared<Parameters>::make(
          Parameters{concat("RawKernel ", name), internal::find_signature(program_->text.code, name)})),
      name_(name) {}

void RawKernel::operator()(const LaunchDims& grid, const LaunchDims& block, std::initializer_list<KernelArgument> args,
                           const RawLaunchOptions& options) const {
  const std::string& op = parameters_->label;
  std::vector<Operand> arrays;
  std::vector<ArgumentBytes> values;
  const auto wide = internal::widened(args);
  for (const KernelArgument& a : args) {
    if (!a.array().is_null()) arrays.emplace_back(a.array());
    const bool widens = !parameters_->signature && a.form() == KernelArgument::Form::number && a.bytes().size() < 8;
    values.push_back(widens ? ArgumentBytes(wide[values.size()]) : a.bytes());
  }
  Device device = device_of(op, arrays).get();
  if (options.stream) {
    check<ValueError>(arrays.empty() || options.stream->device() == device, op, "the stream is of ",
                      options.stream->device(), ", the arrays are on ", device);
    device = options.stream->device();
  }
  const std::shared_ptr<const Program::Loaded> loaded = program_->on(device);
  const void* function = (*loaded)->function(name_);
  if (parameters_->signature) internal::check_arguments(op, *parameters_->signature, args);
  if (const auto sizes = (*loaded)->parameter_bytes(function))
    check_sizes(op, *sizes, values, !parameters_->signature, args);
  const LaunchShape shape{grid.lengths(), block.lengths(), static_cast<unsigned>(options.shared_mem)};
  const std::int64_t threads = std::int64_t(shape.block[0]) * shape.block[1] * shape.block[2];
  const int most = (*loaded)->attributes(function).max_threads_per_block;
  check<ValueError>(threads <= most, op, "a block of ", threads, " threads; the kernel can have ", most);
  // It is unknown which arrays a kernel writes, so all of them count as written.
  std::vector<const catena::ArrayHeader*> written;
  for (const Operand& a : arrays) written.push_back(a.header());
  const StreamRef stream = options.stream ? options.stream->ref() : internal::stream_for(device);
  internal::launch_on(stream, {}, written, [&] { (*loaded)->launch(function, shape, values, stream); });
}

void RawKernel::linear_launch(std::int64_t size, std::initializer_list<KernelArgument> args,
                              const LinearLaunchOptions& options) const {
  check<ValueError>(options.block_max_size >= 1, parameters_->label, "block_max_size = ", options.block_max_size,
                    " is not positive");
  check<ValueError>(size >= 0, parameters_->label, "size = ", size, " is negative");
  if (size == 0) return;
  const std::int64_t block = std::min<std::int64_t>(size, options.block_max_size);
  const std::int64_t grid = std::min<std::int64_t>(65536, size / options.block_max_size + 1);
  (*this)(LaunchDims{grid}, LaunchDims{block}, args, {options.shared_mem, options.stream});
}

KernelAttributes RawKernel::attributes() const {
  const std::shared_ptr<const Program::Loaded> loaded = program_->on(current_device());
  return (*loaded)->attributes((*loaded)->function(name_));
}
void RawKernel::compile() const { static_cast<void>(attributes()); }

RawModule::RawModule(std::string_view code, const RawModuleOptions& options)
    : program_(catena::Shared<RawKernel::Program>::make(
          ModuleText{"RawModule", std::string(code), options.options, options.name_expressions, {}})) {}

RawModule RawModule::load(std::string image, std::string_view code) {
  check<ValueError>(!image.empty(), "RawModule", "the compiled code is empty");
  return RawModule(
      catena::Shared<RawKernel::Program>::make(ModuleText{"RawModule", std::string(code), {}, {}, std::move(image)}));
}
RawModule RawModule::load_file(const std::string& path) { return load(read_file(path)); }

RawKernel RawModule::get_function(std::string_view name) const { return RawKernel(program_, name); }

MemoryPointer RawModule::get_global(const std::string& name) const {
  const Device device = current_device();
  std::shared_ptr<const RawKernel::Program::Loaded> loaded = program_->on(device);
  const auto [address, bytes] = (*loaded)->global(name);
  return MemoryPointer(wrap_storage(address, bytes, device, [loaded]() mutable { loaded.reset(); }));
}

void RawModule::compile() const { static_cast<void>(program_->on(current_device())); }

}  // namespace nd
