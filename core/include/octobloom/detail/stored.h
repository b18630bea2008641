#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <octobloom/file.h>

namespace octobloom::detail {

/// A filter whose body is these words of memory.
[[nodiscard]] inline encoded_filter encode_words(
    const file_header& header, std::initializer_list<std::span<const std::uint64_t>> words) {
  encoded_filter result;
  result.header = header;
  for (const auto& piece : words) result.pieces.push_back(std::as_bytes(piece));
  return result;
}

/// How every kind goes to files, bytes and streams, and comes back from them: all the same bytes,
/// and the same checks. `Derived` has, for friends, encoded() and
/// decoded(filter_reader&, const load_options&, more...).
///
/// Reading throws error{bad_file} that names what does not fit, and error{out_of_memory} when the
/// filter is larger than the machine's memory. Nothing of the size that a header tells is allocated
/// before that many bytes are known to be there.
template <class Derived>
class stored {
 public:
  /// Writes a filter file: a temporary file beside `path`, synced, then renamed over it. A crash or
  /// an error leaves the old file or the new one. Waits for the file_lock of a file that is
  /// replaced. Throws error{io}.
  void save(const std::string& path) const { write_filter_file(path, encode()); }

  /// The bytes of a file, in memory.
  [[nodiscard]] std::vector<std::byte> to_bytes() const {
    const encoded_filter filter = encode();
    std::vector<std::byte> bytes;
    bytes.reserve(filter.bytes_size());
    write_filter(filter, [&](std::span<const std::byte> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    return bytes;
  }
  /// How many they are now.
  [[nodiscard]] std::uint64_t bytes_size() const { return encode().bytes_size(); }
  /// Hands them to `sink`, piece by piece, in order.
  void write(const byte_sink& sink) const { write_filter(encode(), sink); }

  /// Reads a filter file. `more` is what this kind takes besides: the clock of a window. Throws
  /// error{io} too.
  template <class... More>
  [[nodiscard]] static Derived load(const std::string& path, const load_options& options = {},
                                    More&&... more) {
    filter_reader file(path);
    return decode(file, options, std::forward<More>(more)...);
  }
  /// Reads the bytes of a file, all of `bytes`, and copies them.
  template <class... More>
  [[nodiscard]] static Derived from_bytes(std::span<const std::byte> bytes,
                                          const load_options& options = {}, More&&... more) {
    filter_reader reader(bytes);
    return decode(reader, options, std::forward<More>(more)...);
  }
  /// Reads one filter from a stream, and nothing behind it: another may follow. Takes twice the
  /// filter's memory meanwhile.
  template <class... More>
  [[nodiscard]] static Derived read(const byte_source& source, const load_options& options = {},
                                    More&&... more) {
    const std::vector<std::byte> bytes = read_filter_bytes(source);
    filter_reader reader(bytes, "<stream>");
    return decode(reader, options, std::forward<More>(more)...);
  }

  /// Header and body, referring to this filter.
  [[nodiscard]] encoded_filter encode() const { return self().encoded(); }
  /// The filter that `from` was opened on.
  template <class... More>
  [[nodiscard]] static Derived decode(filter_reader& from, const load_options& options = {},
                                      More&&... more) {
    return Derived::decoded(from, options, std::forward<More>(more)...);
  }

 private:
  [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

}  // namespace octobloom::detail
