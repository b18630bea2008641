#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support.h"

/// Runs programs.
namespace octobloom_test {

struct outcome {
  int status = -1;  ///< exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
  std::uint64_t peak_bytes = 0;  ///< resident, as the system counts it
};

/// A run of a program that has begun.
class running {
 public:
  struct setup {
    std::string input{};       ///< what stdin holds, unless stdin_file names a file
    std::string stdin_file{};  ///< a file, or
    int stdin_descriptor = -1;
    std::string stdout_file{};  ///< a file, or
    int stdout_descriptor = -1;
    int stderr_descriptor = -1;  ///< otherwise outcome::err has it
    std::map<std::string, std::string> environment{};
    std::string program{};
    std::string folder{};  ///< to run in
  };

  running(const std::vector<std::string>& arguments, const setup& s) {
    if (s.stdin_file.empty()) write_file(folder_.file("in"), s.input);
    const std::string in = s.stdin_file.empty() ? folder_.file("in") : s.stdin_file;
    const std::string out = s.stdout_file.empty() ? folder_.file("out") : s.stdout_file;
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("cannot fork");
    if (process_ == 0) {
      become(arguments, s, in, out);
      _exit(127);
    }
    out_file_ = s.stdout_file.empty() && s.stdout_descriptor < 0 ? out : "";
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }

  void signal(int number) const { kill(process_, number); }

  /// Whether it has said something with `words` in it on stderr so far.
  [[nodiscard]] bool said(const std::string& words) const {
    const std::string file = folder_.file("err");
    return std::filesystem::exists(file) && read_file(file).find(words) != std::string::npos;
  }

  /// Whether the program has a temporary file open in `folder`, most often one without a name.
  [[nodiscard]] bool has_temporary_file_in(const std::string& folder) const {
    const std::filesystem::path place = std::filesystem::canonical(folder);
    std::error_code gone;
    for (std::filesystem::directory_iterator
             open("/proc/" + std::to_string(process_) + "/fd", gone),
         end;
         !gone && open != end; open.increment(gone)) {
      std::error_code closed;
      const std::filesystem::path file = std::filesystem::read_symlink(open->path(), closed);
      const std::string name = file.filename();
      if (file.parent_path() == place &&
          (name.ends_with(" (deleted)") || name.starts_with(".octobloom-"))) {
        return true;
      }
    }
    return false;
  }

  outcome wait() {
    int status = 0;
    rusage usage{};
    if (wait4(std::exchange(process_, -1), &status, 0, &usage) < 0) {
      throw std::runtime_error("cannot wait");
    }
    outcome result;
    result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (!out_file_.empty()) result.out = read_file(out_file_);
    if (std::filesystem::exists(folder_.file("err"))) result.err = read_file(folder_.file("err"));
    result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    return result;
  }

 private:
  void become(const std::vector<std::string>& arguments, const setup& s, const std::string& in,
              const std::string& out) const {
    std::signal(SIGPIPE, SIG_DFL);
    const int write_new = O_WRONLY | O_CREAT | O_TRUNC;
    const int input = s.stdin_descriptor >= 0 ? s.stdin_descriptor : ::open(in.c_str(), O_RDONLY);
    const int output =
        s.stdout_descriptor >= 0 ? s.stdout_descriptor : ::open(out.c_str(), write_new, 0666);
    const int errors = s.stderr_descriptor >= 0
                           ? s.stderr_descriptor
                           : ::open(folder_.file("err").c_str(), write_new, 0666);
    if (input < 0 || output < 0 || errors < 0) return;
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    for (int i = STDERR_FILENO + 1; i < 64; ++i) close(i);
    if (!s.folder.empty() && chdir(s.folder.c_str()) != 0) return;
    for (const auto& [name, value] : s.environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words{const_cast<char*>(s.program.c_str())};
    for (const std::string& argument : arguments) {
      words.push_back(const_cast<char*>(argument.c_str()));
    }
    words.push_back(nullptr);
    execvp(words[0], words.data());
  }

  temporary_folder folder_;
  pid_t process_ = -1;
  std::string out_file_;
};

/// Runs a program to its end.
inline outcome run_program(const std::vector<std::string>& arguments, const running::setup& setup) {
  return running(arguments, setup).wait();
}

/// "key0\n" to "key<count - 1>\n".
inline std::string numbered_lines(const std::string& key, std::uint64_t count,
                                  std::uint64_t first = 0) {
  std::string text;
  for (std::uint64_t i = first; i < first + count; ++i) text += key + std::to_string(i) + "\n";
  return text;
}

inline std::uint64_t count_lines(const std::string& text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace octobloom_test
