// octobloom-ptxrun: runs one kernel of a PTX file. The program for trying by hand, and for its
// tests.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <octobloom/emulator/interpreter.h>

namespace {

using namespace octobloom::ptx;

const char usage_text[] =
    "ptxrun FILE.ptx --list\n"
    "ptxrun FILE.ptx --entry NAME --grid X[,Y,Z] --block X[,Y,Z] [--shared BYTES] [options] --arg "
    "ARG...\n"
    "\n"
    "ARG   u8: i8: u16: i16: u32: i32: u64: i64: f32: f64:  a value, u32:7\n"
    "      in:FILE          read-only buffer         inout:FILE     written back after the run\n"
    "      out:FILE:BYTES   zeroed, then written     zero:BYTES     zeroed scratch\n"
    "      same:K           the buffer of argument K (from 0) again\n"
    "      any buffer may end in +N or -N: the pointer is moved by N bytes\n"
    "      hex:0011aabb     raw bytes                struct:{ARG,ARG}  by value, natural "
    "alignment\n"
    "run   --seed N --switch P (0..1) | --serial     --resident BLOCKS  --cooperative\n"
    "      --max-instructions N   --allow-unsupported   --set SYMBOL=FILE   --get "
    "SYMBOL=FILE:BYTES\n"
    "check --racecheck  --race-strict  --check-init  --strict-sync\n"
    "out   --stats FILE (- for stdout)  --no-stats  -q\n"
    "exit  0 done, 2 usage, 3 a fault in the kernel, 4 races found, 5 unsupported instruction\n";

struct file_buffer {
  std::vector<std::uint8_t> data;
  std::string path;  // written back if not empty
};

[[noreturn]] void usage(const std::string& what) {
  throw kernel_fault(fault_kind::usage, what);
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) usage("cannot read " + path);
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(in), {});
}
void write_file(const std::string& path, const void* p, std::size_t n) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(p), std::streamsize(n));
  out.close();
  if (!out) usage("cannot write " + path);
}

std::uint64_t integer(const std::string& v) {
  std::size_t used = 0;
  std::uint64_t r = 0;
  try {
    r = v[0] == '-' ? std::uint64_t(std::stoll(v, &used, 0)) : std::stoull(v, &used, 0);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != v.size()) usage("\"" + v + "\" is no integer");
  return r;
}
double number(const std::string& v) {
  std::size_t used = 0;
  double r = 0;
  try {
    r = std::stod(v, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != v.size()) usage("\"" + v + "\" is no number");
  return r;
}
// The value of an option that counts something.
std::uint64_t count(const std::string& option, const std::string& v, std::uint64_t most) {
  if (v.empty() || v.find_first_not_of("0123456789") != std::string::npos || integer(v) > most) {
    usage(option + " takes a number from 0 to " + std::to_string(most) + ", not \"" + v + "\"");
  }
  return integer(v);
}

double probability(const std::string& option, const std::string& v) {
  const double p = number(v);
  if (!(p >= 0 && p <= 1)) usage(option + " takes a number from 0 to 1, not \"" + v + "\"");
  return p;
}

class argument_parser {
 public:
  std::deque<file_buffer> buffers;
  std::vector<argument> args;

  argument parse(const std::string& s) {
    const std::size_t colon = s.find(':');
    if (colon == std::string::npos) usage("argument \"" + s + "\" has no kind; see --help");
    const std::string kind = s.substr(0, colon);
    std::string v = s.substr(colon + 1);
    if (kind == "u8") return argument::value(std::uint8_t(integer(v)));
    if (kind == "i8") return argument::value(std::int8_t(integer(v)));
    if (kind == "u16") return argument::value(std::uint16_t(integer(v)));
    if (kind == "i16") return argument::value(std::int16_t(integer(v)));
    if (kind == "u32") return argument::value(std::uint32_t(integer(v)));
    if (kind == "i32") return argument::value(std::int32_t(integer(v)));
    if (kind == "u64") return argument::value(integer(v));
    if (kind == "i64") return argument::value(std::int64_t(integer(v)));
    if (kind == "f32") return argument::value(float(number(v)));
    if (kind == "f64") return argument::value(number(v));
    if (kind == "hex") {
      std::vector<std::uint8_t> b;
      if (v.size() % 2 != 0 || v.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
        usage("hex: takes two digits a byte, not \"" + v + "\"");
      }
      for (std::size_t k = 0; k + 1 < v.size(); k += 2)
        b.push_back(std::uint8_t(std::stoul(v.substr(k, 2), nullptr, 16)));
      return argument::raw(b.data(), b.size(), 1);
    }
    if (kind == "struct") return record(v);
    const std::int64_t offset = take_offset(v);
    if (kind == "same") {
      const std::size_t k = integer(v);
      if (k >= args.size() || args[k].kind != argument::kind_type::buffer)
        usage("same:" + v + " names no earlier buffer");
      argument a = args[k];
      a.offset = offset;
      return a;
    }
    file_buffer b;
    std::string shown = s;
    if (kind == "in")
      b.data = read_file(v);
    else if (kind == "inout") {
      b.data = read_file(v);
      b.path = v;
    } else if (kind == "out") {
      const std::size_t c = v.rfind(':');
      if (c == std::string::npos) usage("out: needs FILE:BYTES");
      b.data.resize(integer(v.substr(c + 1)));
      b.path = v.substr(0, c);
    } else if (kind == "zero")
      b.data.resize(integer(v));
    else
      usage("unknown argument kind " + kind);
    buffers.push_back(std::move(b));
    file_buffer& kept = buffers.back();
    argument a = kind == "in" ? argument::in(kept.data.data(), kept.data.size(), offset)
                              : argument::inout(kept.data.data(), kept.data.size(), offset);
    a.name = shown;
    return a;
  }

 private:
  static std::int64_t take_offset(std::string& v) {
    const std::size_t at = v.find_last_of("+-");
    if (at == std::string::npos || at + 1 == v.size() || at == 0) return 0;
    if (v.find_first_not_of("0123456789", at + 1) != std::string::npos) return 0;
    const std::int64_t n = std::stoll(v.substr(at));
    v.resize(at);
    return n;
  }
  argument record(const std::string& v) {
    if (v.size() < 2 || v.front() != '{' || v.back() != '}') usage("struct needs {...}");
    std::vector<argument> fields;
    int depth = 0;
    std::string one;
    for (std::size_t k = 1; k + 1 < v.size(); ++k) {
      if (v[k] == '{') ++depth;
      if (v[k] == '}') --depth;
      if (v[k] == ',' && depth == 0) {
        fields.push_back(parse(one));
        one.clear();
      } else
        one += v[k];
    }
    if (!one.empty()) fields.push_back(parse(one));
    return argument::record(std::move(fields));
  }
};

extent dimensions(const std::string& s) {
  std::uint32_t sizes[3] = {1, 1, 1};
  std::size_t at = 0;
  for (std::uint32_t& size : sizes) {
    const std::size_t comma = std::min(s.find(',', at), s.size());
    const std::uint64_t given = integer(s.substr(at, comma - at));
    if (given == 0 || given > 0x7FFFFFFF) usage("dimensions \"" + s + "\"");
    size = std::uint32_t(given);
    at = comma + 1;
    if (comma == s.size()) return {sizes[0], sizes[1], sizes[2]};
  }
  usage("more than three dimensions: \"" + s + "\"");
}

void list(const module& m) {
  for (const kernel_entry& e : m.entries()) {
    std::printf("%s\n", e.name.c_str());
    if (e.demangled != e.name) std::printf("  %s\n", e.demangled.c_str());
    for (std::size_t k = 0; k < e.params.size(); ++k)
      std::printf("  %zu: %s\n", k, e.params[k].type.c_str());
    std::printf("  static shared %zu, local %zu bytes, %zu registers declared\n", e.static_shared,
                e.local_bytes, e.registers);
    for (const std::string& u : e.unsupported) std::printf("  %s\n", u.c_str());
  }
}

int run_command(int argc, char** argv) {
  std::string file, entry, stats_file;
  extent grid, block;
  std::size_t shared = 0;
  launch_options opt;
  bool listing = false, quiet = false;
  std::vector<std::string> arg_texts, sets, gets;
  auto value = [&](int& k) -> std::string {
    if (k + 1 >= argc) usage(std::string(argv[k]) + " needs a value");
    return argv[++k];
  };
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    if (a == "--help" || a == "-h") {
      std::fputs(usage_text, stdout);
      return 0;
    } else if (a == "--list")
      listing = true;
    else if (a == "--entry")
      entry = value(k);
    else if (a == "--grid")
      grid = dimensions(value(k));
    else if (a == "--block")
      block = dimensions(value(k));
    else if (a == "--shared")
      shared = count(a, value(k), 1 << 20);
    else if (a == "--arg")
      while (k + 1 < argc && std::strncmp(argv[k + 1], "--", 2) != 0 &&
             std::strcmp(argv[k + 1], "-q") != 0)
        arg_texts.push_back(argv[++k]);
    else if (a == "--seed")
      opt.seed = count(a, value(k), UINT64_MAX);
    else if (a == "--switch")
      opt.switch_probability = probability(a, value(k));
    else if (a == "--serial")
      opt.serial = true;
    else if (a == "--cooperative")
      opt.cooperative = true;
    else if (a == "--resident")
      opt.resident_blocks = unsigned(count(a, value(k), 1 << 20));
    else if (a == "--racecheck")
      opt.racecheck = true;
    else if (a == "--race-strict")
      opt.racecheck = opt.race_strict = true;
    else if (a == "--check-init")
      opt.check_init = true;
    else if (a == "--strict-sync")
      opt.strict_sync = true;
    else if (a == "--allow-unsupported")
      opt.allow_unsupported = true;
    else if (a == "--max-instructions")
      opt.max_instructions = count(a, value(k), UINT64_MAX);
    else if (a == "--set")
      sets.push_back(value(k));
    else if (a == "--get")
      gets.push_back(value(k));
    else if (a == "--stats")
      stats_file = value(k);
    else if (a == "--no-stats")
      opt.collect_stats = false;
    else if (a == "-q")
      quiet = true;
    else if (a[0] == '-')
      usage("unknown option " + a);
    else if (file.empty())
      file = a;
    else
      usage("unexpected " + a);
  }
  if (file.empty()) {
    std::fputs(usage_text, stderr);
    return 2;
  }
  module m = module::from_file(file);
  if (listing) {
    list(m);
    return 0;
  }
  if (entry.empty()) {
    const std::vector<kernel_entry> e = m.entries();
    if (e.size() != 1) usage("--entry is needed; --list shows the kernels");
    entry = e[0].name;
  }
  argument_parser parser;
  for (const std::string& t : arg_texts) {
    argument a = parser.parse(t);
    parser.args.push_back(a);
  }
  for (const std::string& s : sets) {
    const std::size_t eq = s.find('=');
    if (eq == std::string::npos) usage("--set SYMBOL=FILE");
    const std::vector<std::uint8_t> d = read_file(s.substr(eq + 1));
    m.write_symbol(s.substr(0, eq), d.data(), d.size());
  }
  const launch_statistics st = m.launch(entry, grid, block, shared, parser.args, opt);
  for (const file_buffer& b : parser.buffers)
    if (!b.path.empty()) write_file(b.path, b.data.data(), b.data.size());
  for (const std::string& s : gets) {
    const std::size_t eq = s.find('='), c = s.rfind(':');
    if (eq == std::string::npos || c == std::string::npos || c < eq)
      usage("--get SYMBOL=FILE:BYTES");
    std::vector<std::uint8_t> d(integer(s.substr(c + 1)));
    m.read_symbol(s.substr(0, eq), d.data(), d.size());
    write_file(s.substr(eq + 1, c - eq - 1), d.data(), d.size());
  }
  if (stats_file == "-")
    std::fputs(st.json().c_str(), stdout);
  else if (!stats_file.empty()) {
    const std::string j = st.json();
    write_file(stats_file, j.data(), j.size());
  }
  if (!quiet)
    std::fprintf(stderr,
                 "ptxrun: %llu warp, %llu lane instructions, %.3f s, %.1f M lane instructions/s\n",
                 static_cast<unsigned long long>(st.warp_instructions),
                 static_cast<unsigned long long>(st.lane_instructions), st.seconds,
                 st.seconds > 0 ? double(st.lane_instructions) / st.seconds / 1e6 : 0.0);
  if (!quiet && st.exited_in_mask)
    std::fprintf(stderr,
                 "ptxrun: warning: %llu *.sync instructions ran although lanes of their mask had "
                 "exited (--strict-sync makes this a fault)\n",
                 static_cast<unsigned long long>(st.exited_in_mask));
  if (!quiet && st.exited_at_barrier)
    std::fprintf(stderr,
                 "ptxrun: warning: %llu barriers were passed by blocks with exited threads "
                 "(--strict-sync makes this a fault)\n",
                 static_cast<unsigned long long>(st.exited_at_barrier));
  if (!st.races.empty()) {
    for (const std::string& r : st.races) std::fprintf(stderr, "race: %s\n", r.c_str());
    std::fprintf(stderr, "ptxrun: %zu races\n", st.races.size());
    return 4;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const kernel_fault& f) {
    std::fprintf(stderr, "ptxrun: %s\n", f.what());
    return f.kind == fault_kind::usage ? 2 : f.kind == fault_kind::unsupported ? 5 : 3;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ptxrun: %s\n", e.what());
    return 2;
  }
}
