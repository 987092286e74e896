# What a hostile program leaves in its checkout for whoever runs git there. It stands in the checkout; $1 names what is
# planted, MARKER the file that a trap writes, PRIVATE somebody else's repository, ADDRESS the forge's address.
set -e

# A trap for git's filters passes on what it is given; one that git would talk with ends at once.
trap_at() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\necho caught >> "%s"\n%s\n' "$MARKER" "${2-cat 2>/dev/null}" > "$1"
    chmod +x "$1"
}

traps_as_settings() {
    here=$PWD/trap.sh
    printf '[core]\n\tfsmonitor = %s\n\tsshCommand = %s\n\tpager = %s\n' "$here" "$here" "$here"
    printf '[filter "x"]\n\tclean = %s\n\tsmudge = %s\n' "$here" "$here"
    printf '[diff]\n\texternal = %s\n[diff "x"]\n\ttextconv = %s\n\tcommand = %s\n' "$here" "$here" "$here"
}

case $1 in
programs)
    trap_at trap.sh
    for hook in pre-commit post-checkout post-index-change reference-transaction pre-push post-commit; do
        trap_at ".git/hooks/$hook"
    done
    traps_as_settings >> .git/config
    echo '* filter=x diff=x' > .gitattributes
    mkdir -p nested bare/objects bare/refs redirected
    git init -q nested
    traps_as_settings >> nested/.git/config
    echo '* filter=x diff=x' > nested/.gitattributes
    echo nested > nested/file
    echo 'ref: refs/heads/main' > bare/HEAD
    { printf '[core]\n\tbare = false\n\tworktree = ..\n'; traps_as_settings; } > bare/config
    echo 'gitdir: ../bare' > redirected/.git
    echo redirected > redirected/file
    ;;
alternates)
    echo "$PRIVATE/.git/objects" > .git/objects/info/alternates
    echo "$STOLEN" > .git/refs/heads/main
    ;;
odd)
    mkfifo fifo
    mknod device c 1 3 2>/dev/null || true
    ln -s /etc/passwd passwd
    git init -q nested
    git -C nested -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m nested
    echo nested > nested/file
    # Goes on for as long as it is let.
    setsid sh -c 'while :; do echo more >> changing; done' "$GROWING" > /dev/null 2>&1 < /dev/null &
    while [ ! -s changing ]; do :; done
    ;;
rejected)
    mkdir .GIT
    echo x > .GIT/config
    truncate -s 2G huge
    ;;
names)
    trap_at trap.sh exit
    echo "ref: refs/heads/--upload-pack=$PWD/trap.sh" > .git/HEAD
    ;;
remotes)
    trap_at trap.sh exit
    printf '[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\turl = ext::%s\n' "$PWD/trap.sh" >> .git/config
    printf '[url "ext::%s "]\n\tinsteadOf = %s\n' "$PWD/trap.sh" "$ADDRESS" >> .git/config
    printf '[remote "other"]\n\turl = file://%s\n\tfetch = +refs/heads/*:refs/remotes/other/*\n' "$PRIVATE" >> .git/config
    ;;
esac
# Something to commit.
echo work > work
