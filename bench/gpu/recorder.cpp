#include "recorder.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace octobloom::bench {

namespace {

/// Whoever ends the program meanwhile finds the file as it was before.
void replace_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  const std::string part = path + ".part";
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write '" + part + "'");
  std::filesystem::rename(part, path);
}

}  // namespace

recorder::recorder(gpu_report start, std::string json, std::string svg)
    : report_(std::move(start)), json_(std::move(json)), svg_(std::move(svg)) {}

void recorder::begin(double link) {
  report_.link = link;
  print_heading(report_);
  std::fflush(stdout);
}

void recorder::attempt(std::uint64_t filter_bytes, const std::string& what,
                       const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    leave_out({filter_bytes, what, e.what(), true});
    if (!report_.device.empty() && cudaDeviceSynchronize() != cudaSuccess) throw;
  }
}

void recorder::add(gpu_row row) {
  report_.rows.push_back(std::move(row));
  print_row(report_, report_.rows.back());
  std::fflush(stdout);
}

void recorder::leave_out(const unmeasured& one) {
  std::fprintf(stderr, "octobloom-gpu-bench: not measured: %s\n", in_words(one).c_str());
  report_.left_out.push_back(one);
}

void recorder::write() const {
  replace_file(json_, to_json(report_));
  replace_file(svg_, to_svg(report_));
}

int recorder::finish() {
  report_.finished = true;
  write();
  print_goals(report_);
  const bool failed =
      report_.rows.empty() || std::any_of(report_.left_out.begin(), report_.left_out.end(),
                                          [](const unmeasured& one) { return one.failed; });
  return failed ? 1 : 0;
}

}  // namespace octobloom::bench
