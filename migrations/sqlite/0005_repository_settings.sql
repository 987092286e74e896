-- What a repository's settings file said at a commit of its default branch, so that a label that is none of ours costs
-- no call to GitHub, and one that is costs no second reading of the same commit.
CREATE TABLE repository_settings (
    repo_id     INTEGER NOT NULL PRIMARY KEY,
    owner       TEXT    NOT NULL,               -- in lower case
    commit_sha  TEXT,                           -- NULL until it was read, and of a repository without commits
    file        TEXT,                           -- JSON; NULL until it was read
    shared_repo INTEGER,                        -- the organisation's .github repository, where that was looked at
    asked_at    INTEGER NOT NULL,               -- when the reading began
    doubted_at  INTEGER NOT NULL                -- when something last happened that may have changed the file
) STRICT;

CREATE INDEX repository_settings_owner ON repository_settings (owner);
