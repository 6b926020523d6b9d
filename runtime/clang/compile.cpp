// All that compiles: kernels' texts, and files of equations' authors with the headers of Clang, of the system
// and of Ondula. Lays texts out, too. SPDX-License-Identifier: MIT
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Format/Format.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendOptions.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/clang/findings.hpp"
#include "runtime/clang/job.hpp"

namespace ondula::clang_module {
namespace {

/// Where errors in the arguments go.
struct ArgumentErrors {
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options;
  clang::TextDiagnosticPrinter printer;
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> engine;
  explicit ArgumentErrors(llvm::raw_ostream& log)
      : options(new clang::DiagnosticOptions),
        printer(log, options.get()),
        engine(new clang::DiagnosticsEngine(new clang::DiagnosticIDs, options, &printer,
                                            /*ShouldOwnClient=*/false)) {}
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
    const clang::SourceManager& files = what.getSourceManager();
    if (level <= clang::DiagnosticsEngine::Remark) {
      if (!findings_.diagnostics.empty())
        findings_.diagnostics.back().notes.push_back(
            {place_of(files, what.getLocation()), message.str().str()});
      return;
    }
    Diagnostic said;
    said.message = message.str().str();
    said.group = clang::DiagnosticIDs::getWarningOptionForDiag(what.getID()).str();
    said.level = level == clang::DiagnosticsEngine::Warning ? "warning" : "error";
    put_at(said, files, language_, what.getLocation(), what.getRanges().vec());
    for (const clang::FixItHint& hint : what.getFixItHints()) add_fix(said.fixes, files, language_, hint);
    findings_.diagnostics.push_back(std::move(said));
  }

 private:
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
    both.push_back(make_linter(findings_));
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

}  // namespace

Place place_of(const clang::SourceManager& files, const clang::SourceLocation& at) {
  const clang::SourceLocation here = files.getFileLoc(at);
  clang::PresumedLoc place;
  if (here.isValid()) place = files.getPresumedLoc(here, /*UseLineDirectives=*/false);
  if (!place.isValid()) return {};
  return {place.getFilename(), !files.isInSystemHeader(here), place.getLine(), place.getColumn()};
}

clang::CharSourceRange characters(const clang::SourceManager& files, const clang::LangOptions& language,
                                  const clang::CharSourceRange& range) {
  clang::CharSourceRange own = range;
  own.setBegin(files.getFileLoc(range.getBegin()));
  own.setEnd(files.getFileLoc(range.getEnd()));
  return clang::Lexer::makeFileCharRange(own, files, language);
}

void put_at(Diagnostic& said, const clang::SourceManager& files, const clang::LangOptions& language,
            const clang::SourceLocation& at, const std::vector<clang::CharSourceRange>& ranges) {
  said.place = place_of(files, at);
  said.begin = said.place.column;
  said.end = said.begin + 1;
  const clang::SourceLocation here = files.getFileLoc(at);
  if (here.isInvalid()) return;
  const unsigned line = files.getSpellingLineNumber(here);
  for (const clang::CharSourceRange& given : ranges) {
    const clang::CharSourceRange range = characters(files, language, given);
    if (range.isInvalid() || files.getFileID(range.getBegin()) != files.getFileID(here)) continue;
    if (files.getSpellingLineNumber(range.getBegin()) == line)
      said.begin = std::min(said.begin, files.getSpellingColumnNumber(range.getBegin()));
    if (files.getSpellingLineNumber(range.getEnd()) == line)
      said.end = std::max(said.end, files.getSpellingColumnNumber(range.getEnd()));
  }
}

void add_fix(std::vector<Fix>& to, const clang::SourceManager& files, const clang::LangOptions& language,
             const clang::FixItHint& hint) {
  if (hint.isNull() || hint.RemoveRange.getBegin().isMacroID() || hint.RemoveRange.getEnd().isMacroID())
    return;
  const clang::CharSourceRange range = clang::Lexer::makeFileCharRange(hint.RemoveRange, files, language);
  if (range.isInvalid()) return;
  to.push_back({place_of(files, range.getBegin()), files.getSpellingLineNumber(range.getEnd()),
                files.getSpellingColumnNumber(range.getEnd()), hint.CodeToInsert});
}

bool compile(const ondula_clang_request& request, Output& output) {
  llvm::raw_string_ostream log(output.log);
  std::string host_cpu;
  const std::vector<const char*> arguments = resolve_arguments(request, host_cpu);
  const ArgumentErrors errors(log);

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *errors.engine)) return false;
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
  llvm::SmallString<0> object;
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  instance.setVerboseOutputStream(log);
  clang::EmitObjAction action;
  const bool done = instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred();
  output.object = object.str();
  return done && !output.object.empty();
}

bool build(const ondula_clang_program& program, Output& output) {
  llvm::raw_string_ostream log(output.log);
  Findings findings;
  const auto files = files_of(program);
  const ArgumentErrors errors(log);
  const std::vector<std::string> arguments = arguments_of(program);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  clang::CreateInvocationOptions how;
  how.Diags = errors.engine;
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
  llvm::SmallString<0> object;
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  instance.setVerboseOutputStream(log);
  const auto included = std::make_shared<clang::DependencyCollector>();
  instance.addDependencyCollector(included);
  Build action(findings);
  const bool done = instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred();
  for (const std::string& name : included->getDependencies())
    if (name != program.file.name) output.dependencies += name + "\n";
  output.findings = text_of(findings);
  output.object = object.str();
  return done && !output.object.empty();
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

}  // namespace ondula::clang_module
