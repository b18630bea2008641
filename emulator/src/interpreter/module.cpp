#include "interpreter/module.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "interpreter/parser.h"
#include "interpreter/text.h"

namespace octobloom::ptx {

void module::implementation::load(std::string text, const std::string& name) {
  prog.text = std::move(text);
  prog.name = name;
  parser(prog).run();
  regions.resize(first_region);
  for (auto& [n, v] : prog.variables) {
    if (v.space == space_shared) continue;
    memory_region r;
    r.size = v.size;
    r.owned.reset(new u8[v.size ? v.size : 1]());
    r.host = r.owned.get();
    std::copy_n(v.init.begin(), std::min<u64>(v.init.size(), v.size), r.host);
    r.writable = v.space == space_global;
    r.name = (v.space == space_const ? "__constant__ " : "__device__ ") + demangle(n);
    v.address = region_base(u32(regions.size()));
    regions.push_back(std::move(r));
  }
  for (auto& [n, v] : prog.variables)
    for (const ptx_variable::address_patch& p : v.patches) {
      auto f = prog.function_ids.find(p.symbol);
      if (f != prog.function_ids.end()) prog.address_taken.insert(f->second);
      const u64 a = symbol_address(p.symbol) + u64(p.add);
      std::memcpy(regions[v.address >> region_shift].host + p.at, &a, 8);
    }
  for (u32 f = 0; f < prog.functions.size(); ++f) {
    if (prog.functions[f].is_entry && prog.functions[f].has_body) entries.push_back(f);
    prog.functions[f].recursive = calls_itself(f);
  }
}

u64 module::implementation::symbol_address(const std::string& n) const {
  auto v = prog.variables.find(n);
  if (v != prog.variables.end()) return v->second.address;
  auto f = prog.function_ids.find(n);
  if (f != prog.function_ids.end()) return region_base(function_region) + f->second;
  throw kernel_fault(fault_kind::usage, "unknown symbol in an initialiser: " + n);
}

module::module(std::unique_ptr<implementation> impl) :impl_(std::move(impl)) {}
module::module(module&&) noexcept = default;
module& module::operator=(module&&) noexcept = default;
module::~module() = default;

module module::from_text(std::string ptx, const std::string& name) {
  std::unique_ptr<implementation> impl(new implementation);
  impl->load(std::move(ptx), name);
  return module(std::move(impl));
}
module module::from_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw kernel_fault(fault_kind::usage, "cannot read " + path);
  std::stringstream s;
  s << in.rdbuf();
  const std::size_t slash = path.rfind('/');
  return from_text(s.str(), slash == std::string::npos ? path : path.substr(slash + 1));
}
std::vector<kernel_entry> module::entries() const {
  std::vector<kernel_entry> out;
  for (u32 id : impl_->entries) {
    const ptx_function& f = impl_->prog.functions[id];
    kernel_entry e;
    e.name = f.name;
    e.demangled = f.demangled;
    for (const ptx_variable& v : f.params) {
      parameter p;
      p.name = v.name;
      p.size = v.size;
      p.align = v.align;
      p.type = format("%llu bytes, align %u", static_cast<unsigned long long>(v.size), v.align);
      e.params.push_back(std::move(p));
    }
    const std::vector<u32> functions = impl_->reachable(id);
    e.static_shared = impl_->shared_layout(functions, nullptr);
    for (u32 g : functions) {
      e.local_bytes += impl_->prog.functions[g].frame;
      e.registers = std::max<std::size_t>(e.registers, impl_->prog.functions[g].declared32);
    }
    e.unsupported = impl_->unsupported(functions);
    out.push_back(std::move(e));
  }
  return out;
}
launch_statistics module::launch(const std::string& entry, extent grid, extent block,
                                 std::size_t dynamic_shared, const std::vector<argument>& args,
                                 const launch_options& options) {
  return impl_->launch(entry, grid, block, dynamic_shared, args, options);
}
namespace {
memory_region& symbol_region(module::implementation& m, const std::string& name,
                             std::size_t bytes) {
  const ptx_variable* found = nullptr;
  for (auto& [n, v] : m.prog.variables)
    if (v.space != space_shared && (n == name || demangle(n) == name)) found = &v;
  if (!found) throw kernel_fault(fault_kind::usage, "no module variable is called " + name);
  if (bytes > found->size)
    throw kernel_fault(fault_kind::usage, format("%s has %llu bytes", name.c_str(),
                                                 static_cast<unsigned long long>(found->size)));
  return m.regions[found->address >> region_shift];
}
}  // namespace
void module::write_symbol(const std::string& name, const void* from, std::size_t bytes) {
  std::memcpy(symbol_region(*impl_, name, bytes).host, from, bytes);
}
void module::read_symbol(const std::string& name, void* to, std::size_t bytes) const {
  std::memcpy(to, symbol_region(*impl_, name, bytes).host, bytes);
}

}  // namespace octobloom::ptx
