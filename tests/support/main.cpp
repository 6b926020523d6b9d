// The test program: doctest with a reporter that counts cases as passed, failed or skipped, and prints the
// closing line. SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstddef>
#include <iostream>

#include "tests/support/skip.hpp"

namespace {

/// The exit status of a run in which every case that ran was skipped.
constexpr int all_skipped = 77;

/// What one run has counted. One instance a process: doctest makes the reporter, and main reads it
/// afterwards.
struct Counts {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};

Counts& counts() {
  static Counts instance;
  return instance;
}

/// doctest's console reporter (which prints failures with their place and values), with our counting and
/// closing line.
struct CountingReporter : doctest::ConsoleReporter {
  explicit CountingReporter(const doctest::ContextOptions& options)
      : doctest::ConsoleReporter(options), out_(*options.cout) {}

  /// `--list-test-cases`: a line a case, its suite and its name parted by a tab, in the order of --first and
  /// --last.
  void report_query(const doctest::QueryData& query) override {
    if (!doctest::getContextOptions()->list_test_cases) return doctest::ConsoleReporter::report_query(query);
    for (unsigned i = 0; i < query.num_data; ++i) {
      const char* suite = query.data[i]->m_test_suite;
      out_ << (suite != nullptr ? suite : "") << '\t' << query.data[i]->m_name << '\n';
    }
  }

  void test_run_start() override {}

  void test_case_start(const doctest::TestCaseData& data) override {
    ondula::test::forget_skip();
    name_ = data.m_name;
    doctest::ConsoleReporter::test_case_start(data);
  }

  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    doctest::ConsoleReporter::test_case_end(stats);
    const auto& reason = ondula::test::skip_reason();
    if (!stats.testCaseSuccess) {
      ++counts().failed;
    } else if (reason) {
      ++counts().skipped;
      out_ << "skipped: " << name_ << ": " << *reason << '\n';
    } else if (stats.numAssertsCurrentTest == 0) {
      ++counts().failed;
      out_ << "failed: " << name_ << ": the case ended without a single assertion\n";
    } else {
      ++counts().passed;
    }
  }

  void test_run_end(const doctest::TestRunStats&) override {
    out_ << counts().passed << " passed, " << counts().failed << " failed, " << counts().skipped
         << " skipped\n";
  }

 private:
  std::ostream& out_;
  const char* name_ = "";
};

}  // namespace

REGISTER_REPORTER("ondula", 1, CountingReporter);

int main(int argc, char** argv) {
  std::cout << std::unitbuf;  // what a case printed before it crashed must come out
  doctest::Context context;
  context.setOption("reporters", "ondula");
  context.setOption("no-colors", true);
  context.setOption("no-intro", true);
  context.setOption("no-version", true);
  context.applyCommandLine(argc, argv);
  const int status = context.run();
  if (context.shouldExit()) return status;
  if (status != 0 || counts().failed > 0) return 1;
  return counts().passed == 0 && counts().skipped > 0 ? all_skipped : 0;
}
