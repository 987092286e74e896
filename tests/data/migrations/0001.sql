-- Sample rows of every table, in SQL that runs on both databases.
INSERT INTO delivery (app_id, id, event, action, installation_id, repo_id, payload, received_at, source, outcome) VALUES
    (7, 'd-1', 'issues', 'labeled', 30, 500, '{}', 1000, 'webhook', 'taken in'),
    (7, 'd-2', 'ping', NULL, NULL, NULL, NULL, 1001, 'replay', NULL);
INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, branch, pull_number, data) VALUES
    ('500/42/1', 30, 500, 42, 1, 'building', 2, 'autobuild/42/integration', NULL, '{}');
INSERT INTO task (id, feature_id, repo_id, name, wave, state, version, branch, head_sha, pull_number, data) VALUES
    ('500/42/1/TASK-001', '500/42/1', 500, 'TASK-001', 1, 'completed', 3, 'autobuild/42/task-001',
     'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 43, '{}'),
    ('500/42/1/TASK-002', '500/42/1', 500, 'TASK-002', 2, 'pending', 1, NULL, NULL, NULL, '{}');
INSERT INTO task_needs (task_id, needs_id) VALUES ('500/42/1/TASK-002', '500/42/1/TASK-001');
INSERT INTO turn (id, task_id, number, state, base_sha, head_sha, report, decision, evidence, usage, started_at, ended_at)
VALUES
    ('500/42/1/TASK-001/1', '500/42/1/TASK-001', 1, 'decided', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
     'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '{}', '{}', '{}', '{}', 1002, 1003);
INSERT INTO event (stream, seq, kind, body, cause, actor, at) VALUES
    ('500/42/1', 1, 'Labelled', '{}', 'delivery d-1', 'mona', 1000),
    ('500/42/1', 2, 'PlanReady', '{}', 'effect plan', 'autobuild', 1001);
INSERT INTO effect (id, kind, lane, subject, feature_id, feature_limit, ordered, installation_id, repo_id, payload, state,
                    priority, run_at, first_due, worker, lease_until, refused) VALUES
    ('player', 'RunPlayer', 'agent', '500/42/1/TASK-002', '500/42/1', 2, 1, 30, 500, '{}', 'running', 10, 1004, 1004, 'w', 9999,
     '[{"host":"npm.corp.example","why":"not_allowed"}]'),
    ('say', 'Say', 'forge', '500/42/1', '500/42/1', NULL, 0, 30, 500, '{}', 'ready', 10, 1004, 1004, NULL, NULL, NULL);
INSERT INTO meta (k, v) VALUES ('cursor', '9');
INSERT INTO baseline (repo_id, commit_sha, commands, body, made_at) VALUES
    (500, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'c0ffee', '{}', 1000);
INSERT INTO run (id, effect_id, fence, installation_id, repo_id, feature_id, task, turn, role, agent, model, level, state,
                 reserved_micros, usd_micros, input_tokens, output_tokens, agent_ms, failure, events, started_at, ended_at,
                 prompt_chars, most_micros, tool_calls, calls, waiting, seen_at)
VALUES
    ('player/1/0', 'player', 1, 30, 500, '500/42/1', 'TASK-001', 1, 'player', 'claude', 'large', 3, 'ended',
     2500000, 310000, 9000, 700, 60000, NULL, '{}', 1002, 1003, 9000, NULL, 0, NULL, 0, NULL),
    ('player/2/0', 'player', 2, 30, 500, '500/42/1', 'TASK-002', 1, 'player', 'claude', NULL, NULL, 'running',
     2500000, NULL, 0, 0, 0, NULL, NULL, 1004, NULL,
     12000, 2000000, 14, '["Bash cargo test"]', 1, 1005);
INSERT INTO provider (name, cause, said, failures, since, until) VALUES ('claude', 'rate_limited', 'slow down', 1, 1000, 2000);
INSERT INTO repository_settings (repo_id, owner, commit_sha, file, shared_repo, asked_at, doubted_at) VALUES
    (500, 'acme', '1111111111111111111111111111111111111111', '{"text":"label: build-me"}', NULL, 1000, 900);
INSERT INTO spent (name, until) VALUES ('session 9000-0', 9000);

INSERT INTO local_order (number, wanted, report) VALUES (1, '{}', '{}');
INSERT INTO pack (feature_id, commit_sha, bytes, made_at, pushed_at) VALUES
    ('500/42/1', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', CAST('# v2 git bundle' AS BYTES), 1003, NULL);
