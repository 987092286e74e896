-- What set-up and tests found on commits of the default branch, so that every Feature on a commit shares one run of them.
CREATE TABLE baseline (
    repo_id    BIGINT NOT NULL,
    commit_sha TEXT   NOT NULL,
    commands   TEXT   NOT NULL,        -- SHA-256 of the commands that ran: other commands find other things
    body       TEXT   NOT NULL,
    made_at    BIGINT NOT NULL,
    PRIMARY KEY (repo_id, commit_sha, commands)
);

CREATE INDEX baseline_age ON baseline (made_at);
