// A tokenizer for CUDA text and the little that is understood of its tokens.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/scan.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>

#include "runtime/device/sim/tokens.hpp"

namespace ondula::sim {
namespace {

struct Macro {
  bool function = false;
  std::vector<std::string> parameters;
  Tokens body;
};

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  Scanned run() {
    read();
    Scanned result;
    result.text = text_;
    const Tokens all = expanded(tokens_);
    bool elsewhere = false;
    std::size_t from = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is("__global__")) continue;
      ScannedKernel kernel;
      const std::size_t past = read_kernel(all, i, kernel);
      if (past == 0) continue;
      kernel.opaque = std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
        return token.at > kernel.body_begin && token.at < kernel.body_end && hides(token.text);
      });
      elsewhere = elsewhere || holds(all, from, i, "__syncthreads");
      result.lanes_elsewhere = result.lanes_elsewhere || holds(all, from, i, "threadIdx");
      from = past;
      i = past - 1;
      result.kernels.push_back(std::move(kernel));
    }
    elsewhere = elsewhere || holds(all, from, all.size(), "__syncthreads");
    result.lanes_elsewhere =
        result.lanes_elsewhere || holds(all, from, all.size(), "threadIdx") || lanes_in_macros_;
    if (elsewhere)
      for (ScannedKernel& kernel : result.kernels) kernel.barriers = true;
    for (const std::size_t at : linkage_)
      std::fill_n(result.text.begin() + static_cast<std::ptrdiff_t>(at), 1, ' ');
    return result;
  }

 private:
  /// Splits the text into directives and the rest.
  void read() {
    std::size_t begin = 0;
    bool line_start = true;
    for (std::size_t at = 0; at < text_.size();) {
      if (line_start && text_[at] == '#') {
        add(tokens_of(text_, begin, at), tokens_);
        std::size_t end = at;
        while (end < text_.size() && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
        end = std::min(end, text_.size());
        Tokens directive;
        add(tokens_of(text_, at + 1, end), directive);
        define(directive);
        at = begin = end;
        continue;
      }
      const std::size_t past = skip_quoted(text_, at);
      if (text_[at] == '\n')
        line_start = true;
      else if (std::isspace(static_cast<unsigned char>(text_[at])) == 0)
        line_start = false;
      at = std::max(past, at + 1);
    }
    add(tokens_of(text_, begin, text_.size()), tokens_);
  }

  /// Appends `found` to `to`, without extern "C", whose places are kept.
  void add(const Tokens& found, Tokens& to) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].is("extern") && i + 1 < found.size() && found[i + 1].is("\"C\"")) {
        for (const Token* token : {&found[i], &found[i + 1]})
          for (std::size_t k = 0; k < token->text.size(); ++k) linkage_.push_back(token->at + k);
        ++i;
        continue;
      }
      to.push_back(found[i]);
    }
  }

  void define(const Tokens& directive) {
    if (directive.size() < 2 || !directive[0].is("define")) return;
    Macro macro;
    std::size_t body = 2;
    // A macro has parameters where the bracket follows the name without a blank.
    macro.function = opens(directive, 2) && directive[2].at == directive[1].at + directive[1].text.size();
    if (macro.function) {
      body = past_closing(directive, 2, "(", ")");
      for (const Tokens& parameter : split(directive, 3, body - 1))
        macro.parameters.push_back(joined(parameter));
    }
    macro.body.assign(directive.begin() + static_cast<std::ptrdiff_t>(std::min(body, directive.size())),
                      directive.end());
    lanes_in_macros_ = lanes_in_macros_ || holds(directive, body, directive.size(), "threadIdx");
    macros_[directive[1].text] = std::move(macro);
  }

  /// With the macros of the text put in, not those in their bodies.
  Tokens expanded(const Tokens& tokens) const {
    Tokens result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto found = macros_.find(tokens[i].text);
      if (found == macros_.end() || (found->second.function && !opens(tokens, i + 1))) {
        result.push_back(tokens[i]);
        continue;
      }
      std::vector<Tokens> arguments;
      if (found->second.function) {
        const std::size_t past = past_closing(tokens, i + 1, "(", ")");
        arguments = split(tokens, i + 2, past - 1);
        i = past - 1;
      }
      for (const Token& token : found->second.body) {
        const auto& names = found->second.parameters;
        const auto which =
            static_cast<std::size_t>(std::find(names.begin(), names.end(), token.text) - names.begin());
        if (which < arguments.size())
          result.insert(result.end(), arguments[which].begin(), arguments[which].end());
        else
          result.push_back(token);
      }
    }
    return result;
  }

  /// Whether a word is a macro that stands for more than one other.
  bool hides(const std::string& word) const {
    const auto found = macros_.find(word);
    return found != macros_.end() && (found->second.function || found->second.body.size() != 1);
  }

  /// Reads the definition whose __global__ stands at `i`; the index past it, or 0 where it is none.
  static std::size_t read_kernel(const Tokens& tokens, std::size_t i, ScannedKernel& kernel) {
    for (++i; i < tokens.size() && !tokens[i].is(";") && !tokens[i].is("{"); ++i) {
      if (!tokens[i].word() || !opens(tokens, i + 1)) continue;
      const std::size_t past = past_closing(tokens, i + 1, "(", ")");
      if (tokens[i].is("__launch_bounds__")) {
        kernel.bounds = joined({tokens.begin() + static_cast<std::ptrdiff_t>(i) + 2,
                                tokens.begin() + static_cast<std::ptrdiff_t>(past) - 1});
        i = past - 1;
        continue;
      }
      if (tokens[i].is("__attribute__")) {
        i = past - 1;
        continue;
      }
      kernel.name = tokens[i].text;
      for (const Tokens& parameter : split(tokens, i + 2, past - 1))
        kernel.parameters.push_back(parameter.size() > 1 && parameter.back().word() ? parameter.back().text
                                                                                    : "");
      if (past >= tokens.size() || !tokens[past].is("{")) return 0;
      const std::size_t end = past_closing(tokens, past, "{", "}");
      kernel.body_begin = tokens[past].at;
      kernel.body_end = tokens[end - 1].at;
      kernel.barriers = holds(tokens, past, end, "__syncthreads");
      kernel.shared = holds(tokens, past, end, "__shared__");
      return end;
    }
    return 0;
  }

  const std::string& text_;
  Tokens tokens_;
  std::map<std::string, Macro> macros_;
  std::vector<std::size_t> linkage_;
  bool lanes_in_macros_ = false;
};

}  // namespace

Scanned scan(const std::string& text) { return Scanner(text).run(); }

}  // namespace ondula::sim
