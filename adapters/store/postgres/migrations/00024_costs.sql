-- +goose Up
-- Sums of cost_entries, changed with them. What is kept of agents by the hour is of all models together: there are many such rows.
CREATE TABLE cost_hours (
    company_id         TEXT COLLATE "C" NOT NULL,
    scope              TEXT COLLATE "C" NOT NULL, -- company, team or agent
    start              BIGINT NOT NULL, -- of the unit, in UTC
    scope_id           TEXT COLLATE "C" NOT NULL,
    model              TEXT COLLATE "C" NOT NULL, -- empty: none, or all
    llm_usd            BIGINT NOT NULL, -- millionths; so are those below
    tools_usd          BIGINT NOT NULL,
    runtime_usd        BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    calls              BIGINT NOT NULL,
    PRIMARY KEY (company_id, scope, start, scope_id, model)
);
CREATE TABLE cost_days (
    company_id         TEXT COLLATE "C" NOT NULL,
    scope              TEXT COLLATE "C" NOT NULL,
    start              BIGINT NOT NULL,
    scope_id           TEXT COLLATE "C" NOT NULL,
    model              TEXT COLLATE "C" NOT NULL,
    llm_usd            BIGINT NOT NULL,
    tools_usd          BIGINT NOT NULL,
    runtime_usd        BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    calls              BIGINT NOT NULL,
    PRIMARY KEY (company_id, scope, start, scope_id, model)
);
CREATE TABLE cost_months (
    company_id         TEXT COLLATE "C" NOT NULL,
    scope              TEXT COLLATE "C" NOT NULL,
    start              BIGINT NOT NULL,
    scope_id           TEXT COLLATE "C" NOT NULL,
    model              TEXT COLLATE "C" NOT NULL,
    llm_usd            BIGINT NOT NULL,
    tools_usd          BIGINT NOT NULL,
    runtime_usd        BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    calls              BIGINT NOT NULL,
    PRIMARY KEY (company_id, scope, start, scope_id, model)
);

-- What something has cost in its lifetime.
CREATE TABLE cost_totals (
    company_id         TEXT COLLATE "C" NOT NULL,
    scope              TEXT COLLATE "C" NOT NULL, -- issue
    scope_id           TEXT COLLATE "C" NOT NULL,
    model              TEXT COLLATE "C" NOT NULL,
    llm_usd            BIGINT NOT NULL,
    tools_usd          BIGINT NOT NULL,
    runtime_usd        BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    calls              BIGINT NOT NULL,
    PRIMARY KEY (company_id, scope, scope_id, model)
);

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
    SELECT company_id, scope, extract(epoch FROM date_trunc('month', to_timestamp(start / 1000) AT TIME ZONE 'UTC')) * 1000,
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
ALTER TABLE cost_entries ADD COLUMN adjusted_at BIGINT;
CREATE INDEX cost_entries_by_team ON cost_entries (team_id, at);
CREATE INDEX cost_entries_by_agent ON cost_entries (agent_id, at);
CREATE INDEX cost_entries_by_issue ON cost_entries (issue_id, at);
CREATE INDEX cost_entries_by_adjusted ON cost_entries (adjusts) WHERE adjusts <> '';
