#!/bin/sh
# Runs every tests/*_test.sh and prints what they say in the Test Anything Protocol.
cd "$(dirname "$0")/.." || exit 1
count=0
failed=0
for test in tests/*_test.sh; do
  count=$((count + 1))
  name=$(basename "$test" _test.sh)
  if output=$(sh "$test" 2>&1); then
    echo "ok $count - $name"
  else
    echo "not ok $count - $name"
    printf '%s\n' "$output" | sed 's/^/# /'
    failed=1
  fi
done
echo "1..$count"
exit $failed
