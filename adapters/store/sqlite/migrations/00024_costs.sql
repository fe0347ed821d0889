-- +goose Up
-- Sums of cost_entries, changed with them. What is kept of agents by the hour is of all models together: there are many such rows.
CREATE TABLE cost_hours (
    company_id         TEXT NOT NULL,
    scope              TEXT NOT NULL, -- company, team or agent
    start              INTEGER NOT NULL, -- of the unit, in UTC
    scope_id           TEXT NOT NULL,
    model              TEXT NOT NULL, -- empty: none, or all
    llm_usd            INTEGER NOT NULL, -- millionths; so are those below
    tools_usd          INTEGER NOT NULL,
    runtime_usd        INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    calls              INTEGER NOT NULL,
    PRIMARY KEY (company_id, scope, start, scope_id, model)
) STRICT;
CREATE TABLE cost_days (
    company_id         TEXT NOT NULL,
    scope              TEXT NOT NULL,
    start              INTEGER NOT NULL,
    scope_id           TEXT NOT NULL,
    model              TEXT NOT NULL,
    llm_usd            INTEGER NOT NULL,
    tools_usd          INTEGER NOT NULL,
    runtime_usd        INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    calls              INTEGER NOT NULL,
    PRIMARY KEY (company_id, scope, start, scope_id, model)
) STRICT;
CREATE TABLE cost_months (
    company_id         TEXT NOT NULL,
    scope              TEXT NOT NULL,
    start              INTEGER NOT NULL,
    scope_id           TEXT NOT NULL,
    model              TEXT NOT NULL,
    llm_usd            INTEGER NOT NULL,
    tools_usd          INTEGER NOT NULL,
    runtime_usd        INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    calls              INTEGER NOT NULL,
    PRIMARY KEY (company_id, scope, start, scope_id, model)
) STRICT;

-- What something has cost in its lifetime.
CREATE TABLE cost_totals (
    company_id         TEXT NOT NULL,
    scope              TEXT NOT NULL, -- issue
    scope_id           TEXT NOT NULL,
    model              TEXT NOT NULL,
    llm_usd            INTEGER NOT NULL,
    tools_usd          INTEGER NOT NULL,
    runtime_usd        INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    calls              INTEGER NOT NULL,
    PRIMARY KEY (company_id, scope, scope_id, model)
) STRICT;

INSERT INTO cost_hours
    SELECT company_id, scope, at - at % 3600000, scope_id, CASE scope WHEN 'agent' THEN '' ELSE model END,
        sum(CASE kind WHEN 'llm' THEN usd ELSE 0 END), sum(CASE kind WHEN 'tools' THEN usd ELSE 0 END),
        sum(CASE kind WHEN 'runtimeServices' THEN usd ELSE 0 END), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM (
        SELECT cost_entries.*, scope, CASE scope WHEN 'company' THEN company_id WHEN 'team' THEN team_id ELSE agent_id END AS scope_id
        FROM cost_entries CROSS JOIN (SELECT 'company' AS scope UNION ALL SELECT 'team' UNION ALL SELECT 'agent') AS scopes
    ) AS entries GROUP BY 1, 2, 3, 4, 5;
INSERT INTO cost_days
    SELECT company_id, scope, at - at % 86400000, scope_id, model,
        sum(CASE kind WHEN 'llm' THEN usd ELSE 0 END), sum(CASE kind WHEN 'tools' THEN usd ELSE 0 END),
        sum(CASE kind WHEN 'runtimeServices' THEN usd ELSE 0 END), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM (
        SELECT cost_entries.*, scope, CASE scope WHEN 'company' THEN company_id WHEN 'team' THEN team_id ELSE agent_id END AS scope_id
        FROM cost_entries CROSS JOIN (SELECT 'company' AS scope UNION ALL SELECT 'team' UNION ALL SELECT 'agent') AS scopes
    ) AS entries GROUP BY 1, 2, 3, 4, 5;
INSERT INTO cost_months
    SELECT company_id, scope, strftime('%s', start / 1000, 'unixepoch', 'start of month') * 1000,
        scope_id, model, sum(llm_usd), sum(tools_usd), sum(runtime_usd), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM cost_days GROUP BY 1, 2, 3, 4, 5;
INSERT INTO cost_totals
    SELECT company_id, 'issue', issue_id, model,
        sum(CASE kind WHEN 'llm' THEN usd ELSE 0 END), sum(CASE kind WHEN 'tools' THEN usd ELSE 0 END),
        sum(CASE kind WHEN 'runtimeServices' THEN usd ELSE 0 END), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM cost_entries GROUP BY 1, 2, 3, 4;

-- When a correction was made: its at is that of the entry which it corrects. NULL: the row is no correction.
ALTER TABLE cost_entries ADD COLUMN adjusted_at INTEGER;
CREATE INDEX cost_entries_by_team ON cost_entries (team_id, at);
CREATE INDEX cost_entries_by_agent ON cost_entries (agent_id, at);
CREATE INDEX cost_entries_by_issue ON cost_entries (issue_id, at);
CREATE INDEX cost_entries_by_adjusted ON cost_entries (adjusts) WHERE adjusts <> '';
