-- Sign-ins with GitHub that came back, and sessions that people ended: they count no more, in any process.
CREATE TABLE spent (
    name  TEXT   NOT NULL PRIMARY KEY,
    until BIGINT NOT NULL                               -- from then on they would not count anyway
);
-- How long the prompt of a run was, for people.
ALTER TABLE run ADD COLUMN prompt_chars BIGINT;         -- NULL: it began before this was written down
