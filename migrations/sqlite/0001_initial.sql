-- Times are epoch milliseconds, booleans are 0 and 1, JSON is text that the store never reads.
-- The folders sqlite/ and postgres/ hold the same numbers, tables, columns and rules.

-- Webhook deliveries: the pair (App, delivery id) is what makes a repeat a repeat, so rows stay when payloads go.
CREATE TABLE delivery (
    app_id          INTEGER NOT NULL,
    id              TEXT    NOT NULL,
    event           TEXT    NOT NULL,
    action          TEXT,
    installation_id INTEGER,
    repo_id         INTEGER,
    payload         TEXT,  -- NULL once blanked
    received_at     INTEGER NOT NULL,
    source          TEXT    NOT NULL CHECK (source IN ('webhook', 'replay', 'sweep')),
    outcome         TEXT,  -- NULL until it was taken in
    PRIMARY KEY (app_id, id)
) STRICT;

CREATE INDEX delivery_unblanked ON delivery (received_at) WHERE payload IS NOT NULL;
CREATE INDEX delivery_age ON delivery (received_at);

-- One run of one labelled issue; the unit of locking, by compare-and-swap on version.
CREATE TABLE feature (
    id              TEXT    NOT NULL PRIMARY KEY,  -- <repository id>/<issue>/<run>
    installation_id INTEGER NOT NULL,
    repo_id         INTEGER NOT NULL,
    issue_number    INTEGER NOT NULL,
    run             INTEGER NOT NULL CHECK (run > 0),
    state           TEXT    NOT NULL CHECK (state IN ('planning', 'awaiting_approval', 'building', 'paused', 'blocked',
                                                     'in_review', 'completed', 'cancelled', 'failed')),
    version         INTEGER NOT NULL CHECK (version > 0),
    branch          TEXT,
    pull_number     INTEGER,
    held            INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),  -- its waiting effects are not claimed
    data            TEXT    NOT NULL,
    format          INTEGER NOT NULL DEFAULT 1,  -- of data here and in its tasks and turns; an older program leaves a newer one alone
    counted         INTEGER NOT NULL DEFAULT 0 CHECK (counted IN (0, 1)),  -- its success is in counter
    trimmed         INTEGER NOT NULL DEFAULT 0 CHECK (trimmed IN (0, 1)),  -- its effects, traces and evidence are gone
    UNIQUE (repo_id, issue_number, run)
) STRICT;

-- At most one unfinished run of an issue.
CREATE UNIQUE INDEX feature_unfinished ON feature (repo_id, issue_number)
    WHERE state NOT IN ('completed', 'cancelled', 'failed');
CREATE UNIQUE INDEX feature_branch ON feature (repo_id, branch);
CREATE INDEX feature_pull ON feature (repo_id, pull_number);
CREATE INDEX feature_installation ON feature (installation_id);
CREATE INDEX feature_uncounted ON feature (state) WHERE counted = 0;
CREATE INDEX feature_untrimmed ON feature (state) WHERE trimmed = 0;

CREATE TABLE task (
    id          TEXT    NOT NULL PRIMARY KEY,  -- <feature id>/<task name>
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
    id         TEXT    NOT NULL PRIMARY KEY,  -- <task id>/<number>
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
    feature_limit    INTEGER,                     -- how many of its lane may run at once for the Feature; NULL: any
    ordered          INTEGER NOT NULL CHECK (ordered IN (0, 1)),
    waits            INTEGER NOT NULL DEFAULT 0 CHECK (waits IN (0, 1)),  -- not claimed while its Feature is held
    installation_id  INTEGER NOT NULL,
    repo_id          INTEGER,
    payload          TEXT    NOT NULL,
    format           INTEGER NOT NULL DEFAULT 1,            -- of the payload
    state            TEXT    NOT NULL DEFAULT 'ready'
                            CHECK (state IN ('ready', 'running', 'done', 'failed', 'cancelled')),
    priority         INTEGER NOT NULL,            -- lower goes first
    run_at           INTEGER NOT NULL,
    attempt          INTEGER NOT NULL DEFAULT 0,  -- failures that count
    crashes          INTEGER NOT NULL DEFAULT 0,  -- leases that ended without a word
    fence            INTEGER NOT NULL DEFAULT 0,  -- raised by every claim
    worker           TEXT,
    lease_until      INTEGER,
    deadline         INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    external_id      TEXT,
    last_error       TEXT,
    parked           INTEGER NOT NULL DEFAULT 0,  -- how often in a row it waited for a provider of models
    parked_since     INTEGER,
    waits_for        TEXT,                        -- the provider
    first_due        INTEGER NOT NULL,            -- so that people see how long it has been in the queue
    refused          TEXT,                        -- hosts that its programs did not reach, as a JSON list; NULL: none
    CHECK ((state = 'running') = (worker IS NOT NULL AND lease_until IS NOT NULL))
) STRICT;

-- The last guard: never two agents on one subject.
CREATE UNIQUE INDEX effect_agent_alone ON effect (subject) WHERE state = 'running' AND lane = 'agent';
CREATE INDEX effect_waiting ON effect (lane, installation_id, priority, run_at, seq) WHERE state = 'ready';
CREATE INDEX effect_due ON effect (run_at) WHERE state = 'ready';
CREATE INDEX effect_queue ON effect (subject, seq) WHERE state IN ('ready', 'running');
CREATE INDEX effect_running ON effect (installation_id) WHERE state = 'running';
CREATE INDEX effect_feature ON effect (feature_id, state);
CREATE INDEX effect_parked ON effect (waits_for) WHERE waits_for IS NOT NULL;
CREATE INDEX effect_failed ON effect (seq) WHERE state = 'failed';
CREATE INDEX effect_loose ON effect (first_due) WHERE feature_id IS NULL AND state IN ('done', 'cancelled');

-- Small facts about this installation of AutoBuild.
CREATE TABLE meta (
    k TEXT NOT NULL PRIMARY KEY,
    v TEXT NOT NULL
) STRICT;

-- What set-up and tests found on commits of the default branch, so that every Feature on a commit shares one run of them.
CREATE TABLE baseline (
    repo_id    INTEGER NOT NULL,
    commit_sha TEXT    NOT NULL,
    commands   TEXT    NOT NULL,  -- SHA-256 of the commands that ran: other commands find other things
    body       TEXT    NOT NULL,
    made_at    INTEGER NOT NULL,
    PRIMARY KEY (repo_id, commit_sha, commands)
) STRICT;

CREATE INDEX baseline_age ON baseline (made_at);

-- The ledger: every run of an agent, written before it starts with what is set aside for it, completed when it ends.
-- What was spent is summed from here and from nowhere else.
CREATE TABLE run (
    id                 TEXT    NOT NULL PRIMARY KEY,  -- <effect id>/<fence>/<number within the claim>
    effect_id          TEXT    NOT NULL,
    fence              INTEGER NOT NULL,              -- the claim it belongs to
    installation_id    INTEGER NOT NULL,
    repo_id            INTEGER NOT NULL,
    feature_id         TEXT    NOT NULL,
    task               TEXT,                          -- NULL: the planner's
    turn               INTEGER NOT NULL CHECK (turn > 0),
    role               TEXT    NOT NULL CHECK (role IN ('planner', 'designer', 'player', 'coach')),
    agent              TEXT    NOT NULL,
    model              TEXT,
    level              INTEGER CHECK (level BETWEEN 0 AND 3),
    state              TEXT    NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'ended', 'lost')),
    reserved_micros    INTEGER NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
    reserved_tokens    INTEGER NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
    reserved_ms        INTEGER NOT NULL DEFAULT 0 CHECK (reserved_ms >= 0),
    -- The money at which the proxy stops the run. It is reserved while the run lasts; a lost run counts with its share.
    most_micros        INTEGER,                       -- NULL: as much as its share
    usd_micros         INTEGER,                       -- NULL: nobody knows
    estimated          INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)),
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    cached_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    agent_ms           INTEGER NOT NULL DEFAULT 0,
    runs               INTEGER NOT NULL DEFAULT 1,    -- programs started: 2 with a repair
    prompt_chars       INTEGER NOT NULL,              -- for people
    failure            TEXT,                          -- a word; NULL: it answered
    events             TEXT,                          -- JSON lines
    -- For people who watch the agent at work:
    tool_calls         INTEGER NOT NULL DEFAULT 0,
    calls              TEXT,                          -- its last tool calls, masked: a JSON list of lines; NULL: none yet
    waiting            INTEGER NOT NULL DEFAULT 0 CHECK (waiting IN (0, 1)),  -- for its model's API
    seen_at            INTEGER,                       -- NULL: nothing was seen yet
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER,
    counted            INTEGER NOT NULL DEFAULT 0 CHECK (counted BETWEEN 0 AND 2),  -- 1: in run_total; 2: about to be
    CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;

CREATE INDEX run_feature ON run (feature_id, task);
CREATE INDEX run_installation ON run (installation_id, started_at);
CREATE INDEX run_started ON run (started_at);
CREATE INDEX run_open ON run (effect_id) WHERE state = 'running';
CREATE INDEX run_uncounted ON run (role) WHERE counted <> 1;

-- Sums over runs that are over, which stay when the runs go.
CREATE TABLE run_total (
    role               TEXT   NOT NULL,
    agent              TEXT   NOT NULL,
    model              TEXT   NOT NULL,  -- empty if it is not known
    outcome            TEXT   NOT NULL,
    agent_runs         INTEGER NOT NULL,
    agent_ms           INTEGER NOT NULL,
    micros             INTEGER,           -- NULL: nobody knows
    guessed            INTEGER NOT NULL,
    unknown            INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    PRIMARY KEY (role, agent, model, outcome)
) STRICT;

-- Other figures that only grow.
CREATE TABLE counter (
    name  TEXT   NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;

-- Installations that are gone. What belongs to them goes some days later.
CREATE TABLE departed (
    installation_id INTEGER NOT NULL PRIMARY KEY,
    since           INTEGER NOT NULL,
    purged          INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1)),
    repos           TEXT   NOT NULL  -- JSON: the repositories of which nothing is left
) STRICT;

-- Commits of Players, packed, from the end of a run until the remote has them: whoever claims the push takes them from here.
CREATE TABLE pack (
    feature_id TEXT    NOT NULL REFERENCES feature (id) ON DELETE CASCADE,
    commit_sha TEXT    NOT NULL,
    bytes      BLOB    NOT NULL,
    made_at    INTEGER NOT NULL,
    pushed_at  INTEGER,  -- NULL until the remote has the commit
    PRIMARY KEY (feature_id, commit_sha)
) STRICT;

CREATE INDEX pack_age ON pack (made_at);

-- Providers of models that limit us or are out of reach, and until when nobody asks them.
CREATE TABLE provider (
    name     TEXT    NOT NULL PRIMARY KEY,           -- agent, and model where one is named
    cause    TEXT    NOT NULL CHECK (cause IN ('rate_limited', 'unavailable', 'not_authorised')),
    said     TEXT    NOT NULL,                       -- its words, for operators
    failures INTEGER NOT NULL CHECK (failures > 0),  -- in a row
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL
) STRICT;

-- What a repository's settings file said at a commit of its default branch, so that a label that is none of ours costs
-- no call to GitHub, and one that is costs no second reading of the same commit.
CREATE TABLE repository_settings (
    repo_id     INTEGER NOT NULL PRIMARY KEY,
    owner       TEXT    NOT NULL,  -- in lower case
    commit_sha  TEXT,              -- NULL until it was read, and of a repository without commits
    file        TEXT,              -- JSON; NULL until it was read
    shared_repo INTEGER,           -- the organisation's .github repository, where that was looked at
    asked_at    INTEGER NOT NULL,  -- when the reading began
    doubted_at  INTEGER NOT NULL   -- when something last happened that may have changed the file
) STRICT;

CREATE INDEX repository_settings_owner ON repository_settings (owner);

-- Sign-ins with GitHub that came back, and sessions that people ended: they count no more, in any process.
CREATE TABLE spent (
    name  TEXT    NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL  -- from then on they would not count anyway
) STRICT;

-- The refusals of people without the right to ask that were said, so that they cannot drown what others wait for.
CREATE TABLE refusal (
    cause           TEXT    NOT NULL PRIMARY KEY,  -- the delivery that was refused
    installation_id INTEGER NOT NULL,
    person_id       INTEGER NOT NULL,
    thread          TEXT    NOT NULL,  -- the repository and the number of the issue or pull request
    writes          INTEGER NOT NULL,  -- to GitHub
    at              INTEGER NOT NULL
) STRICT;

CREATE INDEX refusal_of_installation ON refusal (installation_id, at);
CREATE INDEX refusal_in_thread ON refusal (installation_id, person_id, thread);

-- What a person orders in a repository of their own, and how far it is. Only the database beside such a repository has
-- rows.
CREATE TABLE local_order (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    wanted TEXT    NOT NULL,  -- JSON
    report TEXT               -- JSON; NULL before anybody worked on it
) STRICT;
