-- What a running agent was last seen to do, for people who wait.
ALTER TABLE run ADD COLUMN tool_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0 CHECK (waiting IN (0, 1));  -- for its model's API
ALTER TABLE run ADD COLUMN seen_at INTEGER;                                               -- NULL: nothing was seen yet
