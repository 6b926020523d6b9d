// Compiles a C++ file of an equation's author, with the headers of Clang, of the system and of Ondula.
// SPDX-License-Identifier: MIT
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/clang/job.hpp"

namespace {

using ondula::clang_module::Output;
using ondula::clang_module::run_guarded;

/// The folder that Ondula's headers seem to be in; there is none.
constexpr const char* header_folder = "/ondula-headers";

std::unique_ptr<llvm::MemoryBuffer> buffer(const ondula_clang_text& text) {
  return llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.text, text.text_size), text.name);
}

/// The system's files, and Ondula's headers.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const ondula_clang_program& program) {
  auto own = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (std::size_t k = 0; k < program.header_count; ++k)
    own->addFile(std::string(header_folder) + "/" + program.headers[k].name, 0, buffer(program.headers[k]));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  files->pushOverlay(own);
  return files;
}

std::vector<std::string> arguments_of(const ondula_clang_program& program) {
  std::vector<std::string> all = {
      "clang++", "-x",           "c++",           "-std=c++20",           "-O0",      "-fPIC",
      "-c",      "-fexceptions", "-resource-dir", ONDULA_CLANG_RESOURCES, "-isystem", header_folder};
  all.insert(all.end(), program.arguments, program.arguments + program.argument_count);
  all.emplace_back(program.file.name);
  return all;
}

bool build(const ondula_clang_program& program, Output& output) {
  llvm::raw_string_ostream log(output.log);
  const auto files = files_of(program);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(log, options.get());  // for errors in the arguments
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
      new clang::DiagnosticsEngine(new clang::DiagnosticIDs, options, &printer, /*ShouldOwnClient=*/false));
  const std::vector<std::string> arguments = arguments_of(program);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  clang::CreateInvocationOptions how;
  how.Diags = diagnostics;
  how.VFS = files;
  std::shared_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(pointers, how);
  if (!invocation) return false;
  invocation->getPreprocessorOpts().addRemappedFile(program.file.name, buffer(program.file).release());
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getDiagnosticOpts().ShowColors = false;

  clang::CompilerInstance instance;
  instance.setInvocation(invocation);
  instance.createDiagnostics(new clang::TextDiagnosticPrinter(log, &invocation->getDiagnosticOpts()));
  instance.createFileManager(files);
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(output.object));
  instance.setVerboseOutputStream(log);
  const auto included = std::make_shared<clang::DependencyCollector>();
  instance.addDependencyCollector(included);
  clang::EmitObjAction action;
  const bool done = instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred();
  for (const std::string& name : included->getDependencies())
    if (name != program.file.name) output.dependencies += name + "\n";
  return done && !output.object.empty();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void ondula_clang_build(const ondula_clang_program* program,
                                                                          ondula_clang_result* result) {
  run_guarded(result, [program](Output& output) { return build(*program, output); });
}
