found=$(printf 'one two\nthree\n' | sh bin/tally)
[ "$found" = 3 ] || { echo "expected 3 words, found $found"; exit 1; }
