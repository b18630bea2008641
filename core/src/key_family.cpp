#include <octobloom/key_family.h>

#include <octobloom/error.h>

namespace octobloom {

std::string_view to_string(key_family family) noexcept {
  switch (family) {
    case key_family::integers:
      return "integers";
    case key_family::floats:
      return "floating point";
    case key_family::strings:
      return "strings";
    case key_family::composites:
      return "composites";
    case key_family::hashes:
      return "hashes";
  }
  return "unknown";
}

std::string describe_families(key_families set) {
  std::string text;
  for (const key_family family : all_families) {
    if (!has_family(set, family)) continue;
    if (!text.empty()) text += ", ";
    text += to_string(family);
  }
  const auto last = text.rfind(", ");
  if (last != std::string::npos) text.replace(last, 2, " and ");
  return text.empty() ? "not known" : text;
}

void detail::refuse_family(key_families in, key_family asked) {
  throw error(error_code::wrong_key,
              "the keys in this filter are " + describe_families(in) + ", those in question are " +
                  std::string(to_string(asked)) +
                  (asked == key_family::hashes
                       ? ": say what the hashes were made of, or accept any family to go on"
                       : ": none of them was inserted. Ask with the type that was inserted, or "
                         "accept any family to go on"));
}

}  // namespace octobloom
