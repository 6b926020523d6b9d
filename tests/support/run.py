#!/usr/bin/env python3
"""Runs each case of the test program in a process of its own, over all cores, and prints the closing line.

A process a case: a crash or a hang fails one case and not the run, and no case leans on what another left in memory.
Cases of the suite "alone" (those that time something) run after all others, one at a time.
SPDX-License-Identifier: MIT
"""

import argparse
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SKIPPED = 77  # the exit status of a process whose only case was skipped


def list_cases(program):
    """[(index, suite, name)]; the index is what --first and --last take."""
    text = subprocess.run([program, "--list-test-cases"], check=True, capture_output=True, text=True).stdout
    lines = [line.split("\t", 1) for line in text.splitlines() if "\t" in line]
    return [(i + 1, suite, name) for i, (suite, name) in enumerate(lines)]


def run_case(program, case, limit):
    """(case, "passed" | "failed" | "skipped", what it printed, seconds). A case without an index is a command by name."""
    start = time.monotonic()
    command = [program, f"--first={case[0]}", f"--last={case[0]}"] if case[0] else [case[2]]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            text, _ = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            text += f"stopped: it ran longer than {limit} s\n"
            status = 1
    if status < 0:
        text += f"ended by signal {signal.Signals(-status).name}\n"
    # The program's own closing line and headings would only repeat what report() says.
    lines = [line for line in text.splitlines()
             if line.strip() and " passed, " not in line and not line.startswith(("=====", "TEST CASE: "))]
    outcome = {0: "passed", SKIPPED: "skipped"}.get(status, "failed")
    if outcome == "passed" and case[0] and "1 passed, 0 failed, 0 skipped" not in text:
        outcome, lines = "failed", lines + ["ended well without having run the case"]
    return case, outcome, lines, time.monotonic() - start


def report(result, done, total):
    """A line a case that ran long, failed, was skipped or had something to say; what it printed below."""
    (_, _, name), outcome, lines, seconds = result
    if outcome == "skipped":
        reasons = [line for line in lines if line.startswith("skipped: ")]
        print(reasons[0] if reasons else f"skipped: {name}: {' '.join(lines)}", flush=True)
    elif outcome == "failed" or lines or seconds > 20:
        print(f"[{done}/{total}] {outcome}: {name} ({seconds:.1f} s)", flush=True)
        for line in lines:
            print("    " + line, flush=True)


def run_all(program, cases, limit, times):
    """Runs the cases, the longest of the last run first, so that both cores end together."""
    alone = [case for case in cases if case[1] == "alone"]
    beside = sorted((case for case in cases if case[1] != "alone"), key=lambda case: -times.get(case[2], 0.0))
    results = []

    def take(result):
        results.append(result)
        report(result, len(results), len(cases))

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for future in concurrent.futures.as_completed(pool.submit(run_case, program, c, limit) for c in beside):
            take(future.result())
    for case in alone:
        take(run_case(program, case, limit))
    return results


def read_times(path):
    """Seconds by case name, from the last run; empty where there was none."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda text: str(Path(text).resolve()))
    parser.add_argument("--floor", type=Path, help="file with the least number of cases that must pass")
    parser.add_argument("--also", action="append", default=[], help="a command that counts as a case of its own")
    parser.add_argument("--match", help="run only cases whose name or suite holds this text")
    parser.add_argument("--limit", type=int, default=3600 if os.environ.get("ONDULA_FULL") == "1" else 900,
                        help="seconds that one case may take")
    options = parser.parse_args()

    cases = list_cases(options.program) + [(None, "", command) for command in options.also]
    if options.match:
        cases = [case for case in cases if options.match in case[2] or options.match == case[1]]
    times_path = Path(options.program).with_suffix(".times.json")
    times = read_times(times_path)
    start = time.monotonic()
    results = run_all(options.program, cases, options.limit, times)
    times.update({name: round(seconds, 2) for (_, _, name), _, _, seconds in results})
    times_path.write_text(json.dumps(times, indent=0, sort_keys=True))

    count = {outcome: sum(r[1] == outcome for r in results) for outcome in ("passed", "failed", "skipped")}
    print(f"{len(results)} cases in {time.monotonic() - start:.0f} s")
    for (_, _, name), _, _, seconds in sorted(results, key=lambda r: -r[3])[:5]:
        print(f"    {seconds:6.1f} s  {name}")
    for (_, _, name), outcome, _, _ in results:
        if outcome == "failed":
            print(f"failed: {name}")
    short = False
    if options.floor and not options.match:
        floor = int(options.floor.read_text().split()[0])
        short = count["passed"] < floor
        if short:
            print(f"too few passed: {count['passed']}, and {options.floor} asks for {floor}")
    if not results:
        print("no case ran")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped", flush=True)
    return 1 if count["failed"] or short or not results else 0


if __name__ == "__main__":
    sys.exit(main())
