-- The first tables. Times are epoch milliseconds, booleans are 0 and 1, JSON is text that the store never reads.
-- The folders sqlite/ and postgres/ hold the same numbers, tables, columns and rules.

-- Webhook deliveries: the pair (App, delivery id) is what makes a repeat a repeat, so rows stay when payloads go.
CREATE TABLE delivery (
    app_id          INTEGER NOT NULL,
    id              TEXT    NOT NULL,
    event           TEXT    NOT NULL,
    action          TEXT,
    installation_id INTEGER,
    repo_id         INTEGER,
    payload         TEXT,               -- NULL once blanked
    received_at     INTEGER NOT NULL,
    source          TEXT    NOT NULL CHECK (source IN ('webhook', 'replay', 'sweep')),
    outcome         TEXT,               -- NULL until it was taken in
    PRIMARY KEY (app_id, id)
) STRICT;

CREATE INDEX delivery_unblanked ON delivery (received_at) WHERE payload IS NOT NULL;

-- One run of one labelled issue; the unit of locking, by compare-and-swap on version.
CREATE TABLE feature (
    id              TEXT    NOT NULL PRIMARY KEY,   -- <repository id>/<issue>/<run>
    installation_id INTEGER NOT NULL,
    repo_id         INTEGER NOT NULL,
    issue_number    INTEGER NOT NULL,
    run             INTEGER NOT NULL CHECK (run > 0),
    state           TEXT    NOT NULL CHECK (state IN ('planning', 'awaiting_approval', 'building', 'paused', 'blocked',
                                                     'in_review', 'completed', 'cancelled', 'failed')),
    version         INTEGER NOT NULL CHECK (version > 0),
    branch          TEXT,
    pull_number     INTEGER,
    held            INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),   -- its waiting effects are not claimed
    data            TEXT    NOT NULL,
    UNIQUE (repo_id, issue_number, run)
) STRICT;

-- At most one unfinished run of an issue.
CREATE UNIQUE INDEX feature_unfinished ON feature (repo_id, issue_number)
    WHERE state NOT IN ('completed', 'cancelled', 'failed');
CREATE UNIQUE INDEX feature_branch ON feature (repo_id, branch);
CREATE INDEX feature_pull ON feature (repo_id, pull_number);
CREATE INDEX feature_installation ON feature (installation_id);

CREATE TABLE task (
    id          TEXT    NOT NULL PRIMARY KEY,       -- <feature id>/<task name>
    feature_id  TEXT    NOT NULL REFERENCES feature (id) ON DELETE CASCADE,
    repo_id     INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    wave        INTEGER NOT NULL CHECK (wave >= 0),
    state       TEXT    NOT NULL CHECK (state IN ('pending', 'pre_loop', 'player_turn', 'coach_turn', 'approved',
                                                 'blocked', 'completed', 'skipped', 'cancelled')),
    version     INTEGER NOT NULL CHECK (version > 0),
    branch      TEXT,
    head_sha    TEXT,
    pull_number INTEGER,
    data        TEXT    NOT NULL,
    UNIQUE (feature_id, name),
    UNIQUE (repo_id, branch)
) STRICT;

CREATE INDEX task_pull ON task (repo_id, pull_number);

CREATE TABLE task_needs (
    task_id  TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    needs_id TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    PRIMARY KEY (task_id, needs_id)
) STRICT;

CREATE INDEX task_needs_needed ON task_needs (needs_id);

-- One round of Player, Gates and Coach. The verdict is stored here before anything is posted.
CREATE TABLE turn (
    id         TEXT    NOT NULL PRIMARY KEY,        -- <task id>/<number>
    task_id    TEXT    NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL CHECK (number > 0),
    state      TEXT    NOT NULL CHECK (state <> ''),
    base_sha   TEXT,
    head_sha   TEXT,
    report     TEXT,
    decision   TEXT,
    evidence   TEXT,
    usage      TEXT,
    started_at INTEGER,
    ended_at   INTEGER,
    UNIQUE (task_id, number)
) STRICT;

-- What happened, in order; one event per cause, so that a repeated fact changes nothing.
CREATE TABLE event (
    stream TEXT    NOT NULL,
    seq    INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    body   TEXT    NOT NULL,
    cause  TEXT    NOT NULL,
    actor  TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (stream, seq),
    UNIQUE (stream, cause)
) STRICT;

-- What is to be done outside. The id is what makes it the same effect; seq is the order in which effects were stored.
CREATE TABLE effect (
    seq              INTEGER NOT NULL PRIMARY KEY,
    id               TEXT    NOT NULL UNIQUE,
    kind             TEXT    NOT NULL,
    lane             TEXT    NOT NULL CHECK (lane IN ('control', 'forge', 'agent')),
    subject          TEXT    NOT NULL,
    feature_id       TEXT,
    feature_limit    INTEGER,                       -- how many of its lane may run at once for the Feature; NULL: any
    ordered          INTEGER NOT NULL CHECK (ordered IN (0, 1)),
    waits            INTEGER NOT NULL DEFAULT 0 CHECK (waits IN (0, 1)),  -- not claimed while its Feature is held
    installation_id  INTEGER NOT NULL,
    repo_id          INTEGER,
    payload          TEXT    NOT NULL,
    state            TEXT    NOT NULL DEFAULT 'ready'
                            CHECK (state IN ('ready', 'running', 'done', 'failed', 'cancelled')),
    priority         INTEGER NOT NULL,              -- lower goes first
    run_at           INTEGER NOT NULL,
    attempt          INTEGER NOT NULL DEFAULT 0,    -- failures that count
    crashes          INTEGER NOT NULL DEFAULT 0,    -- leases that ended without a word
    fence            INTEGER NOT NULL DEFAULT 0,    -- raised by every claim
    worker           TEXT,
    lease_until      INTEGER,
    deadline         INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    external_id      TEXT,
    last_error       TEXT,
    CHECK ((state = 'running') = (worker IS NOT NULL AND lease_until IS NOT NULL))
) STRICT;

-- The last guard: never two agents on one subject.
CREATE UNIQUE INDEX effect_agent_alone ON effect (subject) WHERE state = 'running' AND lane = 'agent';
CREATE INDEX effect_waiting ON effect (lane, installation_id, priority, run_at, seq) WHERE state = 'ready';
CREATE INDEX effect_due ON effect (run_at) WHERE state = 'ready';
CREATE INDEX effect_queue ON effect (subject, seq) WHERE state IN ('ready', 'running');
CREATE INDEX effect_running ON effect (installation_id) WHERE state = 'running';
CREATE INDEX effect_feature ON effect (feature_id, state);

-- Small facts about this installation of AutoBuild.
CREATE TABLE meta (
    k TEXT NOT NULL PRIMARY KEY,
    v TEXT NOT NULL
) STRICT;
