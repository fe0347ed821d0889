-- +goose Up
-- Entries have an order in which all units see them, their place: txid, then seq. Where units run at once, seq does not tell
-- that order; txid is the transaction that made the entry. Where they do not, it is 0.
ALTER TABLE activity ADD COLUMN txid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE activity ADD COLUMN issue_id TEXT NOT NULL DEFAULT ''; -- that the entry is related to; empty: none
ALTER TABLE activity ADD COLUMN agent_id TEXT NOT NULL DEFAULT ''; -- that the entry is related to; empty: none
ALTER TABLE activity ADD COLUMN run_id TEXT NOT NULL DEFAULT ''; -- that the entry is related to; empty: none
UPDATE activity SET
    issue_id = CASE subject_type WHEN 'issue' THEN subject_id ELSE coalesce(json_extract(data, '$.issueId'), '') END,
    agent_id = CASE WHEN subject_type = 'agent' THEN subject_id
        ELSE coalesce(json_extract(data, '$.agentId'), json_extract(data, '$.assignedAgentId'), CASE WHEN actor LIKE 'agent:%' THEN substr(actor, 7) END, '') END,
    run_id = CASE subject_type WHEN 'run' THEN subject_id ELSE coalesce(json_extract(data, '$.runId'), '') END,
    category = CASE WHEN type LIKE '%.budget.%' OR category IN ('cost', 'price') THEN 'budget'
        WHEN category = 'issue' THEN 'task' ELSE category END;
CREATE INDEX activity_by_place ON activity (txid, seq);
CREATE INDEX activity_by_company_place ON activity (company_id, txid, seq);
CREATE INDEX activity_by_type ON activity (type, at, id);
CREATE INDEX activity_by_company_type ON activity (company_id, type, at, id);
CREATE INDEX activity_by_company_actor ON activity (company_id, actor, at, id);
CREATE INDEX activity_by_subject ON activity (subject_id, at, id);
CREATE INDEX activity_by_issue ON activity (issue_id, at, id) WHERE issue_id <> '';
CREATE INDEX activity_by_agent ON activity (agent_id, at, id) WHERE agent_id <> '';
CREATE INDEX activity_by_run ON activity (run_id, at, id) WHERE run_id <> '';
