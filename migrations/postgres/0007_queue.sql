-- When an effect was first due, so that people see how long it has been in the queue; and those that were given up.
ALTER TABLE effect ADD COLUMN first_due BIGINT NOT NULL DEFAULT 0;
UPDATE effect SET first_due = run_at;
CREATE INDEX effect_failed ON effect (seq) WHERE state = 'failed';
