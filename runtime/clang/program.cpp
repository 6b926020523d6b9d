// Compiles a C++ file of an equation's author, with the headers of Clang, of the system and of Ondula.
// SPDX-License-Identifier: MIT
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/clang/findings.hpp"
#include "runtime/clang/job.hpp"

namespace {

using ondula::clang_module::Findings;
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
  std::vector<std::string> all = {"clang++", "-x", "c++", "-std=c++20", "-O0", "-fPIC", "-c", "-fexceptions",
                                  "-resource-dir", ONDULA_CLANG_RESOURCES, "-isystem", header_folder,
                                  // What the linter says itself, and what says nothing of an equation.
                                  "-Wall", "-Winfinite-recursion", "-Wno-unused-variable",
                                  "-Wno-unused-but-set-variable", "-Wno-unused-value", "-Wno-xor-used-as-pow",
                                  "-Wno-literal-conversion", "-Wno-unknown-pragmas", "-ferror-limit=50",
                                  "-ftemplate-backtrace-limit=0"};
  all.insert(all.end(), program.arguments, program.arguments + program.argument_count);
  all.emplace_back(program.file.name);
  return all;
}

/// Collects the compiler's diagnostics: each with the notes that follow it.
class Collector final : public clang::DiagnosticConsumer {
 public:
  Collector(Findings& findings, llvm::raw_ostream& log) : findings_(findings), log_(log) {}

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* /*unused*/) override {
    language_ = language;
  }

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& what) override {
    DiagnosticConsumer::HandleDiagnostic(level, what);
    llvm::SmallString<256> message;
    what.FormatDiagnostic(message);
    if (!what.hasSourceManager() || what.getLocation().isInvalid()) {
      log_ << message << "\n";
      return;
    }
    llvm::json::Object said = ondula::clang_module::place_of(what.getSourceManager(), what.getLocation());
    said["message"] = std::string(message.str());
    if (level <= clang::DiagnosticsEngine::Remark) {
      add_note(std::move(said));
      return;
    }
    said["id"] = "";
    said["group"] = clang::DiagnosticIDs::getWarningOptionForDiag(what.getID());
    said["level"] = level == clang::DiagnosticsEngine::Warning ? "warning" : "error";
    ondula::clang_module::add_range(said, what.getSourceManager(), language_, what.getLocation(),
                                    what.getRanges());
    llvm::json::Array fixes;
    for (const clang::FixItHint& hint : what.getFixItHints())
      ondula::clang_module::add_fix(fixes, what.getSourceManager(), language_, hint);
    said["fixes"] = std::move(fixes);
    said["notes"] = llvm::json::Array();
    findings_.diagnostics.push_back(std::move(said));
  }

 private:
  void add_note(llvm::json::Object note) {
    if (findings_.diagnostics.empty()) return;
    findings_.diagnostics.back().getAsObject()->getArray("notes")->push_back(std::move(note));
  }

  Findings& findings_;
  llvm::raw_ostream& log_;
  clang::LangOptions language_;
};

/// Compiles and lints what was parsed once.
class Build final : public clang::EmitObjAction {
 public:
  explicit Build(Findings& findings) : findings_(findings) {}

 private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> both;
    both.push_back(ondula::clang_module::make_linter(findings_));
    both.push_back(EmitObjAction::CreateASTConsumer(instance, file));
    if (both.back() == nullptr) return nullptr;
    return std::make_unique<clang::MultiplexConsumer>(std::move(both));
  }

  void EndSourceFileAction() override {
    findings_.equation_known = getCompilerInstance().getPreprocessor().isMacroDefined("EQUATION");
    EmitObjAction::EndSourceFileAction();
  }

  Findings& findings_;
};

std::string text_of(Findings findings) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::json::Value(llvm::json::Object{{"equation_known", findings.equation_known},
                                                 {"diagnostics", std::move(findings.diagnostics)}});
  return text;
}

bool build(const ondula_clang_program& program, Output& output) {
  llvm::raw_string_ostream log(output.log);
  Findings findings;
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
  invocation->getDiagnosticOpts().ShowCarets = false;  // nor a count of errors in the log

  clang::CompilerInstance instance;
  instance.setInvocation(invocation);
  instance.createDiagnostics(new Collector(findings, log));
  instance.createFileManager(files);
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(output.object));
  instance.setVerboseOutputStream(log);
  const auto included = std::make_shared<clang::DependencyCollector>();
  instance.addDependencyCollector(included);
  Build action(findings);
  const bool done = instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred();
  for (const std::string& name : included->getDependencies())
    if (name != program.file.name) output.dependencies += name + "\n";
  output.findings = text_of(std::move(findings));
  return done && !output.object.empty();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void ondula_clang_build(const ondula_clang_program* program,
                                                                          ondula_clang_result* result) {
  run_guarded(result, [program](Output& output) { return build(*program, output); });
}
