-- +goose Up
-- What is spent and held of each limit: of companies, teams, agents, issues, and of what issues are for.
CREATE TABLE envelopes (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- of the company, the team, the agent ...
    company_id   TEXT COLLATE "C" NOT NULL,
    limit_usd    BIGINT, -- as it was set for a team; NULL: none, or it is kept elsewhere
    period       TEXT COLLATE "C" NOT NULL, -- that spent_usd is of; empty: nothing has been counted
    period_start BIGINT, -- NULL: it has no start
    spent_usd    BIGINT NOT NULL, -- millionths
    held_usd     BIGINT NOT NULL, -- by live leases
    topups_usd   BIGINT NOT NULL, -- in the period
    fired        TEXT COLLATE "C" NOT NULL, -- the highest level that has been reported in the period
    hard_at      BIGINT -- when the limit was reached; NULL: it is not
);
CREATE INDEX envelopes_by_company ON envelopes (company_id);
INSERT INTO envelopes (id, company_id, limit_usd, period, spent_usd, held_usd, topups_usd, fired)
    SELECT id, company_id, budget_usd, '', 0, 0, 0, 'none' FROM teams WHERE budget_usd IS NOT NULL;

ALTER TABLE runs ADD COLUMN team_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN goal_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of the issue when the lease was granted
ALTER TABLE runs ADD COLUMN project_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN held_usd BIGINT NOT NULL DEFAULT 0; -- of what its lease reserved
UPDATE runs SET team_id = (SELECT team_id FROM agents WHERE agents.id = runs.agent_id);

-- What an issue is charged to besides who works on it: issues of one group meet the same limits.
ALTER TABLE issues ADD COLUMN budget_group TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE issues SET budget_group = coalesce(CAST(per_task_usd AS TEXT), '');
CREATE INDEX issues_to_claim_by_budget ON issues (company_id, claim_key, budget_group, rank DESC, number) WHERE claimable = 1;
