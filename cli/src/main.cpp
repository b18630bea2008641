#include <csignal>
#include <exception>
#include <new>

#include <octobloom/error.h>

#include "command_line.h"
#include "options.h"
#include "output.h"
#include "process.h"
#include "terminal.h"
#include "verbs.h"

namespace octobloom::cli {

namespace {

/// Ends the way a program does that has never heard of broken pipes, now that all is tidied up.
int end_as_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return 128 + SIGPIPE;
}

/// Runs the command and tells what went wrong; gives the exit status.
int run_and_tell(int argc, char** argv) {
  command_line line;
  try {
    return line.run(argc, argv);
  } catch (const closed_pipe&) {
    return end_as_closed_pipe();
  } catch (const usage_error& problem) {
    report_error(line.place() + problem.what());
    note("Try '" + line.help_command() + "'.");
  } catch (const std::bad_alloc&) {
    report_out_of_memory();
  } catch (const std::exception& problem) {
    report_error(line.place() + problem.what());
  }
  return exit_error;
}

}  // namespace

}  // namespace octobloom::cli

int main(int argc, char** argv) {
  using namespace octobloom::cli;
  main_begins();
  occupy_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of the write
  try {
    return run_and_tell(argc, argv);
  } catch (const std::bad_alloc&) {  // before the command was understood, or while telling
    report_out_of_memory();
    return exit_error;
  }
}
