// Catena as a contender of compare.sh (requests: contender.h). --device cpu|cuda selects the device. With --instead
// CASE=OTHER (may be repeated), it is a peer that has only these cases, and runs OTHER with the parameters of CASE: two
// ways to do the same are then measured alternately.
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include <catena/benchmarks/cases.h>

namespace {

class Ours : public bench::Contender {
 public:
  explicit Ours(std::map<std::string, std::string> instead) : instead_(std::move(instead)) {}
  std::string cases(bool tiny) override {
    std::ostringstream out;
    for (const bench::Case& c : bench::Cases::all()) write(out, c, c.parameters(tiny));
    return std::to_string(bench::Cases::all().size()) + out.str();
  }
  std::string sweep(std::int64_t seed, std::int64_t shapes, std::int64_t most) override {
    std::ostringstream out;
    std::size_t lines = 0;
    for (const bench::Case& c : bench::Cases::all()) {
      std::set<bench::Parameters> drawn;  // a set, because a rule may have only few shapes
      for (std::int64_t number = 0; c.draw && number < shapes; ++number) {
        bench::Draw draw(c.name, seed, number, most);
        const bench::Parameters p = c.draw(draw);
        if (drawn.insert(p).second) write(out, c, p);
      }
      lines += drawn.size();
    }
    return std::to_string(lines) + out.str();
  }
  std::string variants(const std::string& name) override {
    return instead_.empty() || instead_.contains(name) ? "default" : "";
  }
  std::string versions() override { return CATENA_BENCHMARK_VERSION; }
  void setup(std::istream& words) override {
    ready_ = {};
    std::string name, variant;
    words >> name;
    if (const auto other = instead_.find(name); other != instead_.end()) name = other->second;
    // As a peer of another build, this program gets requests with the name of its only variant.
    if (const auto parameters_at = words.tellg(); words >> variant && variant != "default") words.seekg(parameters_at);
    for (const bench::Case& c : bench::Cases::all()) {
      if (c.name == name) ready_ = c.setup(parameters(words));
    }
    catena::check<catena::KeyError>(bool(ready_.run), "worker", "there is no case '", name, "'");
  }
  std::string result() override {
    const nd::Array y = ready().result();
    return bench::fingerprint(y.to_vector<double>(), std::size_t(catena::itemsize(y.dtype())));
  }
  void run(std::int64_t calls) override { ready().run(calls); }
  void synchronize() override { nd::synchronize(nd::current_device()); }

 private:
  static void write(std::ostream& out, const bench::Case& c, const bench::Parameters& parameters) {
    out << '\n' << c.name;
    for (const auto& [name, value] : parameters) out << ' ' << name << '=' << value;
  }
  const bench::Ready& ready() const {
    catena::check<catena::RuntimeError>(bool(ready_.run), "worker", "no case was set up");
    return ready_;
  }

  std::map<std::string, std::string> instead_;
  bench::Ready ready_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::choose_device(argc, argv);
  std::map<std::string, std::string> instead;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = i + 1 < argc ? argv[i + 1] : "";
    const std::size_t equals = word.find('=');
    if (std::strcmp(argv[i], "--instead") != 0 || equals == word.npos) {
      std::cerr << "worker: " << argv[i] << ' ' << word << ": expected --device cpu|cuda or --instead CASE=OTHER\n";
      return 2;
    }
    instead.emplace(word.substr(0, equals), word.substr(equals + 1));
    ++i;
  }
  Ours(std::move(instead)).serve();
}
