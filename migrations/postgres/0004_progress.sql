-- What a running agent was last seen to do, for people who wait.
ALTER TABLE run ADD COLUMN tool_calls BIGINT NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN waiting BIGINT NOT NULL DEFAULT 0 CHECK (waiting IN (0, 1));  -- for its model's API
ALTER TABLE run ADD COLUMN seen_at BIGINT;                                               -- NULL: nothing was seen yet
