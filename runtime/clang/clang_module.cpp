// Compiles freestanding C++ in memory with Clang, and formats it.
// SPDX-License-Identifier: MIT
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
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/clang/job.hpp"

namespace {

using ondula::clang_module::Output;
using ondula::clang_module::run_guarded;

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
  style.ColumnLimit = 99;
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
  const WithoutStrengthReduction plain_addresses;  // out here, since a fatal error jumps over what is inside
  run_guarded(result, [request](Output& output) { return compile(*request, output); });
}

__attribute__((visibility("default"))) void ondula_clang_format(const ondula_clang_text* text,
                                                                ondula_clang_result* result) {
  run_guarded(result, [text](Output& output) { return format(*text, output); });
}

__attribute__((visibility("default"))) void ondula_clang_release(ondula_clang_result* result) {
  delete static_cast<Output*>(result->storage);
  *result = {};
}

}  // extern "C"
