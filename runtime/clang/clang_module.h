/* The C interface of libondula-clang.so: compile a text held in memory to an object held in memory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Changes whenever a struct or a function of this header does. */
#define ONDULA_CLANG_INTERFACE 4

/** What to compile. Everything stays the caller's, and is only read during the call. */
struct ondula_clang_request {
  const char* name; /**< the text's name in diagnostics */
  const char* text; /**< C++ source; it can include nothing */
  size_t text_size; /**< bytes of text */
  const char* const*
      arguments;         /**< arguments of `clang -cc1`; "native" after -tune-cpu means this machine's CPU */
  size_t argument_count; /**< how many arguments */
};

/** What came out. Filled by ondula_clang_compile, emptied by ondula_clang_release. */
struct ondula_clang_result {
  int succeeded;      /**< 1 when object holds an object file, else 0 */
  const char* object; /**< a relocatable ELF object */
  size_t object_size; /**< bytes of object */
  const char*
      log; /**< the compiler's diagnostics with line numbers, zero-terminated; empty when it had none */
  size_t log_size;          /**< bytes of log */
  const char* dependencies; /**< of ondula_clang_build: the files included that are not the system's, a line
                               each; else empty */
  const char* findings; /**< of ondula_clang_build: what compiler and linter have to say of the author's file,
                           as JSON; else empty */
  void* storage;        /**< the module's own */
};

/** A text, and its name, whose end tells the language. They stay the caller's. */
struct ondula_clang_text {
  const char* name;
  const char* text;
  size_t text_size; /**< bytes of text */
};

/** A C++ file as its author wrote it. */
struct ondula_clang_program {
  struct ondula_clang_text file; /**< its path, and what it holds; what it includes is looked for beside it */
  const struct ondula_clang_text*
      headers;                  /**< Ondula's own, by the names that go between angles: "ondula/dsl.hpp" */
  size_t header_count;          /**< how many headers */
  const char* const* arguments; /**< more arguments, of the `clang` driver */
  size_t argument_count;        /**< how many arguments */
};

/** The signatures under which the functions below are looked up. */
typedef int ondula_clang_interface_function(void);
typedef const char* ondula_clang_version_function(void);
typedef void ondula_clang_compile_function(const struct ondula_clang_request*, struct ondula_clang_result*);
typedef void ondula_clang_build_function(const struct ondula_clang_program*, struct ondula_clang_result*);
typedef void ondula_clang_format_function(const struct ondula_clang_text*, struct ondula_clang_result*);
typedef void ondula_clang_release_function(struct ondula_clang_result*);

/** ONDULA_CLANG_INTERFACE as the module was built with. */
int ondula_clang_interface(void);

/** The version of the LLVM that is loaded, for example "19.1.7". */
const char* ondula_clang_version(void);

/** Compiles. May be called from many threads at once; prints nothing and never ends the process: LLVM's fatal
 * errors come back in the log. The caller's floating-point state plays no part. */
void ondula_clang_compile(const struct ondula_clang_request* request, struct ondula_clang_result* result);

/** Compiles a C++ program's file with Clang's own headers and the system's, and lints it where it compiles.
 * The log has what has no place in a file; the rest is in `findings`:
 *
 *     {"equation_known": whether the macro EQUATION was defined,
 *      "diagnostics": [{"id": the linter's, or empty, "group": of a compiler's warning "unused-value", or
 * empty, "level": "warning" or "error", "message", PLACE, "begin", "end": columns of the range on the line,
 * "fixes": [{PLACE, "end_line", "end_column", "text"}], "notes": [{PLACE, "message"}]}]}
 *
 * PLACE is "file", "line", "column" from 1, in bytes, and "own": whether the file is the author's. From any
 * thread. */
void ondula_clang_build(const struct ondula_clang_program* program, struct ondula_clang_result* result);

/** Lays a text out as clang-format does in Ondula's style; `object` holds it where that
 * succeeded. From any thread. */
void ondula_clang_format(const struct ondula_clang_text* text, struct ondula_clang_result* result);

/** Frees what a result holds. Harmless on a zeroed result. */
void ondula_clang_release(struct ondula_clang_result* result);

#ifdef __cplusplus
}
#endif
