-- +goose Up
-- Corrections that were made before had no project: they have that of what they correct.
UPDATE cost_entries SET project_id = (SELECT paid.project_id FROM cost_entries AS paid WHERE paid.id = cost_entries.adjusts)
    WHERE adjusts <> '';

-- The sums of what was charged before. Those of projects are kept from now on too.
INSERT INTO cost_hours
    SELECT company_id, 'project', at - at % 3600000, project_id, model,
        sum(CASE kind WHEN 'llm' THEN usd ELSE 0 END), sum(CASE kind WHEN 'tools' THEN usd ELSE 0 END),
        sum(CASE kind WHEN 'runtimeServices' THEN usd ELSE 0 END), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM cost_entries WHERE project_id <> '' GROUP BY 1, 2, 3, 4, 5;
INSERT INTO cost_days
    SELECT company_id, 'project', at - at % 86400000, project_id, model,
        sum(CASE kind WHEN 'llm' THEN usd ELSE 0 END), sum(CASE kind WHEN 'tools' THEN usd ELSE 0 END),
        sum(CASE kind WHEN 'runtimeServices' THEN usd ELSE 0 END), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM cost_entries WHERE project_id <> '' GROUP BY 1, 2, 3, 4, 5;
INSERT INTO cost_months
    SELECT company_id, scope, extract(epoch FROM date_trunc('month', to_timestamp(start / 1000) AT TIME ZONE 'UTC')) * 1000,
        scope_id, model, sum(llm_usd), sum(tools_usd), sum(runtime_usd), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(calls)
    FROM cost_days WHERE scope = 'project' GROUP BY 1, 2, 3, 4, 5;
