// A list of spam senders: a million addresses in 1.2 MB. Mail from an address that is on the list
// is never missed; of the addresses that are not on it, one in a hundred is suspected wrongly.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <octobloom/octobloom.h>

namespace {

std::vector<std::string> addresses(const std::string& name, const std::string& domain,
                                   std::size_t count) {
  std::vector<std::string> list;
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) list.push_back(name + std::to_string(i) + "@" + domain);
  return list;
}

}  // namespace

int main() {
  const auto spammers = addresses("spam", "malicious.com", 1'000'000);
  const auto friends = addresses("friend", "example.com", 100'000);

  const octobloom::plan plan = octobloom::plan_for(spammers.size(), 0.01);
  octobloom::filter list(plan);
  list.insert(spammers);

  const std::uint64_t missed = spammers.size() - list.count_contained(spammers);
  const std::uint64_t suspected = list.count_contained(friends);
  const auto probes = static_cast<double>(friends.size());
  const double expected = plan.expected_fpr * probes;
  const double sigma = std::sqrt(probes * plan.expected_fpr * (1 - plan.expected_fpr));
  const double deviation = (static_cast<double>(suspected) - expected) / sigma;

  std::cout << "filter             " << list.bytes() << " bytes, k " << list.k() << "\n"
            << "false negatives    " << missed << " of " << spammers.size() << "\n"
            << "false positives    " << suspected << " of " << friends.size() << ", expected "
            << std::lround(expected) << " +- " << std::lround(sigma) << " (" << deviation
            << " sigma)\n";
  return missed == 0 && std::abs(deviation) <= 3 ? 0 : 1;
}
