// What the compiler made of the kernels: registers, spills and local memory by ptxas' own report,
// and, by disassembly, the instructions that a warp issues for 32 keys, the width of the loads, and
// atomics without a result.

#include <cxxabi.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace octobloom::test {
namespace {

constexpr std::array architectures{80, 90, 100};

std::string file_of(const std::string& stem, int architecture, const std::string& suffix) {
  return std::string(OCTOBLOOM_KERNELS) + "/" + stem + ".sm_" + std::to_string(architecture) +
         suffix;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << "missing: " << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// "contains_kernel<layout<4, 2>, 0, integer_source<unsigned long> >": without namespaces.
std::string short_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  name = std::regex_replace(name, std::regex(R"(\(octobloom::gpu::detail::rounds\))"), "");
  name = std::regex_replace(name, std::regex(R"(octobloom::(gpu::detail|test)::)"), "");
  name = std::regex_replace(name, std::regex(R"((\d)u\b)"), "$1");
  name = std::regex_replace(name, std::regex(R"(^void )"), "");
  return name.substr(0, name.find('('));
}

struct resources {
  int registers = 0;
  int stack = 0;
  int spill_stores = 0;
  int spill_loads = 0;
};

/// ptxas' report, by kernel.
std::map<std::string, resources> resources_of(const std::string& stem, int architecture) {
  std::istringstream report(read_text(file_of(stem, architecture, ".report")));
  static const std::regex entry(R"(Compiling entry function '(\S+)')");
  static const std::regex frame(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  static const std::regex used(R"(Used (\d+) registers)");
  std::map<std::string, resources> kernels;
  std::string current;
  std::smatch match;
  for (std::string line; std::getline(report, line);) {
    if (std::regex_search(line, match, entry)) {
      current = short_name(match[1]);
    } else if (std::regex_search(line, match, frame)) {
      kernels[current].stack = std::stoi(match[1]);
      kernels[current].spill_stores = std::stoi(match[2]);
      kernels[current].spill_loads = std::stoi(match[3]);
    } else if (std::regex_search(line, match, used)) {
      kernels[current].registers = std::stoi(match[1]);
    }
  }
  return kernels;
}

using instructions = std::vector<std::string>;

/// What follows `prefix` in `line`, up to one of `ends`; empty when the line does not begin so.
std::string after(std::string_view line, std::string_view prefix, const char* ends) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || !line.substr(start).starts_with(prefix)) return {};
  line.remove_prefix(start + prefix.size());
  return std::string(line.substr(0, line.find_first_of(ends)));
}

/// The machine code of every kernel, labels included ("label:").
std::map<std::string, instructions> code_of(const std::string& stem, int architecture) {
  const std::string command =
      "'" OCTOBLOOM_NVDISASM "' -c '" + file_of(stem, architecture, ".cubin") + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::map<std::string, instructions> kernels;
  instructions* current = nullptr;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    const std::string_view line(buffer.data());
    if (const std::string name = after(line, ".section\t.text.", ", \t"); !name.empty()) {
      current = &kernels[short_name(name)];
    } else if (current == nullptr) {
      continue;
    } else if (line.starts_with(".L_x_")) {
      current->push_back(std::string(line.substr(0, line.find(':') + 1)));
    } else if (const std::string address = after(line, "/*", "*"); address.size() >= 4) {
      const std::string_view code = line.substr(line.find("*/") + 2);
      const std::string text = after(code, "", ";");
      if (!text.empty()) current->push_back(text);
    }
  }
  return kernels;
}

std::size_t count_of(const instructions& code, const std::string& pattern) {
  const std::regex r(pattern);
  return static_cast<std::size_t>(std::count_if(
      code.begin(), code.end(), [&](const std::string& i) { return std::regex_search(i, r); }));
}

/// The loop over whole groups of 32 keys, one pass of which serves 32: the shortest stretch from a
/// label to a branch back to it, labels left out, that reads or updates the filter.
instructions main_loop(const instructions& code) {
  std::map<std::string, std::size_t> labels;
  instructions shortest;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].back() == ':') {
      labels[code[i].substr(0, code[i].size() - 1)] = i;
      continue;
    }
    const std::size_t target = code[i].find(".L_x_");
    if (target == std::string::npos || code[i].find("BRA") == std::string::npos) continue;
    const auto label =
        labels.find(code[i].substr(target, code[i].find_first_of(")` ", target) - target));
    if (label == labels.end()) continue;
    instructions body;
    std::copy_if(code.begin() + static_cast<std::ptrdiff_t>(label->second),
                 code.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::back_inserter(body),
                 [](const std::string& line) { return line.back() != ':'; });
    const bool touches = count_of(body, R"(\bRED|\bATOMS|LDG\.E\S*\.(128|256)|VOTE)") > 0;
    if (touches && (shortest.empty() || body.size() < shortest.size())) shortest = body;
  }
  return shortest;
}

/// Fetched on the first call where it is not there.
bool have_disassembler() {
  static const bool have = [] {
    if (access(OCTOBLOOM_NVDISASM, X_OK) == 0) return true;
    (void)std::system("sh '" OCTOBLOOM_FETCH_NVDISASM "' '" OCTOBLOOM_NVDISASM "'");
    return access(OCTOBLOOM_NVDISASM, X_OK) == 0;
  }();
  return have;
}

#define OCTOBLOOM_NEED_DISASSEMBLER()                                                          \
  if (!have_disassembler())                                                                    \
  GTEST_SKIP() << "no nvdisasm: it is not part of this CUDA Toolkit and could not be fetched " \
                  "from PyPI; give its path with -D OCTOBLOOM_NVDISASM=…"

// Five blocks of 256 threads on a multiprocessor leave 48 registers a thread, four leave 64.
int register_limit(const std::string& kernel) {
  const bool common = kernel.find(">, 0, ") != std::string::npos &&
                      kernel.find("string_source") == std::string::npos;
  return common ? 48 : 64;
}

TEST(Resources, NoSpillsNoLocalMemoryFewRegisters) {
  std::size_t kernels = 0;
  for (const int architecture : architectures) {
    for (const char* stem : {"contains", "insert", "widths", "view"}) {
      for (const auto& [name, used] : resources_of(stem, architecture)) {
        SCOPED_TRACE(name + " for sm_" + std::to_string(architecture));
        EXPECT_EQ(used.stack, 0);
        EXPECT_EQ(used.spill_stores, 0);
        EXPECT_EQ(used.spill_loads, 0);
        EXPECT_GT(used.registers, 0);
        EXPECT_LE(used.registers, register_limit(name));
        ++kernels;
      }
    }
  }
  std::printf("%zu kernels: no spills, no local memory\n", kernels);
  // 5 kinds of keys, 4 of k: contains in two widths (strings in one), insert, hash; and slices.
  EXPECT_GE(kernels, 3u * (36 + 5 + 20 + 4 + 10));
}

TEST(MachineCode, NoLocalMemoryAndAtomicsWithoutResult) {
  OCTOBLOOM_NEED_DISASSEMBLER();
  for (const int architecture : architectures) {
    for (const char* stem : {"contains", "insert", "widths"}) {
      const auto kernels = code_of(stem, architecture);
      ASSERT_FALSE(kernels.empty());
      for (const auto& [name, code] : kernels) {
        SCOPED_TRACE(name + " for sm_" + std::to_string(architecture));
        EXPECT_EQ(count_of(code, R"(\b(LDL|STL)\b)"), 0u);
        EXPECT_EQ(count_of(code, R"(\bATOMG?\b)"), 0u) << "an atomic that returns something";
        EXPECT_EQ(count_of(code, R"(\b(LD|ST)\.E)"), 0u) << "an access that is not known global";
        if (name.starts_with("insert_kernel")) {
          EXPECT_GE(count_of(code, R"(\bREDG?\.E\.OR\.64)"), 8u);
        }
        if (name.starts_with("contains_kernel<layout<4, 2>")) {
          EXPECT_GE(count_of(code, R"(LDG\.E\.128)"), 8u);  // whole groups and tails
        }
        if (name.starts_with("contains_kernel<layout<2, 4>")) {
          EXPECT_GE(count_of(code, architecture >= 100 ? R"(LDG\.E\S*\.256)" : R"(LDG\.E\.128)"),
                    4u);
        }
      }
    }
  }
}

struct budget {
  const char* kernel;
  std::array<std::size_t, 3> most;  ///< instructions a warp issues for 32 keys, by architecture
};

// Budgets are what was reached plus a little: a change that costs instructions should be seen.
constexpr budget budgets[] = {
    {"contains_kernel<layout<4, 2>, 0, integer_source<unsigned long> >", {100, 100, 100}},
    {"contains_kernel<layout<2, 2>, 0, integer_source<unsigned long> >", {94, 94, 90}},
    {"contains_kernel<layout<2, 4>, 0, integer_source<unsigned long> >", {94, 94, 88}},
    {"contains_kernel<layout<1, 2>, 0, integer_source<unsigned long> >", {84, 84, 84}},
    {"insert_kernel<layout<4, 1>, 0, integer_source<unsigned long> >", {97, 95, 95}},
    {"insert_kernel<layout<1, 1>, 0, integer_source<unsigned long> >", {86, 86, 86}},
    {"insert_kernel<layout<8, 1>, 0, integer_source<unsigned long> >", {110, 108, 108}},
};

TEST(MachineCode, InstructionsWithinTheBudget) {
  OCTOBLOOM_NEED_DISASSEMBLER();
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    const auto kernels = code_of("widths", architectures[a]);
    for (const budget& b : budgets) {
      SCOPED_TRACE(std::string(b.kernel) + " for sm_" + std::to_string(architectures[a]));
      const auto found = kernels.find(b.kernel);
      ASSERT_NE(found, kernels.end());
      const instructions loop = main_loop(found->second);
      EXPECT_GT(loop.size(), 50u) << "the loop was not found";
      EXPECT_LE(loop.size(), b.most[a]);
    }
  }
}

// The loads of a group are all on their way before the first is waited for: between the first and
// the last, no bit is tested (by a 64-bit funnel shift).
TEST(MachineCode, LoadsComeBeforeTests) {
  OCTOBLOOM_NEED_DISASSEMBLER();
  for (const int architecture : architectures) {
    const auto kernels = code_of("widths", architecture);
    const instructions loop =
        main_loop(kernels.at("contains_kernel<layout<4, 2>, 0, integer_source<unsigned long> >"));
    const auto is_load = [](const std::string& i) { return i.starts_with("LDG.E.128"); };
    const auto first = std::find_if(loop.begin(), loop.end(), is_load);
    const auto last = std::find_if(loop.rbegin(), loop.rend(), is_load).base();
    ASSERT_LT(first, last);
    const instructions between(first, last);
    EXPECT_EQ(std::count_if(between.begin(), between.end(), is_load), 4) << architecture;
    EXPECT_EQ(count_of(between, R"(SHF\.R\.U64)"), 0u) << architecture;
  }
}

// The tables of docs/benchmarks.md and docs/cuda-machine-code.md: printed here, so that it can be compared and renewed.
TEST(MachineCode, Table) {
  OCTOBLOOM_NEED_DISASSEMBLER();
  std::size_t rows = 0;
  for (const char* stem : {"widths", "contains", "insert"}) {
    std::map<std::string, std::string> lines;
    for (const int architecture : architectures) {
      const auto used = resources_of(stem, architecture);
      for (const auto& [name, code] : code_of(stem, architecture)) {
        const instructions loop = main_loop(code);
        const std::size_t wide = count_of(loop, R"(LDG\.E\S*\.256)");
        std::ostringstream cell;
        cell << " | " << loop.size() << " / " << used.at(name).registers << " / "
             << count_of(loop, R"(LDG\.E\S*\.(128|256))") << (wide > 0 ? "×256" : "×128") << " / "
             << count_of(loop, R"(\bREDG?\.)");
        lines[name] += cell.str();
      }
    }
    for (const auto& [name, cells] : lines)
      std::printf("| `%s`%s |\n", name.c_str(), cells.c_str());
    rows += lines.size();
  }
  EXPECT_GE(rows, 75u);
}

}  // namespace
}  // namespace octobloom::test
