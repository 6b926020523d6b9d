// Marks what the shared library exports; everything else in it is hidden.
// SPDX-License-Identifier: MIT
#pragma once

/// Before a class or function of the public interface.
#define ONDULA_API __attribute__((visibility("default")))
/// Before a class inside such a class that is no part of the interface.
#define ONDULA_HIDDEN __attribute__((visibility("hidden")))
