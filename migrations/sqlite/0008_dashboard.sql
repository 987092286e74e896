-- Sign-ins with GitHub that came back, and sessions that people ended: they count no more, in any process.
CREATE TABLE spent (
    name  TEXT    NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL                              -- from then on they would not count anyway
) STRICT;
-- How long the prompt of a run was, for people.
ALTER TABLE run ADD COLUMN prompt_chars INTEGER;        -- NULL: it began before this was written down
