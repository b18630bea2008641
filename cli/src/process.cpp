#include "process.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <typeinfo>

#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

constexpr std::array ending_signals{SIGINT, SIGHUP, SIGTERM};

std::string& doomed_path() {
  static std::string path;
  return path;
}
std::atomic<const char*> doomed{nullptr};

void remove_doomed() noexcept {
  const char* path = doomed.load();
  if (path != nullptr) unlink(path);
}

void remove_and_end(int signal) {
  remove_doomed();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// A mapping and what is said when its file is cut short, made before as a signal handler cannot.
struct guarded_mapping {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::string words;
};
std::atomic<const guarded_mapping*> guarded{nullptr};

void end_at_lost_page(int signal, siginfo_t* info, void*) {
  const guarded_mapping* const mapping = guarded.load();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (mapping != nullptr && address >= mapping->begin && address < mapping->end) {
    write_to_stderr(mapping->words);
    remove_doomed();
    _exit(exit_error);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

std::atomic<bool> in_main{false};
std::atomic<bool> memory_was_refused{false};

[[noreturn]] void end_without_memory() noexcept {
  // Asked by its type: handing it out takes memory. Without one there was none even for it.
  const std::type_info* problem = abi::__cxa_current_exception_type();
  if (problem != nullptr && *problem != typeid(std::bad_alloc)) std::abort();
  remove_doomed();
  write_to_stderr(in_main ? "octobloom: out of memory: too little is left to end in order\n"
                          : "octobloom: out of memory: too little to start\n");
  _exit(exit_error);
}

/// Before the objects of the libraries that this program is made of, which take memory too.
struct set_end_without_memory {
  set_end_without_memory() noexcept { std::set_terminate(end_without_memory); }
};
[[gnu::init_priority(101)]] const set_end_without_memory set_at_start;

}  // namespace

void write_to_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put < 0 && errno != EINTR) return;
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void main_begins() noexcept {
  in_main = true;
  std::set_new_handler([] {
    memory_was_refused = true;
    throw std::bad_alloc();
  });
}

void require_no_refusal() {
  if (memory_was_refused) throw std::bad_alloc();
}

void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    (void)!::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::uint64_t peak_memory() {
  // Linux's own figure first: getrusage's includes what ran under this process id before.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

removal_on_signal::removal_on_signal(const std::string& path) {
  if (path.empty()) return;
  doomed_path() = path;
  doomed = doomed_path().c_str();
  for (const int signal : ending_signals) {
    // A signal that the parent wants ignored (nohup) stays ignored.
    if (std::signal(signal, remove_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

removal_on_signal::~removal_on_signal() {
  if (doomed.exchange(nullptr) == nullptr) return;
  for (const int signal : ending_signals) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

held_signals::held_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : ending_signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

held_signals::~held_signals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

announced_lock::announced_lock(const std::string& path, if_impossible otherwise)
    : file_lock(path, otherwise, [&] {
        note("octobloom: " + path + " is locked by another program; waiting until that is done");
      }) {}

bool is_replaceable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

std::string cut_short(const std::string& path) {
  return path + ": was made shorter by another program while it was in use: restore it";
}

mapping_guard::mapping_guard(const void* begin, std::size_t bytes, const std::string& path) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  guarded =
      new guarded_mapping{first, first + bytes, "octobloom: " + printable(cut_short(path)) + "\n"};
  struct sigaction action {};
  action.sa_sigaction = end_at_lost_page;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

mapping_guard::~mapping_guard() {
  std::signal(SIGBUS, SIG_DFL);
  delete guarded.exchange(nullptr);
}

}  // namespace octobloom::cli
