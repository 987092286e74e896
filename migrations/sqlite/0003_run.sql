-- The ledger: every run of an agent, written before it starts with what is set aside for it, completed when it ends.
-- What was spent is summed from here and from nowhere else.
CREATE TABLE run (
    id                 TEXT    NOT NULL PRIMARY KEY,    -- <effect id>/<fence>/<number within the claim>
    effect_id          TEXT    NOT NULL,
    fence              INTEGER NOT NULL,                -- the claim it belongs to
    installation_id    INTEGER NOT NULL,
    repo_id            INTEGER NOT NULL,
    feature_id         TEXT    NOT NULL,
    task               TEXT,                            -- NULL: the planner's
    turn               INTEGER NOT NULL CHECK (turn > 0),
    role               TEXT    NOT NULL CHECK (role IN ('planner', 'designer', 'player', 'coach')),
    agent              TEXT    NOT NULL,
    model              TEXT,
    level              INTEGER CHECK (level BETWEEN 0 AND 3),
    state              TEXT    NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'ended', 'lost')),
    reserved_micros    INTEGER NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
    reserved_tokens    INTEGER NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
    reserved_ms        INTEGER NOT NULL DEFAULT 0 CHECK (reserved_ms >= 0),
    usd_micros         INTEGER,                         -- NULL: nobody knows
    estimated          INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)),
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    cached_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    agent_ms           INTEGER NOT NULL DEFAULT 0,
    runs               INTEGER NOT NULL DEFAULT 1,      -- programs started: 2 with a repair
    failure            TEXT,                            -- a word; NULL: it answered
    events             TEXT,                            -- JSON lines
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER,
    CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;

CREATE INDEX run_feature ON run (feature_id, task);
CREATE INDEX run_installation ON run (installation_id, started_at);
CREATE INDEX run_started ON run (started_at);
CREATE INDEX run_open ON run (effect_id) WHERE state = 'running';

-- Providers of models that limit us or are out of reach, and until when nobody asks them.
CREATE TABLE provider (
    name     TEXT    NOT NULL PRIMARY KEY,              -- agent, and model where one is named
    cause    TEXT    NOT NULL CHECK (cause IN ('rate_limited', 'unavailable', 'not_authorised')),
    said     TEXT    NOT NULL,                          -- its words, for operators
    failures INTEGER NOT NULL CHECK (failures > 0),     -- in a row
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL
) STRICT;

-- Work that waits for a provider: how often it did so in a row, since when, and for which.
ALTER TABLE effect ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE effect ADD COLUMN parked_since INTEGER;
ALTER TABLE effect ADD COLUMN waits_for TEXT;
CREATE INDEX effect_parked ON effect (waits_for) WHERE waits_for IS NOT NULL;
