#include "reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <octobloom/error.h>

namespace octobloom::cli {

namespace {

bool is_stdin(const std::string& input) {
  return input == "-";
}

const char* display_name(const std::string& input) {
  return is_stdin(input) ? "standard input" : input.c_str();
}

[[noreturn]] void io_error(const std::string& input, const char* what) {
  const int code = errno;
  throw error(error_code::io,
              std::string(display_name(input)) + ": " + what + ": " + std::strerror(code));
}

/// Opening a pipe waits for its writer, unless told not to; the wait for its bytes can be stopped.
int open_input(const std::string& path) {
  struct stat status {};
  const bool is_pipe = ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
}

}  // namespace

void require_readable(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (is_stdin(input)) continue;
    struct stat status {};
    if (::stat(input.c_str(), &status) != 0 || access(input.c_str(), R_OK) != 0) {
      io_error(input, "cannot be read");
    }
    if (S_ISDIR(status.st_mode)) {
      errno = EISDIR;
      io_error(input, "cannot be read");
    }
  }
}

bool is_regular(const std::string& input) {
  struct stat status {};
  const int result =
      is_stdin(input) ? fstat(STDIN_FILENO, &status) : ::stat(input.c_str(), &status);
  return result == 0 && S_ISREG(status.st_mode);
}

std::uint64_t total_size(const std::vector<std::string>& inputs) {
  std::uint64_t total = 0;
  for (const std::string& input : inputs) {
    if (!is_regular(input)) return 0;
    total += input_file(input).size();
  }
  return total;
}

input_file::input_file(const std::string& path)
    : name_(path),
      descriptor_(is_stdin(path) ? STDIN_FILENO : open_input(path)),
      owned_(!is_stdin(path)) {
  if (descriptor_ < 0) io_error(path, "cannot be opened");
  struct stat status {};
  if (fstat(descriptor_, &status) == 0) regular_ = S_ISREG(status.st_mode);
}

input_file::~input_file() {
  if (owned_) ::close(descriptor_);
}

std::uint64_t input_file::size() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) fail("cannot be examined");
  const off_t position = std::max<off_t>(lseek(descriptor_, 0, SEEK_CUR), 0);
  return static_cast<std::uint64_t>(std::max<off_t>(status.st_size - position, 0));
}

void input_file::fail(const char* what) const {
  io_error(name_, what);
}

text_reader::text_reader(const line_options& options, std::size_t chunk_bytes)
    : options_(options), chunk_bytes_(chunk_bytes) {
  if (pipe2(wake_.data(), O_CLOEXEC) != 0) io_error("pipe", "cannot be made");
}

text_reader::~text_reader() {
  ::close(wake_[0]);
  ::close(wake_[1]);
}

void text_reader::stop() noexcept {
  stopped_ = true;
  const char byte = 0;
  (void)!::write(wake_[1], &byte, 1);
}

bool text_reader::open_next() {
  input_.reset();
  if (next_input_ == options_.inputs.size()) return false;
  input_ = std::make_unique<input_file>(options_.inputs[next_input_++]);
  if (input_->regular()) posix_fadvise(input_->descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return true;
}

void text_reader::wait_for_input() const {
  std::array<pollfd, 2> waiting{{{input_->descriptor(), POLLIN, 0}, {wake_[0], POLLIN, 0}}};
  while (poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
  }
}

std::size_t text_reader::read_some(char* to, std::size_t size) {
  while (!stopped_) {
    if (!input_->regular()) wait_for_input();
    if (stopped_) break;
    const ssize_t got = ::read(input_->descriptor(), to, size);
    if (got >= 0) {
      bytes_read_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR && errno != EAGAIN) input_->fail("cannot be read");
  }
  return 0;
}

bool text_reader::next(text_chunk& chunk, const std::function<void()>& before_growing) {
  const char separator = options_.separator();
  chunk.reset();
  char* text = chunk.data();
  std::memcpy(text, rest_.data(), rest_.size());
  std::size_t size = rest_.size();
  std::size_t whole = 0;  // bytes in whole lines
  rest_.clear();

  while (!stopped_) {
    if (!input_) {
      if (!open_next()) break;
      if (whole > 0 && !input_->regular()) break;
    }
    if (size == chunk.capacity()) {
      if (whole > 0) break;
      before_growing();
      chunk.grow(2 * chunk.capacity());
      text = chunk.data();
    }
    const std::size_t wanted = std::min(chunk.capacity() - size, chunk_bytes_);
    const std::size_t got = read_some(text + size, wanted);
    if (stopped_) return false;
    if (got == 0) {
      if (size > whole) text[size++] = separator;
      whole = size;
      input_.reset();
    } else if (const void* last = memrchr(text + size, separator, got); last != nullptr) {
      whole = static_cast<std::size_t>(static_cast<const char*>(last) - text) + 1;
    }
    size += got;
    const bool more_is_there = !input_ || input_->regular() || got == wanted;
    if (whole >= chunk_bytes_ || (whole > 0 && !more_is_there)) break;
  }
  rest_.assign(text + whole, size - whole);
  chunk.set_size(whole);
  return whole > 0;
}

}  // namespace octobloom::cli
