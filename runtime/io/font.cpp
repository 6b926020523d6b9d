// Text on pictures, in a stroke font of our own: no font file is needed.
// SPDX-License-Identifier: MIT
#include "runtime/io/font.hpp"

#include <array>
#include <cctype>
#include <cstring>
#include <vector>

namespace ondula::io {

namespace {

/// One character: its ink's width, and its strokes parted by spaces. A stroke is a list of points, two
/// hexadecimal digits each: x, and y + 3, so that '3' is the baseline, 'a' the height of small letters, 'd'
/// that of capitals. A stroke is straight from point to point; '~' bends it through the middles of its sides
/// (a quadratic B-spline from the first point to the last), 'o' does so and closes it.
struct Glyph {
  int width;
  const char* strokes;
};

constexpr std::array<Glyph, 95> glyphs{{
    {1, ""},                               // space
    {0, "0d06 03"},                        // !
    {3, "0d0a 3d3a"},                      // "
    {8, "133d 537d 0676 1a8a"},            // #
    {7, "~7b7d0d0878730305 3e32"},         // $
    {10, "o0d4d4909 o67a7a363 238d"},      // %
    {8, "~886303076a6d1d1a83"},            // &
    {0, "0d0a"},                           // '
    {2, "~2e0b0522"},                      // (
    {2, "~0e2b2502"},                      // )
    {6, "3d37 0b69 096b"},                 // *
    {6, "3a34 0767"},                      // +
    {1, "1401"},                           // ,
    {4, "0747"},                           // -
    {0, "03"},                             // .
    {5, "025e"},                           // /
    {6, "o0d6d6303"},                      // 0
    {4, "0b3d33"},                         // 1
    {6, "~0b0d6d6903 0363"},               // 2
    {6, "~0b0d6d6828 ~2868630305"},        // 3
    {7, "535d0676"},                       // 4
    {6, "6d0d08 ~080969630304"},           // 5
    {6, "o09696303 ~6c6d0d0806"},          // 6
    {6, "0d6d23"},                         // 7
    {6, "o0d6d6808 o08686303"},            // 8
    {6, "o0d6d6707 ~040363686a"},          // 9
    {0, "03 09"},                          // :
    {1, "1401 19"},                        // ;
    {6, "6a0764"},                         // <
    {6, "0969 0565"},                      // =
    {6, "0a6704"},                         // >
    {6, "~0b0d6d693836 33"},               // ?
    {10, "~93030dada5757a o3a7a7535"},     // @
    {8, "034d83 1676"},                    // A
    {7, "030d ~0d6d6808 ~08787303"},       // B
    {8, "~8b8d0d038385"},                  // C
    {8, "030d ~0d8d8303"},                 // D
    {6, "6d0d0363 0858"},                  // E
    {6, "6d0d03 0858"},                    // F
    {8, "~8b8d0d038388 8858"},             // G
    {8, "030d 838d 0888"},                 // H
    {0, "030d"},                           // I
    {5, "~5d58530306"},                    // J
    {7, "030d 7d07 2973"},                 // K
    {6, "0d0363"},                         // L
    {8, "030d468d83"},                     // M
    {8, "030d838d"},                       // N
    {9, "o0d9d9303"},                      // O
    {7, "030d ~0d7d7707"},                 // P
    {9, "o0d9d9303 6692"},                 // Q
    {7, "030d ~0d7d7707 3773"},            // R
    {7, "~7b7d0d0878730305"},              // S
    {8, "0d8d 4d43"},                      // T
    {8, "~0d070383878d"},                  // U
    {8, "0d438d"},                         // V
    {12, "0d336d93cd"},                    // W
    {8, "038d 0d83"},                      // X
    {8, "0d488d 4843"},                    // Y
    {7, "0d7d0373"},                       // Z
    {2, "2e0e0222"},                       // [
    {5, "0e52"},                           // backslash
    {2, "0e2e2202"},                       // ]
    {6, "0a3d6a"},                         // ^
    {6, "0262"},                           // _
    {2, "0d2b"},                           // `
    {6, "6a63 o0a6a6303"},                 // a
    {6, "030d o0a6a6303"},                 // b
    {6, "~696a0a036364"},                  // c
    {6, "636d o0a6a6303"},                 // d
    {6, "0666 ~666a0a036364"},             // e
    {4, "~4d1d1a13 0a3a"},                 // f
    {6, "o0a6a6303 ~6a64600001"},          // g
    {6, "030d ~070a6a6763"},               // h
    {0, "030a 0d"},                        // i
    {2, "~2a242000 2d"},                   // j
    {6, "030d 6a06 2763"},                 // k
    {2, "~0d050323"},                      // l
    {10, "030a ~070a5a5753 ~575aaaa7a3"},  // m
    {6, "030a ~070a6a6763"},               // n
    {6, "o0a6a6303"},                      // o
    {6, "000a o0a6a6303"},                 // p
    {6, "606a o0a6a6303"},                 // q
    {4, "030a ~070a4a"},                   // r
    {5, "~595a0a0756530304"},              // s
    {4, "~1c161343 0a3a"},                 // t
    {6, "~0a06036366 6a63"},               // u
    {6, "0a336a"},                         // v
    {8, "0a234a638a"},                     // w
    {6, "036a 0a63"},                      // x
    {6, "0a33 6a20"},                      // y
    {5, "0a5a0353"},                       // z
    {3, "~3e1e190808171232"},              // {
    {0, "0e01"},                           // |
    {3, "~0e2e293838272202"},              // }
    {6, "~06193568"},                      // ~
}};

constexpr double cap_units = 10.0;
constexpr double gap_units = 3.4;  // between two characters' ink
constexpr double raised_scale = 0.68;
constexpr double raised_units = 4.5;

using Line = std::vector<Point>;

int hex(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

Point middle(Point a, Point b) { return {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}; }

/// Appends the parabola from `a` to `b` with control point `c`, without `a`.
void bend(Line& line, Point a, Point c, Point b) {
  constexpr int pieces = 6;
  for (int k = 1; k <= pieces; ++k) {
    const double t = static_cast<double>(k) / pieces;
    const double s = 1.0 - t;
    line.push_back(
        {s * s * a.x + 2 * s * t * c.x + t * t * b.x, s * s * a.y + 2 * s * t * c.y + t * t * b.y});
  }
}

Line rounded(const Line& control, bool closed) {
  const std::size_t n = control.size();
  Line line;
  if (closed) {
    line.push_back(middle(control[n - 1], control[0]));
    for (std::size_t k = 0; k < n; ++k)
      bend(line, line.back(), control[k], middle(control[k], control[(k + 1) % n]));
    return line;
  }
  line = {control[0], middle(control[0], control[1])};
  for (std::size_t k = 1; k + 1 < n; ++k)
    bend(line, line.back(), control[k], middle(control[k], control[k + 1]));
  line.push_back(control[n - 1]);
  return line;
}

/// A glyph's strokes as lines, in font units, y upwards from the baseline.
std::vector<Line> outline(const Glyph& glyph) {
  std::vector<Line> lines;
  for (const char* at = glyph.strokes; *at != '\0';) {
    const char kind = *at == '~' || *at == 'o' ? *at++ : '-';
    Line control;
    for (; *at != '\0' && *at != ' '; at += 2)
      control.push_back({static_cast<double>(hex(at[0])), static_cast<double>(hex(at[1]) - 3)});
    lines.push_back(kind == '-' ? control : rounded(control, kind == 'o'));
    if (*at == ' ') ++at;
  }
  return lines;
}

/// Calls `place(glyph, x, scale, rise)` for each character, in font units; returns the end of the last one's
/// ink.
template <class Place>
double lay_out(std::string_view text, Place place) {
  double x = 0.0;
  double end = 0.0;
  bool raised = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    if ((c & 0xc0U) == 0x80U) continue;  // the rest of a character of several bytes
    const bool digit_next = k + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[k + 1])) != 0;
    const bool sign_or_digit = std::isdigit(c) != 0 || c == '-' || (c == '.' && digit_next);
    if (c == '^' && (digit_next || (k + 1 < text.size() && text[k + 1] == '-'))) {
      raised = true;
      continue;
    }
    raised = raised && sign_or_digit;
    const Glyph& glyph = glyphs[c >= 32 && c <= 126 ? c - 32U : '?' - 32U];
    const double scale = raised ? raised_scale : 1.0;
    place(glyph, x, scale, raised ? raised_units : 0.0);
    end = x + scale * glyph.width;
    x = end + scale * gap_units;
  }
  return end;
}

}  // namespace

double text_width(std::string_view text, const TextStyle& style) {
  return lay_out(text, [](const Glyph&, double, double, double) {}) * style.cap_height / cap_units;
}

void draw_text(Image& image, std::string_view text, Point at, const TextStyle& style) {
  const double unit = style.cap_height / cap_units;
  const double share = style.align == Align::left ? 0.0 : style.align == Align::centre ? 0.5 : 1.0;
  const double start = -share * text_width(text, style);
  lay_out(text, [&](const Glyph& glyph, double x, double scale, double rise) {
    std::vector<Line> lines = outline(glyph);
    for (Line& line : lines)
      for (Point& p : line) {
        const double along = start + unit * (x + scale * p.x);
        const double up = unit * (rise + scale * p.y);
        p = style.upwards ? Point{at.x - up, at.y - along} : Point{at.x + along, at.y - up};
      }
    image.draw_lines(lines, style.weight * style.cap_height * (scale < 1.0 ? 0.85 : 1.0), style.colour);
  });
}

}  // namespace ondula::io
