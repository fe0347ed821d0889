-- +goose Up
-- What an agent has spent in all is a sum like others, and no longer a column that each charge changes. Issues keep theirs, but while one
-- is running the sum is read instead. It has another name, so that servers from before, which would count on in it, fail. Both columns go
-- first: that waits for the charges of such servers, which the sums have to hold.
ALTER TABLE issues RENAME COLUMN spent_usd TO kept_usd;
ALTER TABLE agents DROP COLUMN spent_usd;
INSERT INTO cost_totals
    SELECT company_id, scope, scope_id, model, sum(llm_usd), sum(tools_usd), sum(runtime_usd), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM cost_months WHERE scope = 'agent' GROUP BY 1, 2, 3, 4;
UPDATE schema_compatibility SET compatible_from = 51;
