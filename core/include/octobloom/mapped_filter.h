#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <octobloom/file.h>
#include <octobloom/filter.h>
#include <octobloom/storage.h>

namespace octobloom {

struct mapping_options {
  bool verify_body = true;  ///< compare the body with its checksum, which reads all of it
  bool copy = false;        ///< keep the body in memory of its own instead of mapping it
};

/// A filter file used in place, read only: nothing is copied, pages come in as they are probed, and
/// processes share them. Move only. Concurrent calls are safe.
///
/// octobloom only ever replaces files, which leaves mappings of the old one whole. But where
/// another program makes the file shorter while it is mapped, the system ends whoever touches what
/// was cut off with SIGBUS, and what another program writes into it shows up here. Where files
/// cannot be trusted to be left alone, ask for a copy, which has the answers, functions and errors
/// of a mapping and keeps nothing of the file; or, as the command does, handle SIGBUS (its address
/// lies within the view) and ask whole() before answers are used, since of a page that is cut in
/// two the end reads as zeros.
class mapped_filter : public filter_queries<mapped_filter> {
 public:
  /// Throws error{io} or error{bad_file}; with `copy`, error{out_of_memory}, too. On a big-endian
  /// machine only a copy can be had: without options this does not compile there, and without
  /// `copy` it throws error{invalid_argument}.
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
  __attribute__((
      unavailable("the little-endian words of a filter file cannot be used in place on "
                  "this big-endian machine: ask for a copy, or use filter::load()")))
#endif
  explicit mapped_filter(const std::string& path)
      : mapped_filter(path, mapping_options{}) {
  }
  mapped_filter(const std::string& path, const mapping_options& options);
  mapped_filter(mapped_filter&& other) noexcept;
  mapped_filter& operator=(mapped_filter&& other) noexcept;
  mapped_filter(const mapped_filter&) = delete;
  mapped_filter& operator=(const mapped_filter&) = delete;
  ~mapped_filter();

  [[nodiscard]] const_filter_view view() const noexcept { return {words_, header_.shape}; }
  [[nodiscard]] const filter_record& record() const noexcept { return header_; }

  /// Compares the body with its checksum, for whoever put that off. Reads all of it. Throws
  /// error{bad_file}.
  void verify_body() const;

  /// Whether the file still has all that is mapped. A copy always is. One system call.
  [[nodiscard]] bool whole() const noexcept;

 private:
  void release() noexcept;

  std::string path_;
  file_header header_;
  const std::uint64_t* words_ = nullptr;
  storage copy_;
  int descriptor_ = -1;  // of the mapped file
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace octobloom
