// Compiles freestanding C++ in memory with Clang, and formats it; the only file that includes Clang's
// headers. SPDX-License-Identifier: MIT
#include "runtime/clang/clang_module.h"

#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Format/Format.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendOptions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm-c/Core.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <pthread.h>

#include <cfenv>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

/// What a result's `storage` points to.
struct Output {
  llvm::SmallString<0> object;
  std::string log;
};

/// One compilation: its input, its output, and the way out of a fatal error.
struct Job {
  const ondula_clang_request* request = nullptr;
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

/// While one lives, LLVM's loop strength reduction is off: it gives every tap of a stencil a pointer of its
/// own, which costs a third of the compile time and 5 to 11 % of the speed (measured). There is no switch for
/// it but LLVM's own, which is the process's: it is put back as soon as no compilation of ours needs it.
class WithoutStrengthReduction {
 public:
  WithoutStrengthReduction() {
    const std::lock_guard lock(mutex());
    if (users()++ == 0) set(true);
  }
  WithoutStrengthReduction(const WithoutStrengthReduction&) = delete;
  WithoutStrengthReduction& operator=(const WithoutStrengthReduction&) = delete;
  ~WithoutStrengthReduction() {
    const std::lock_guard lock(mutex());
    if (--users() == 0) set(false);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static int& users() {
    static int count = 0;
    return count;
  }
  /// Its name is not part of LLVM's interface; a version without it compiles as before.
  static void set(bool value) {
    auto& known = llvm::cl::getRegisteredOptions();
    const auto found = known.find("disable-lsr");
    if (found != known.end()) static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(value);
  }
};

/// The request's arguments, "native" resolved. `host_cpu` keeps the resolved name alive.
std::vector<const char*> resolve_arguments(const ondula_clang_request& request, std::string& host_cpu) {
  std::vector<const char*> arguments(request.arguments, request.arguments + request.argument_count);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (std::strcmp(arguments[i - 1], "-tune-cpu") != 0 || std::strcmp(arguments[i], "native") != 0) continue;
    host_cpu = llvm::sys::getHostCPUName().str();
    arguments[i] = host_cpu.c_str();
  }
  return arguments;
}

bool compile(const ondula_clang_request& request, Output& output) {
  llvm::raw_string_ostream log(output.log);
  std::string host_cpu;
  const std::vector<const char*> arguments = resolve_arguments(request, host_cpu);

  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(log, options.get());  // for errors in the arguments
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
      new clang::DiagnosticsEngine(new clang::DiagnosticIDs, options, &printer, /*ShouldOwnClient=*/false));

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *diagnostics)) return false;
  const llvm::MemoryBufferRef text(llvm::StringRef(request.text, request.text_size), request.name);
  auto& frontend = invocation->getFrontendOpts();
  frontend.DisableFree = false;
  frontend.Inputs.clear();
  const clang::InputKind language(clang::Language::CXX);
  // A file system without files: a text that includes something fails the same way on every machine.
  const auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (invocation->getLangOpts().Sanitize.empty()) {
    frontend.Inputs.emplace_back(text, language);
  } else {
    // Which checks a function gets is asked of the main file's name, without looking whether there is a file.
    files->addFile(request.name, 0, llvm::MemoryBuffer::getMemBuffer(text));
    frontend.Inputs.emplace_back(request.name, language);
  }

  clang::CompilerInstance instance;
  instance.setInvocation(invocation);
  instance.createDiagnostics(new clang::TextDiagnosticPrinter(log, &invocation->getDiagnosticOpts()));
  instance.createFileManager(files);
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(output.object));
  instance.setVerboseOutputStream(log);
  clang::EmitObjAction action;
  return instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred() &&
         !output.object.empty();
}

/// Lays `text` out; the order of includes stays.
bool format(const ondula_clang_text& text, Output& output) {
  clang::format::FormatStyle style = clang::format::getGoogleStyle(clang::format::FormatStyle::LK_Cpp);
  style.ColumnLimit = 110;
  style.DerivePointerAlignment = false;
  style.BreakStringLiterals = false;
  style.SortIncludes = clang::format::FormatStyle::SI_Never;
  const llvm::StringRef code(text.text, text.text_size);
  const clang::tooling::Range whole(0, static_cast<unsigned>(code.size()));
  const auto changes = clang::format::reformat(style, code, whole, text.name);
  auto changed = clang::tooling::applyAllReplacements(code, changes);
  if (!changed) {
    output.log = llvm::toString(changed.takeError());
    return false;
  }
  output.object = *changed;
  return true;
}

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  current_job = job;
  const WithoutStrengthReduction plain_addresses;  // out here, since a fatal error jumps over what is inside
  std::fesetenv(FE_DFL_ENV);  // a thread inherits flushed denormals, and constants are folded here
  if (setjmp(job->escape) == 0) {
    try {
      job->succeeded = compile(*job->request, *job->output);
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

extern "C" {

__attribute__((visibility("default"))) int ondula_clang_interface(void) { return ONDULA_CLANG_INTERFACE; }

__attribute__((visibility("default"))) const char* ondula_clang_version(void) {
  static const std::string version = [] {
    // Asked of the library that is loaded, which a package upgrade may have made newer than the headers.
    unsigned major = 0, minor = 0, patch = 0;
    LLVMGetVersion(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }();
  return version.c_str();
}

__attribute__((visibility("default"))) void ondula_clang_compile(const ondula_clang_request* request,
                                                                 ondula_clang_result* result) {
  *result = {};
  try {
    initialise_once();
    auto output = std::make_unique<Output>();
    auto job = std::make_unique<Job>();
    job->request = request;
    job->output = output.get();
    if (!run_in_thread(*job)) job->fatal = "no thread could be started for the compiler";
    if (!job->fatal.empty()) output->log += "fatal error in the compiler: " + job->fatal + "\n";
    result->succeeded = job->succeeded && job->fatal.empty() ? 1 : 0;
    result->object = output->object.data();
    result->object_size = result->succeeded ? output->object.size() : 0;
    result->log = output->log.c_str();
    result->log_size = output->log.size();
    result->storage = output.release();
  } catch (...) {
    *result = {};
    result->log = "out of memory in the compiler\n";
    result->log_size = std::strlen(result->log);
  }
}

__attribute__((visibility("default"))) void ondula_clang_format(const ondula_clang_text* text,
                                                                ondula_clang_result* result) {
  *result = {};
  try {
    auto output = std::make_unique<Output>();
    result->succeeded = format(*text, *output) ? 1 : 0;
    result->object = output->object.data();
    result->object_size = output->object.size();
    result->log = output->log.c_str();
    result->log_size = output->log.size();
    result->storage = output.release();
  } catch (...) {
    *result = {};
    result->log = "out of memory in the formatter\n";
    result->log_size = std::strlen(result->log);
  }
}

__attribute__((visibility("default"))) void ondula_clang_release(ondula_clang_result* result) {
  delete static_cast<Output*>(result->storage);
  *result = {};
}

}  // extern "C"
