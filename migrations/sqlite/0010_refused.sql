-- The hosts that the programs of a running effect did not reach, for people who wait: a JSON list. NULL: none.
ALTER TABLE effect ADD COLUMN refused TEXT;
