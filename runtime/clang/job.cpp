// Running work for Clang.
// SPDX-License-Identifier: MIT
#include "runtime/clang/job.hpp"

#include <llvm-c/Core.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <pthread.h>

#include <cfenv>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

namespace ondula::clang_module {
namespace {

/// One piece of work: its output, and the way out of a fatal error.
struct Job {
  const std::function<bool(Output&)>* work = nullptr;
  Output* output = nullptr;
  bool succeeded = false;
  std::string fatal;
  std::jmp_buf escape;
};

/// The job this thread compiles, so that LLVM's process-wide handler finds its way back.
thread_local Job* current_job = nullptr;

/// LLVM would end the process after this. The thread's stack is abandoned instead, and what Clang had
/// allocated leaks: running destructors in a state LLVM calls fatal could fail again. Threads that are not
/// ours get LLVM's own treatment.
void leave_on_fatal_error(void* /*data*/, const char* reason, bool /*diagnostics*/) {
  if (current_job == nullptr) return;
  current_job->fatal = reason;
  std::longjmp(current_job->escape, 1);
}

void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    llvm::install_fatal_error_handler(leave_on_fatal_error);
    llvm::install_bad_alloc_error_handler(leave_on_fatal_error);
  });
}

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  current_job = job;
  std::fesetenv(FE_DFL_ENV);  // a thread inherits flushed denormals, and constants are folded here
  if (setjmp(job->escape) == 0) {
    try {
      job->succeeded = (*job->work)(*job->output);
    } catch (const std::exception& error) {
      job->fatal = error.what();
    } catch (...) {
      job->fatal = "an unknown exception";
    }
  }
  current_job = nullptr;
  return nullptr;
}

/// Runs the job in a thread of its own: deep expressions need more stack than a caller's thread may have
/// left, and a fatal error abandons a stack.
bool run_in_thread(Job& job) {
  constexpr std::size_t stack_bytes = std::size_t{64} << 20;  // reserved, not touched until used
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread = {};
  bool started = pthread_attr_setstacksize(&attributes, stack_bytes) == 0;
  started = started && pthread_create(&thread, &attributes, run_job, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  return started;
}

}  // namespace

void run_guarded(ondula_clang_result* result, const std::function<bool(Output&)>& work) noexcept {
  *result = {};
  try {
    initialise_once();
    auto output = std::make_unique<Output>();
    auto job = std::make_unique<Job>();
    job->work = &work;
    job->output = output.get();
    if (!run_in_thread(*job)) job->fatal = "no thread could be started for the compiler";
    if (!job->fatal.empty()) output->log += "fatal error in the compiler: " + job->fatal + "\n";
    result->succeeded = job->succeeded && job->fatal.empty() ? 1 : 0;
    result->object = output->object.data();
    result->object_size = result->succeeded != 0 ? output->object.size() : 0;
    result->log = output->log.c_str();
    result->log_size = output->log.size();
    result->dependencies = output->dependencies.c_str();
    result->findings = output->findings.c_str();
    result->storage = output.release();
  } catch (...) {
    *result = {};
    result->log = "out of memory in the compiler\n";
    result->log_size = std::strlen(result->log);
  }
}

}  // namespace ondula::clang_module
