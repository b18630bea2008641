#pragma once

#include <string>

namespace octobloom {

/// An exclusive lock on a filter file, across processes, for read-modify-write: waits until it is
/// free, and survives that the file is replaced meanwhile. Throws error{io}.
class file_lock {
 public:
  explicit file_lock(const std::string& path);
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

 private:
  int descriptor_;
};

}  // namespace octobloom
