-- The money at which the proxy stops a run. It is reserved while the run lasts; a lost run counts with its share.
ALTER TABLE run ADD COLUMN most_micros INTEGER;         -- NULL: as much as its share
