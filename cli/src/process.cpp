#include "process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>

namespace octobloom::cli {

namespace {

constexpr std::array ending_signals{SIGINT, SIGHUP, SIGTERM};

std::string& doomed_path() {
  static std::string path;
  return path;
}
std::atomic<const char*> doomed{nullptr};

void remove_and_end(int signal) {
  const char* path = doomed.load();
  if (path != nullptr) unlink(path);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

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

}  // namespace octobloom::cli
