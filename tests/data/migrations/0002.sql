INSERT INTO account (installation_id, account_id) VALUES (30, 5), (31, 5);
