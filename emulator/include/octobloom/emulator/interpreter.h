#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// Runs the PTX of CUDA kernels on a CPU, to check them where there is no GPU.
///
///     ptx::module m = ptx::module::from_file("kernels.ptx");
///     std::vector<std::uint64_t> words(1 << 20);
///     ptx::launch_statistics s = m.launch("insert", {64}, {256}, 0,
///         {ptx::argument::in(keys), ptx::argument::value(std::uint64_t{n}),
///         ptx::argument::inout(words)});
///
/// Host arrays are bound without copying: the kernel reads and writes them in place. A launch that
/// goes wrong (out of bounds, misaligned, deadlock, unsupported instruction, ...) throws
/// kernel_fault. A module is not thread-safe; use one for each host thread.
namespace octobloom::ptx {

struct extent {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

enum class fault_kind {
  usage,          // wrong arguments, unknown kernel, unreadable PTX
  unsupported,    // an instruction the interpreter does not know
  out_of_bounds,  // an address outside every buffer, or past the end of one
  misaligned,     // an address that is no multiple of the access size
  read_only,      // a store or atomic into a read-only buffer
  uninitialised,  // a read of shared memory that nobody wrote (check_init)
  sync,           // a warp-level *.sync instruction or a barrier used wrongly
  deadlock,       // nothing can run any more
  trap,           // trap, assert
  race,           // racecheck found conflicting accesses (only thrown by the command)
  limit,          // max_instructions reached
};
const char* name_of(fault_kind kind);

class kernel_fault : public std::runtime_error {
 public:
  kernel_fault(fault_kind what_kind, const std::string& what)
      : std::runtime_error(what), kind(what_kind) {}
  fault_kind kind;
};

// One kernel argument. Buffers keep pointing at the caller's memory; they are mapped at an address
// of their own, with nothing mapped around them. The same (pointer, bytes, access) given twice is
// the same device address.
class argument {
 public:
  template <class T>
  static argument value(const T& v) {
    static_assert(std::is_trivially_copyable<T>::value, "kernel arguments are bytes");
    return raw(&v, sizeof(T), alignof(T));
  }
  static argument raw(const void* bytes, std::size_t size, std::size_t align);
  // `offset` is added to the pointer the kernel gets (to test misaligned pointers).
  static argument in(const void* host, std::size_t bytes, std::int64_t offset = 0);  // read-only
  static argument inout(void* host, std::size_t bytes,
                        std::int64_t offset = 0);  // read and written
  template <class T>
  static argument in(const std::vector<T>& v) {
    return in(v.data(), v.size() * sizeof(T));
  }
  template <class T>
  static argument inout(std::vector<T>& v) {
    return inout(v.data(), v.size() * sizeof(T));
  }
  // A by-value struct: fields in order, each at its natural alignment.
  static argument record(std::vector<argument> fields);

  enum class kind_type { bytes, buffer, record } kind = kind_type::bytes;
  std::vector<std::uint8_t> bytes;  // of kind bytes
  std::size_t align = 1;
  void* host = nullptr;  // of kind buffer
  std::size_t size = 0;
  std::int64_t offset = 0;
  bool writable = false;
  std::string name;              // shown in messages
  std::vector<argument> fields;  // of kind record
};

struct launch_options {
  std::uint64_t seed = 1;           // of the scheduler
  double switch_probability = 0.1;  // of leaving a warp at a memory operation
  bool serial = false;              // one block after another, warps in order, no random switches
  unsigned resident_blocks = 0;     // blocks in flight; 0: about 64 warps' worth (serial: 1)
  bool cooperative = false;         // all blocks in flight, and a barrier for grid.sync()
  bool collect_stats = true;        // sectors, bank conflicts; instruction counts are always kept
  bool racecheck = false;           // report conflicting accesses in launch_statistics::races
  bool race_strict = false;         // also plain reads against atomics
  bool check_init = false;          // fault on reads of unwritten shared memory
  bool strict_sync = false;        // exited lanes in a sync mask or missing at a barrier are faults
  bool allow_unsupported = false;  // fault only when an unsupported instruction is executed
  std::uint64_t max_instructions = 20'000'000'000;  // warp instructions; 0: no limit
};

struct memory_statistics {
  std::uint64_t instructions = 0;  // warp instructions
  std::uint64_t lanes = 0;         // thread accesses
  std::uint64_t bytes = 0;         // bytes requested by threads
  std::uint64_t sectors = 0;       // 32-byte sectors after coalescing within each warp instruction
  std::uint64_t lines = 0;         // 128-byte lines, same
  std::uint64_t unique_sectors = 0;  // different sectors in the whole launch (an ideal cache)
};

struct launch_statistics {
  std::uint64_t blocks = 0, warps = 0, threads = 0;
  std::uint64_t warp_instructions = 0, lane_instructions = 0;
  std::map<std::string, std::array<std::uint64_t, 2>> by_class;  // warp, lane instructions
  std::uint64_t branches = 0, divergent_branches = 0;
  memory_statistics global_load, global_store, global_atomic;
  std::uint64_t touched_bytes = 0;  // 32 x the different sectors read, written or updated
  std::uint64_t shared_loads = 0, shared_stores = 0, shared_atomics = 0;  // warp instructions
  std::uint64_t shared_wavefronts = 0, shared_bank_conflicts = 0;  // conflicts: extra wavefronts
  std::uint64_t local_loads = 0, local_stores = 0;
  std::uint64_t barriers = 0;            // completed block barriers
  std::uint64_t registers_declared = 0;  // 32-bit registers' worth of declared PTX registers
  std::uint64_t shared_bytes = 0;        // per block, static + dynamic
  std::uint64_t exited_in_mask = 0;      // *.sync executed while lanes of its mask had exited
  std::uint64_t exited_at_barrier = 0;   // block barriers completed without threads that had exited
  std::uint64_t printf_calls = 0;
  double seconds = 0;
  std::vector<std::string> races;  // one text per pair of instructions
  std::string json() const;
};

struct parameter {
  std::string name, type;
  std::size_t size = 0, align = 1;
};
struct kernel_entry {
  std::string name, demangled;
  std::vector<parameter> params;
  std::size_t static_shared = 0, local_bytes = 0, registers = 0;
  std::vector<std::string> unsupported;  // messages, empty when all is known
};

class module {
 public:
  static module from_file(const std::string& path);
  static module from_text(std::string ptx, const std::string& name = "<text>");
  module(module&&) noexcept;
  module& operator=(module&&) noexcept;
  ~module();

  std::vector<kernel_entry> entries() const;
  // `entry`: the full (mangled) name, or a part of the mangled or demangled name that only one has.
  launch_statistics launch(const std::string& entry, extent grid, extent block,
                           std::size_t dynamic_shared, const std::vector<argument>& args,
                           const launch_options& options = {});
  // Module variables (__device__, __constant__) keep their values between launches.
  void write_symbol(const std::string& name, const void* from, std::size_t bytes);
  void read_symbol(const std::string& name, void* to, std::size_t bytes) const;

  struct implementation;

 private:
  explicit module(std::unique_ptr<implementation> impl);
  std::unique_ptr<implementation> impl_;
};

}  // namespace octobloom::ptx
