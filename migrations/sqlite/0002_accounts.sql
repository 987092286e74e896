-- The account of each installation. One that removes the App and installs it again has another installation, and has spent
-- what it spent.
CREATE TABLE account (
    installation_id INTEGER NOT NULL PRIMARY KEY,
    account_id      INTEGER NOT NULL
) STRICT;

CREATE INDEX account_installations ON account (account_id);
