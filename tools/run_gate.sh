#!/usr/bin/env bash
# Runs `standout audit` as a gate for CI systems, with settings from the environment:
#   GATE_DATA     what to audit
#   GATE_LIMIT    largest acceptable share of identified people (0.05)
#   GATE_OPTIONS  further options of `standout audit`, one per line
#   GATE_OUTPUT   folder for the report and for gate.xml (JUnit), gate.sarif and gate.md (standout-audit)
# The summary is appended to the file $GITHUB_STEP_SUMMARY and the paths to $GITHUB_OUTPUT, if these are set.
# The exit code is that of the audit.
set -eo pipefail

: "${GATE_DATA:?set GATE_DATA to the file to audit}"
limit=${GATE_LIMIT:-0.05}
folder=${GATE_OUTPUT:-standout-audit}
case "$folder" in
  *$'\n'* | -*) echo "GATE_OUTPUT must be one line that does not begin with a hyphen" >&2; exit 2 ;;
esac

options=()
while IFS= read -r line; do
  line=${line%$'\r'}
  if [ -n "$line" ]; then options+=("$line"); fi
done <<< "${GATE_OPTIONS:-}"

mkdir -p "$folder"
rm -f "$folder/gate.xml" "$folder/gate.sarif" "$folder/gate.md"
code=0
standout audit "--fail-above=$limit" "--output=$folder" "--gate=$folder/gate.xml" \
  "--gate=$folder/gate.sarif" "--gate=$folder/gate.md" "${options[@]}" -- "$GATE_DATA" || code=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  if [ -f "$folder/gate.md" ]; then
    cat "$folder/gate.md" >> "$GITHUB_STEP_SUMMARY"
  else
    echo "standout audit ended with exit code $code and without a summary." >> "$GITHUB_STEP_SUMMARY"
  fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "exit-code=$code"
    echo "report=$folder/report.html"
    echo "junit=$folder/gate.xml"
    echo "sarif=$folder/gate.sarif"
  } >> "$GITHUB_OUTPUT"
fi
exit "$code"
