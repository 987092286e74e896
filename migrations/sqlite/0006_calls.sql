-- The last tool calls of a running agent, for people who watch it: a JSON list of lines, masked. NULL: none yet.
ALTER TABLE run ADD COLUMN calls TEXT;
