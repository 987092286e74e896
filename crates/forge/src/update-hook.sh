#!/bin/sh
# Guards one ref of a push: arguments are the ref, its old and its new id. FORGE_RULES holds lines of
# `<rule> <pattern>`; FORGE_WORKFLOWS says whether the pusher may touch workflow files.
ref=$1 old=$2 new=$3
zero=0000000000000000000000000000000000000000
set -f

violated() {
  echo "error: GH013: Repository rule violations found for $ref." >&2
  echo >&2
  echo "- $1" >&2
  exit 1
}

case $ref in
refs/heads/*) branch=${ref#refs/heads/} ;;
refs/tags/*) exit 0 ;;
refs/pull/*)
  echo "error: deny updating a hidden ref" >&2
  exit 1
  ;;
*) exit 0 ;; # No rule holds outside the branches, and nothing starts there.
esac

# Whether each commit that the push brings carries a signature.
all_signed() {
  for commit in $(git rev-list "$new" --not --all); do
    git cat-file commit "$commit" | sed '/^$/q' | grep -q '^gpgsig ' || return 1
  done
}

while read -r rule pattern; do
  [ -n "$rule" ] || continue
  # shellcheck disable=SC2254
  case $branch in
  $pattern) ;;
  *) continue ;;
  esac
  case $rule in
  creation) [ "$old" != "$zero" ] || violated "Cannot create ref due to creations being restricted." ;;
  pull_request) violated "Changes must be made through a pull request." ;;
  required_signatures) [ "$new" = "$zero" ] || all_signed || violated "Commits must have verified signatures." ;;
  esac
done <<RULES
$FORGE_RULES
RULES

if [ "$FORGE_WORKFLOWS" = forbidden ] && [ "$new" != "$zero" ]; then
  touched=$(git log --format= --name-only "$new" --not --all -- .github/workflows | sort -u | head -n 1)
  if [ -n "$touched" ]; then
    echo "error: refusing to allow a GitHub App to create or update workflow \`$touched\` without \`workflows\` permission" >&2
    exit 1
  fi
fi
exit 0
